/** The protocol's cryptography on WebCrypto, for browsers: Ed25519 by crypto.subtle, SHA-256 of our own. */

import { type Crypto, parsePublicKey } from "@handfast/protocol/client";
import type { AgentKey } from "./agent-key.ts";
import { sha256 } from "./sha256.ts";

const algorithm = { name: "Ed25519" };
/** What stands before the 32 bytes of a private Ed25519 key in PKCS #8 (RFC 8410). */
const pkcs8Prefix = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32];

export const webCrypto: Crypto = {
  sha256,

  async verify(publicKey, bytes, signature) {
    if (publicKey.length !== 32 || signature.length !== 64) return false;
    const { subtle } = globalThis.crypto;
    try {
      const key = await subtle.importKey("raw", Uint8Array.from(publicKey), algorithm, false, ["verify"]);
      return await subtle.verify(algorithm, key, Uint8Array.from(signature), Uint8Array.from(bytes));
    } catch {
      return false;
    }
  },
};

export async function webKey(seed: Uint8Array): Promise<AgentKey> {
  const { subtle } = globalThis.crypto;
  const secret = await subtle.importKey("pkcs8", Uint8Array.from([...pkcs8Prefix, ...seed]), algorithm, true, ["sign"]);
  const { kty, crv, x } = await subtle.exportKey("jwk", secret);
  const parsed = parsePublicKey(webCrypto, { kty, crv, x });
  if (!parsed.ok) throw new Error(`This seed makes no usable key: ${parsed.fault}.`);
  const { jwk, thumbprint } = parsed.key;
  const sign = async (bytes: Uint8Array) =>
    new Uint8Array(await subtle.sign(algorithm, secret, Uint8Array.from(bytes)));
  return { jwk, seed, signer: { key: thumbprint, sign } };
}
