// Cryptography for this package's tests and vectors, kept simple and synchronous inside: node:crypto, called plainly.
import { createHash, createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import type { Crypto, Signer } from "../crypto.ts";
import { type PublicKey, parsePublicKey } from "../keys.ts";

const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex");

export const testCrypto: Crypto = {
  sha256: (bytes) => new Uint8Array(createHash("sha256").update(bytes).digest()),
  async verify(publicKey, bytes, signature) {
    const jwk = { kty: "OKP", crv: "Ed25519", x: Buffer.from(publicKey).toString("base64url") };
    return verify(null, bytes, createPublicKey({ key: jwk, format: "jwk" }), signature);
  },
};

export function testKey(seed: Uint8Array): { publicKey: PublicKey; signer: Signer } {
  const privateKey = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: "der", type: "pkcs8" });
  const parsed = parsePublicKey(testCrypto, createPublicKey(privateKey).export({ format: "jwk" }));
  if (!parsed.ok) throw new Error(parsed.fault);
  const signer: Signer = {
    key: parsed.key.thumbprint,
    sign: async (bytes) => new Uint8Array(sign(null, bytes, privateKey)),
  };
  return { publicKey: parsed.key, signer };
}
