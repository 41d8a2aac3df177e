/** The checked public half of a key of ours, for those who verify. */

import { type PublicKey, parsePublicKey } from "@handfast/protocol";
import type { Key } from "../caller/key.ts";
import { nodeCrypto } from "../caller/node-crypto.ts";

export function publicKey({ jwk }: Key): PublicKey {
  const parsed = parsePublicKey(nodeCrypto, jwk);
  if (!parsed.ok) throw new Error(`a key of ours was refused: ${parsed.fault}`);
  return parsed.key;
}
