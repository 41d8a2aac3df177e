/** An agent with a key of its own, for tests: it signs credentials and documents as a client would. */

import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { type Proof, type PublicJwk, parsePublicKey, signBatch, toUtf8 } from "@handfast/protocol";
import { SignJWT } from "jose";
import { nodeCrypto, nodeSigner } from "../../proof/node-crypto.ts";

export interface TestAgent {
  readonly name: string;
  readonly key: string;
  readonly jwk: PublicJwk;
  readonly privateKey: KeyObject;
  /** A session credential; `claims` and `header` replace what an honest agent would say. */
  credential(relay: string, now_ms: number, claims?: object, header?: object): Promise<string>;
  sign(typ: string, document: object): Promise<{ document: string; proof: Proof }>;
  signAll(typ: string, documents: readonly object[]): Promise<{ document: string; proof: Proof }[]>;
}

export function testAgent(name: string): TestAgent {
  const { privateKey } = generateKeyPairSync("ed25519");
  const { d = "", ...rest } = privateKey.export({ format: "jwk" });
  const parsed = parsePublicKey(nodeCrypto, rest);
  if (!parsed.ok) throw new Error(parsed.fault);
  const { jwk, thumbprint } = parsed.key;
  const signer = nodeSigner(Buffer.from(d, "base64url"));

  async function signAll(typ: string, documents: readonly object[]) {
    const texts = documents.map((document) => JSON.stringify(document));
    const messages = texts.map((text) => ({ typ, bytes: toUtf8(text) }));
    const proofs = await signBatch(nodeCrypto, signer, messages);
    return proofs.map((proof, index) => ({ document: texts[index] ?? "", proof }));
  }

  return {
    name,
    key: thumbprint,
    jwk,
    privateKey,
    credential(relay, now_ms, claims = {}, header = {}) {
      const iat = Math.floor(now_ms / 1_000);
      const all = { iss: name, aud: relay, iat, exp: iat + 300, ...claims };
      return new SignJWT(all).setProtectedHeader({ alg: "EdDSA", kid: thumbprint, ...header }).sign(privateKey);
    },
    async sign(typ, document) {
      const [signed] = await signAll(typ, [document]);
      if (signed === undefined) throw new Error("One document gives one proof.");
      return signed;
    },
    signAll,
  };
}
