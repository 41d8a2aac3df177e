/** SHA-256 and Ed25519 for the signing of @handfast/protocol, by Node. */

import { createPublicKey, hash, verify } from "node:crypto";
import { type Crypto, toBase64url } from "@handfast/protocol";

export const nodeCrypto: Crypto = {
  sha256: (bytes) => new Uint8Array(hash("sha256", bytes, "buffer")),
  async verify(publicKey, bytes, signature) {
    const jwk = { kty: "OKP", crv: "Ed25519", x: toBase64url(publicKey) };
    return verify(null, bytes, createPublicKey({ key: jwk, format: "jwk" }), signature);
  },
};
