// Payload digests: SHA256(salt ‖ payload). The salt keeps a short payload from being guessed after it was erased.
import type { Crypto } from "./crypto.ts";
import { hexDigest, preimage } from "./digest.ts";

export const salt_bytes = 16;

export function payloadDigest(crypto: Crypto, salt: Uint8Array, bytes: Uint8Array): string {
  if (salt.length !== salt_bytes) throw new RangeError(`A salt has ${salt_bytes} bytes, not ${salt.length}.`);
  return hexDigest(crypto, preimage(salt, bytes));
}
