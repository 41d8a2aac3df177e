/**
 * The protocol's cryptography on node:crypto. One signature at a time is checked here: the way to a thread and back takes
 * longer than that, and on a busy machine many times as long. A crowd goes to the thread pool. Making one is so short
 * that the way there would never pay.
 */

import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from "node:crypto";
import { type Crypto, parsePublicKey } from "@handfast/protocol/client";
import type { AgentKey } from "./agent-key.ts";

const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex");
const keys_most = 256;
const keyObjects = new Map<string, KeyObject>();

function keyObject(publicKey: Uint8Array): KeyObject {
  const x = Buffer.from(publicKey).toString("base64url");
  const known = keyObjects.get(x);
  if (known !== undefined) return known;
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  if (keyObjects.size >= keys_most) keyObjects.clear();
  keyObjects.set(x, key);
  return key;
}

export const nodeCrypto: Crypto = {
  /** Through a string of 32 characters, which is cheaper than a buffer of node:crypto's own. */
  sha256(bytes) {
    const characters = hash("sha256", bytes, "binary");
    const digest = new Uint8Array(32);
    for (let i = 0; i < 32; i++) digest[i] = characters.charCodeAt(i);
    return digest;
  },

  verify(publicKey, bytes, signature) {
    if (publicKey.length !== 32 || signature.length !== 64) return Promise.resolve(false);
    if (!is_crowd) return Promise.resolve(verifyAlone(keyObject(publicKey), bytes, signature));
    return new Promise((resolve) => {
      verify(null, bytes, keyObject(publicKey), signature, (error, isValid) => resolve(error === null && isValid));
    });
  },
};

/** One was checked in this turn of the event loop already. */
let is_crowd = false;

function verifyAlone(key: KeyObject, bytes: Uint8Array, signature: Uint8Array): boolean {
  is_crowd = true;
  setImmediate(() => {
    is_crowd = false;
  });
  try {
    return verify(null, bytes, key, signature);
  } catch {
    // A key that cannot be used proves nothing: that is an answer too.
    return false;
  }
}

export async function nodeKey(seed: Uint8Array): Promise<AgentKey> {
  const secret = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: "der", type: "pkcs8" });
  const parsed = parsePublicKey(nodeCrypto, createPublicKey(secret).export({ format: "jwk" }));
  if (!parsed.ok) throw new Error(`This seed makes no usable key: ${parsed.fault}.`);
  const { jwk, thumbprint } = parsed.key;
  return { jwk, seed, signer: { key: thumbprint, sign: async (bytes) => sign(null, bytes, secret) } };
}
