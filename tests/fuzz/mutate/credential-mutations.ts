/** Credentials that are nearly right: what a forger would try with a JWT, and what a careless program would send. */

import { createHmac } from "node:crypto";
import type { AgentKey } from "../cast/agent-key.ts";
import type { Around, Mutation } from "./mutation.ts";

/** Signing takes a moment, so a credential is made when it is needed. */
export type Credential = () => Promise<string | null>;

type Part = Readonly<Record<string, unknown>>;

/** Rightly signed, by a key that is the caller's or another's, saying something else. */
function says(name: string, header: (around: Around) => Part, claims: (around: Around) => Part): Mutation<Credential> {
  return {
    name,
    apply: (_credential, around) => {
      const key = around.persona.key ?? around.scene.troupe.sender.key;
      const said_header = header(around);
      const said_claims = claims(around);
      return async () => (key === null ? null : signAs(key, around, said_header, said_claims));
    },
  };
}

function signAs(key: AgentKey, { scene, persona }: Around, header: Part, claims: Part): Promise<string> {
  const iat = Math.floor(Date.now() / 1_000);
  const sound = { iss: persona.name, aud: scene.url, iat, exp: iat + 300 };
  return key.sign({ alg: "EdDSA", kid: key.signer.key, ...header }, { ...sound, ...claims });
}

function text(name: string, change: (credential: string, around: Around) => string | null): Mutation<Credential> {
  return {
    name,
    apply: (credential, around) => async () => change((await credential()) ?? "", around),
  };
}

const now = () => Math.floor(Date.now() / 1_000);
const none = () => ({});
const parts = (credential: string) => credential.split(".");
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

export const credentialMutations: readonly Mutation<Credential>[] = [
  says("no algorithm", () => ({ alg: "none" }), none),
  says(
    "another algorithm",
    ({ random }) => ({ alg: random.pick(["HS256", "RS256", "ES256", "Ed25519", "EDDSA", "", null, 1]) }),
    none,
  ),
  says(
    "another key",
    ({ random }) => ({ kid: random.pick(["", "x", null, 7, "__proto__", "A".repeat(43), ["a"]]) }),
    none,
  ),
  says("a header more", () => ({ crit: ["exp"], jwk: {}, b64: false, typ: "JWT" }), none),
  says("another issuer", none, ({ scene, random }) => ({
    iss: random.pick([scene.troupe.worker.name, "operator", "", null, {}]),
  })),
  says("another audience", none, ({ scene, random }) => ({
    aud: random.pick([
      "http://127.0.0.1:1",
      "",
      null,
      [scene.url],
      [scene.url, "x"],
      "not a url",
      `${scene.url}/`,
      "\u0000",
      `${scene.url}?`,
    ]),
  })),
  says("another time", none, ({ random }) => {
    const at = random.pick([0, -1, 1e308, 2 ** 53, now() - 400, now() + 400, now() + 0.5]);
    return { iat: at, exp: random.pick([at + 300, at, at - 1, 2 ** 53 - 1, -300]) };
  }),
  says("times that are none", none, ({ random }) => ({
    iat: random.pick(["0", null, {}, [], true]),
    exp: random.pick(["9999999999", null, {}]),
    nbf: random.pick(["x", null, 2 ** 52]),
  })),
  says("another namespace", none, ({ random }) => ({ ns: random.pick(["other", "", null, "default ", 1]) })),
  says("claims that are large", none, () => ({ x: "y".repeat(1_000) })),
  text("the signature left out", (credential) => `${parts(credential).slice(0, 2).join(".")}.`),
  text("a part less", (credential) => parts(credential).slice(0, -1).join(".")),
  text("a part more", (credential) => `${credential}.e30`),
  text("parts that are no JSON objects", (credential, { random }) => {
    const part = random.pick(["null", "1", "[]", '"a"', "{", "", '{"alg":"EdDSA","alg":"none"}', "[".repeat(500)]);
    return [Buffer.from(part).toString("base64url"), ...parts(credential).slice(1)].join(".");
  }),
  text("claims replaced under a signature", (credential, { scene }) => {
    const [head = "", , signature = ""] = parts(credential);
    return `${head}.${encoded({ iss: "operator", aud: scene.url, iat: now(), exp: now() + 300 })}.${signature}`;
  }),
  text("keyed by the public key", (_credential, { scene, persona }) => {
    const key = persona.key ?? scene.troupe.sender.key;
    const head = encoded({ alg: "HS256", kid: key?.signer.key });
    const said = `${head}.${encoded({ iss: persona.name, aud: scene.url, iat: now(), exp: now() + 300 })}`;
    return `${said}.${createHmac("sha256", key?.jwk.x ?? "")
      .update(said)
      .digest("base64url")}`;
  }),
  text("a character other", (credential, { random }) => {
    const at = random.between(0, Math.max(0, credential.length - 1));
    return `${credential.slice(0, at)}${random.pick(["A", "=", "-", "+", "/", " ", "%", "\t"])}${credential.slice(at + 1)}`;
  }),
  text("padding", (credential) => `${credential}==`),
  text("long", (credential, { random }) => credential + "A".repeat(random.pick([10, 2_048, 9_000]))),
  text("a token of nobody", () => `hft_${"A".repeat(43)}`),
  text("a token's beginning", () => "hft_"),
  text("empty", () => ""),
  text("none", () => null),
];
