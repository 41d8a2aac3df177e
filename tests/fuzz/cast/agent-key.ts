/** A key made from the seed, with everything an agent does with one: sign documents, and credentials for its calls. */

import { createPrivateKey, createPublicKey, hash, sign } from "node:crypto";
import { type PublicJwk, type Signer, toUtf8 } from "@handfast/protocol";

const pkcs8_prefix = Buffer.from("302e020100300506032b657004220420", "hex");
const credential_life_seconds = 300;
const renew_after_ms = 120_000;

export class AgentKey {
  readonly signer: Signer;
  readonly jwk: PublicJwk;
  readonly seed: Buffer;
  #credential: { readonly text: string; readonly made_at: number } | null = null;

  constructor(seed: Buffer) {
    this.seed = seed;
    const key = createPrivateKey({ key: Buffer.concat([pkcs8_prefix, seed]), format: "der", type: "pkcs8" });
    const { x = "" } = createPublicKey(key).export({ format: "jwk" });
    this.jwk = { kty: "OKP", crv: "Ed25519", x };
    const thumbprint = hash("sha256", JSON.stringify({ crv: "Ed25519", kty: "OKP", x }), "base64url");
    this.signer = { key: thumbprint, sign: async (bytes) => sign(null, bytes, key) };
  }

  /** One for this relay that is good for some minutes; the same again while it is. */
  async credential(agent: string, relay: string): Promise<string> {
    const known = this.#credential;
    if (known !== null && Date.now() - known.made_at < renew_after_ms) return known.text;
    const iat = Math.floor(Date.now() / 1_000);
    const claims = { iss: agent, aud: relay, iat, exp: iat + credential_life_seconds };
    const text = await this.sign({ alg: "EdDSA", kid: this.signer.key }, claims);
    this.#credential = { text, made_at: Date.now() };
    return text;
  }

  /** A JWT that says anything at all, rightly signed. */
  async sign(header: unknown, claims: unknown): Promise<string> {
    const said = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
    return `${said}.${Buffer.from(await this.signer.sign(toUtf8(said))).toString("base64url")}`;
  }
}
