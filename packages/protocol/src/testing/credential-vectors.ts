// Makes spec/vectors/credential.json: session credentials that must be accepted, and refused by reason.
import { toBase64url, toUtf8 } from "../encoding.ts";
import { keyOf, seeds } from "./signature-vectors.ts";

const now_seconds = 1_763_200_100;
const agent_id = "planner";
const relay = "https://relay.example";
const mine = keyOf(seeds[0]);
const strangers = keyOf(seeds[1]);
const header = { alg: "EdDSA", kid: mine.signer.key };
/** Made 100 seconds ago, good for another 200. */
export const exampleClaims = { iss: agent_id, aud: relay, iat: now_seconds - 100, exp: now_seconds + 200 };

export interface Jwt {
  readonly header: object;
  readonly claims: object;
  readonly signing_input: string;
  readonly jwt: string;
}

export async function jwtOf(said: object, claims: object, { signer } = mine): Promise<Jwt> {
  const part = (value: object) => toBase64url(toUtf8(JSON.stringify(value)));
  const signing_input = `${part(said)}.${part(claims)}`;
  const jwt = `${signing_input}.${toBase64url(await signer.sign(toUtf8(signing_input)))}`;
  return { header: said, claims, signing_input, jwt };
}

export const exampleHeader = header;

async function accepted() {
  const aged = (iat: number, exp: number) => jwtOf(header, { ...exampleClaims, iat, exp });
  return [
    { name: "as it is meant", ...(await jwtOf(header, exampleClaims)) },
    { name: "with its namespace", ...(await jwtOf(header, { ...exampleClaims, ns: "default" })) },
    { name: "the algorithm by its other name", ...(await jwtOf({ ...header, alg: "Ed25519" }, exampleClaims)) },
    { name: "with a typ in its header", ...(await jwtOf({ ...header, typ: "JWT" }, exampleClaims)) },
    {
      name: "the relay's URL spelled otherwise",
      ...(await jwtOf(header, { ...exampleClaims, aud: "https://RELAY.example:443/" })),
    },
    { name: "of the longest life", ...(await aged(now_seconds, now_seconds + 300)) },
    { name: "from a clock that is 10 seconds fast", ...(await aged(now_seconds + 10, now_seconds + 300)) },
    { name: "over for 9 seconds", ...(await aged(now_seconds - 200, now_seconds - 9)) },
  ];
}

async function refused() {
  const claiming = (changes: object) => jwtOf(header, { ...exampleClaims, ...changes });
  const { jwt, signing_input } = await jwtOf(header, exampleClaims);
  const [first = "", , signature = ""] = jwt.split(".");
  const { iss: _iss, ...nobody } = exampleClaims;
  const cases: readonly [string, string, string][] = [
    ["no JWT at all", "credential_malformed", "planner"],
    ["without its signature", "credential_malformed", signing_input],
    ["its claims padded", "credential_malformed", `${signing_input}=.${signature}`],
    [
      "a header that names alg twice",
      "credential_malformed",
      `${doubled(header.kid)}.${signing_input.split(".")[1]}.x`,
    ],
    ["no kid", "credential_malformed", (await jwtOf({ alg: "EdDSA" }, exampleClaims)).jwt],
    ["iat with a fraction", "credential_malformed", (await claiming({ iat: now_seconds - 0.5 })).jwt],
    ["no exp", "credential_malformed", (await claiming({ exp: undefined })).jwt],
    ["alg none", "wrong_algorithm", (await jwtOf({ ...header, alg: "none" }, exampleClaims)).jwt],
    ["alg HS256", "wrong_algorithm", (await jwtOf({ ...header, alg: "HS256" }, exampleClaims)).jwt],
    ["a key nobody registered", "unknown_key", await byStranger({ ...header, kid: strangers.signer.key })],
    ["another agent's name", "wrong_issuer", (await claiming({ iss: "research-1" })).jwt],
    ["no name", "wrong_issuer", (await jwtOf(header, nobody)).jwt],
    ["for another relay", "wrong_audience", (await claiming({ aud: "https://other.example" })).jwt],
    ["for two relays", "wrong_audience", (await claiming({ aud: [relay, "https://other.example"] })).jwt],
    ["for this relay, as a list", "wrong_audience", (await claiming({ aud: [relay] })).jwt],
    ["a life of 301 seconds", "credential_life_too_long", (await claiming({ exp: now_seconds + 201 })).jwt],
    ["a life of nothing", "credential_life_too_long", (await claiming({ exp: exampleClaims.iat })).jwt],
    ["11 seconds ahead", "credential_from_the_future", (await claiming({ iat: now_seconds + 11 })).jwt],
    ["not before later", "credential_from_the_future", (await claiming({ nbf: now_seconds + 11 })).jwt],
    ["over for 10 seconds", "credential_expired", (await claiming({ exp: now_seconds - 10 })).jwt],
    ["signed by another key", "bad_signature", await byStranger(header)],
    ["its own key in the header", "bad_signature", await byStranger({ ...header, jwk: strangers.publicKey.jwk })],
    [
      "claims changed after signing",
      "bad_signature",
      `${first}.${(await claiming({ ns: "default" })).jwt.split(".")[1]}.${signature}`,
    ],
  ];
  return cases.map(([name, reason, token]) => ({ name, reason, jwt: token }));
}

/** A text that two readers could understand differently. */
function doubled(kid: string): string {
  return toBase64url(toUtf8(`{"alg":"none","alg":"EdDSA","kid":"${kid}"}`));
}

async function byStranger(said: object): Promise<string> {
  return (await jwtOf(said, exampleClaims, strangers)).jwt;
}

export async function credentialVectors() {
  return {
    about:
      "Session credentials at the relay and the time given here, where the agent's key is registered and no other. Each of accepted proves the agent; each of refused is 401 with its reason. seed is hexadecimal.",
    relay,
    now_seconds,
    agent: { agent_id, seed: seeds[0], jwk: mine.publicKey.jwk, thumbprint: mine.signer.key },
    accepted: await accepted(),
    refused: await refused(),
  };
}
