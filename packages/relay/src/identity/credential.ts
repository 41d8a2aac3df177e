/**
 * The session credential: a JWT that an agent signs for itself, for this relay, for at most five minutes. Cheap
 * refusals come first; the signature, last, decides. The algorithm is bound to the key: the header may only confirm it.
 */

import type { Time } from "@handfast/core";
import { fromBase64url, parseStrictBytes } from "@handfast/protocol";
import { compactVerify, importJWK } from "jose";
import { type AgentKey, isCurrent } from "../directory/agent.ts";
import type { Directory } from "../directory/directory.ts";
import type { RelayLimits } from "../limits.ts";
import { Problem } from "../problem.ts";
import type { Audience } from "./audience.ts";
import { operator_token_prefix } from "./operator-token.ts";
import { token_prefix } from "./tokens.ts";

export interface Credential {
  readonly agent: string;
  readonly key: string;
  readonly expires_at: Time;
}

export interface CredentialOptions {
  readonly namespace: string;
  readonly directory: Directory;
  readonly audience: Audience;
  readonly now: () => Time;
  readonly limits: RelayLimits;
}

/** jose knows the same algorithm by both names. */
const algorithms = ["EdDSA", "Ed25519"];

export async function verifyCredential(token: string, options: CredentialOptions): Promise<Credential> {
  const parts = token.split(".");
  const [header, claims] = parts.slice(0, 2).map(readPart);
  // The library would take padding and stray characters: one spelling only, or a cache could be filled with others.
  const is_spelled = parts.length === 3 && fromBase64url(parts[2] ?? "") !== null;
  if (header === undefined || header === null || claims === undefined || claims === null || !is_spelled) {
    const kinds = `an agent's begins with ${token_prefix}, an operator's with ${operator_token_prefix} unless it was configured`;
    throw refused("credential_malformed", `The credential is neither a JWT nor a token of this relay: ${kinds}.`);
  }
  const key = signingKey(header, options);
  const expires_at = checkClaims(claims, key.agent, options);
  await checkSignature(token, key.key);
  return { agent: key.agent, key: key.key.thumbprint, expires_at };
}

/** The agent's own key by this name, if it may still be used. */
export function currentKey(directory: Directory, agent: string, thumbprint: string, now: Time): AgentKey {
  const key = directory.record(agent)?.keys.find((candidate) => candidate.thumbprint === thumbprint);
  if (key === undefined) {
    const next = "Register the key first, or use the one that was registered.";
    throw refused("unknown_key", `The key ${printable(thumbprint)} is not one of the agent ${agent}. ${next}`);
  }
  if (key.revoked_at !== null) {
    throw refused("revoked_key", `The key ${thumbprint} of ${agent} was revoked. Use the agent's newer key.`);
  }
  if (!isCurrent(key, now)) {
    throw refused(
      "retired_key",
      `The key ${thumbprint} of ${agent} was replaced and its time is over. Use the newer one.`,
    );
  }
  return key;
}

function readPart(part: string): Readonly<Record<string, unknown>> | null {
  const bytes = fromBase64url(part);
  const parsed = bytes === null ? null : parseStrictBytes(bytes, { max_depth: 4 });
  if (!parsed?.ok || typeof parsed.value !== "object" || parsed.value === null) return null;
  return parsed.value as Readonly<Record<string, unknown>>;
}

function signingKey(header: Readonly<Record<string, unknown>>, { directory, now }: CredentialOptions) {
  const { alg, kid } = header as { alg?: unknown; kid?: unknown };
  if (typeof alg !== "string" || !algorithms.includes(alg)) {
    throw refused("wrong_algorithm", `The credential says alg ${printable(alg)}. Sign it with EdDSA (Ed25519).`);
  }
  if (typeof kid !== "string") {
    throw refused("credential_malformed", "The credential has no kid. Set it to the JWK thumbprint of the key.");
  }
  const agent = directory.keyHolder(kid);
  if (agent === undefined) {
    throw refused("unknown_key", `The key ${printable(kid)} belongs to no agent here. Register it first.`);
  }
  return { agent, key: currentKey(directory, agent, kid, now()) };
}

/** When the credential runs out. */
function checkClaims(claims: Readonly<Record<string, unknown>>, agent: string, options: CredentialOptions): Time {
  const { iss, aud, iat, exp, nbf, ns } = claims as {
    [Name in "iss" | "aud" | "iat" | "exp" | "nbf" | "ns"]?: unknown;
  };
  const { audience, limits } = options;
  const skew = limits.clock_skew_seconds;
  const now = options.now() / 1_000;
  if (iss !== agent) {
    throw refused("wrong_issuer", `The credential says iss ${printable(iss)}, but its key is the key of ${agent}.`);
  }
  if (ns !== undefined && ns !== options.namespace) {
    throw refused(
      "wrong_namespace",
      `The credential is for the namespace ${printable(ns)}, this is ${options.namespace}.`,
    );
  }
  // One audience only: what names two relays, the one could use at the other.
  if (typeof aud !== "string" || !audience.includes(aud)) {
    const next = "Sign one for this URL, or let the operator add yours to public_urls.";
    const message = `The credential is for ${printable(aud)}, but this relay is ${audience}. ${next}`;
    throw refused("wrong_audience", message, { credential_audience: aud, relay_audiences: audience.all() });
  }
  if (!isSeconds(iat) || !isSeconds(exp)) {
    throw refused("credential_malformed", "The credential must state iat and exp, in seconds since 1970.");
  }
  const life = exp - iat;
  if (life <= 0 || life > limits.credential_life_seconds) {
    const most = limits.credential_life_seconds;
    throw refused("credential_life_too_long", `The credential lives ${life} s (exp - iat). Make it 1 to ${most} s.`);
  }
  if (iat > now + skew || (nbf !== undefined && (!isSeconds(nbf) || nbf > now + skew))) {
    throw refused(
      "credential_from_the_future",
      `The credential begins at ${iat}, here it is ${Math.floor(now)}. Set the clock.`,
    );
  }
  if (exp + skew <= now) {
    throw refused(
      "credential_expired",
      `The credential expired at ${exp}, here it is ${Math.floor(now)}. Sign a new one.`,
    );
  }
  return (exp + skew) * 1_000;
}

async function checkSignature(token: string, { x, thumbprint }: AgentKey): Promise<void> {
  try {
    const key = await importJWK({ kty: "OKP", crv: "Ed25519", x }, "EdDSA");
    await compactVerify(token, key, { algorithms });
  } catch {
    throw refused("bad_signature", `The credential's signature is not of the key ${thumbprint} that it names.`);
  }
}

function isSeconds(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** A stranger's value in a message: short, and in quotes. */
export function printable(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

export function refused(reason: string, message: string, extra: Readonly<Record<string, unknown>> = {}): Problem {
  return new Problem(401, reason, message, extra);
}
