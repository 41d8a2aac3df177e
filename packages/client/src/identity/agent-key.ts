/** The agent's own key: what signs, and the public half that others know it by. */

import type { PublicJwk, Signer } from "@handfast/protocol/client";
import { fromBase64url, toBase64url } from "@handfast/protocol/client";
import { UsageError } from "../errors.ts";

/** A private Ed25519 key as a JSON Web Key; `d` is the secret. */
export interface PrivateJwk {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  readonly x: string;
  readonly d: string;
}

export interface AgentKey {
  readonly signer: Signer;
  readonly jwk: PublicJwk;
  /** The 32 secret bytes. */
  readonly seed: Uint8Array;
}

/** The 32 secret bytes of a key, and its public half where that was given too. */
export interface Secret {
  readonly seed: Uint8Array;
  readonly x: string | null;
}

const seed_bytes = 32;
const remedy =
  "Give a private Ed25519 key: the path of a file with a JWK, the JWK itself, or its 32 bytes in base64url (43 characters).";

/** Null: the text is neither a JWK nor a seed, so it may be the path of a file. */
export function readSecret(given: string | PrivateJwk, source: string): Secret | null {
  if (typeof given !== "string") return fromJwk(given, source);
  const text = given.trim();
  if (text.startsWith("{")) return fromJwk(parseJson(text, source), source);
  const seed = text.length === 43 ? fromBase64url(text) : null;
  return seed?.length === seed_bytes ? { seed, x: null } : null;
}

/** A public half that is not the secret's would prove nothing, and hide which key this is. */
export function checkPair(secret: Secret, { jwk }: AgentKey, source: string): void {
  if (secret.x === null || secret.x === jwk.x) return;
  throw refused(`${source} holds two halves that do not belong together: x is not the public key of d.`);
}

export function privateJwk({ seed, jwk }: AgentKey): PrivateJwk {
  return { ...jwk, d: toBase64url(seed) };
}

function fromJwk(value: unknown, source: string): Secret {
  const { kty, crv, x, d }: { kty?: unknown; crv?: unknown; x?: unknown; d?: unknown } =
    typeof value === "object" && value !== null ? value : {};
  if (kty !== "OKP" || crv !== "Ed25519") throw refused(`${source} is not an Ed25519 key.`);
  if (d === undefined) throw refused(`${source} is a public key: it has no d.`);
  const seed = typeof d === "string" ? fromBase64url(d) : null;
  if (seed?.length !== seed_bytes) throw refused(`${source} has a d that is not 32 bytes in base64url.`);
  return { seed, x: typeof x === "string" ? x : null };
}

function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The text is a secret: nothing of it is quoted.
    throw refused(`${source} is not JSON.`);
  }
}

export function refused(message: string): UsageError {
  return new UsageError(message, remedy, "key_unusable");
}
