/** A key of an agent: it signs credentials and documents, honest ones and, where a check wants them, others. */

import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { type Proof, type PublicJwk, type Signer, signBatch, toBase64url, toUtf8 } from "@handfast/protocol";
import { nodeCrypto } from "./node-crypto.ts";

type Members = Readonly<Record<string, unknown>>;

/** What is signed: a document's exact text, and what kind it is. */
export interface Written {
  readonly typ: string;
  readonly text: string;
}

export class Key {
  readonly jwk: PublicJwk;
  readonly thumbprint: string;
  readonly #private: KeyObject;
  readonly #signer: Signer;

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const { x = "" } = publicKey.export({ format: "jwk" });
    this.jwk = { kty: "OKP", crv: "Ed25519", x };
    // RFC 7638: the members in this order, no white space.
    this.thumbprint = toBase64url(nodeCrypto.sha256(toUtf8(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`)));
    this.#private = privateKey;
    this.#signer = { key: this.thumbprint, sign: async (bytes) => this.sign(bytes) };
  }

  sign(bytes: Uint8Array): Uint8Array {
    return new Uint8Array(sign(null, bytes, this.#private));
  }

  /** One signature over all of them, and the proof of each. */
  proofs(documents: readonly Written[]): Promise<Proof[]> {
    const messages = documents.map(({ typ, text }) => ({ typ, bytes: toUtf8(text) }));
    return signBatch(nodeCrypto, this.#signer, messages);
  }

  async proof(document: Written): Promise<Proof> {
    const [proof] = await this.proofs([document]);
    if (proof === undefined) throw new Error("one document gives one proof");
    return proof;
  }

  /** A session credential for five minutes. `claims` and `header` stand in place of what an honest agent would say. */
  credential(agent: string, audience: string, claims: Members = {}, header: Members = {}): string {
    const iat = Math.floor(Date.now() / 1_000);
    const head = part({ alg: "EdDSA", kid: this.thumbprint, ...header });
    const said = part({ iss: agent, aud: audience, iat, exp: iat + 300, ...claims });
    return `${head}.${said}.${toBase64url(this.sign(toUtf8(`${head}.${said}`)))}`;
  }
}

function part(value: Members): string {
  return toBase64url(toUtf8(JSON.stringify(value)));
}
