// Public keys: a JSON Web Key (RFC 7517, RFC 8037) made into a checked key with its thumbprint (RFC 7638).
import type { Crypto } from "./crypto.ts";
import { isStrongPoint } from "./ed25519-point.ts";
import { fromBase64url, toBase64url, toUtf8 } from "./encoding.ts";

export interface PublicJwk {
  kty: "OKP";
  crv: "Ed25519";
  x: string;
}

declare const checked: unique symbol;

/** A key that passed every check here; only parsePublicKey makes one. */
export interface PublicKey {
  readonly [checked]: true;
  readonly jwk: PublicJwk;
  readonly thumbprint: string;
  readonly bytes: Uint8Array;
}

export type KeyFault =
  | "not_a_jwk"
  | "private_key"
  | "unknown_member"
  | "not_ed25519"
  | "not_32_bytes_base64url"
  | "weak_or_invalid_point";

export type ParsedKey = { ok: true; key: PublicKey } | { ok: false; fault: KeyFault };

const members = new Set(["kty", "crv", "x"]);

/**
 * Exactly the three members of a public Ed25519 key are taken: an `alg` or `use` beside them would have to agree with
 * them, and a `d` means that somebody is giving a private key away.
 */
export function parsePublicKey(crypto: Crypto, value: unknown): ParsedKey {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return refused("not_a_jwk");
  if (Object.hasOwn(value, "d")) return refused("private_key");
  if (Object.keys(value).some((name) => !members.has(name))) return refused("unknown_member");
  const { kty, crv, x }: { kty?: unknown; crv?: unknown; x?: unknown } = value;
  if (kty !== "OKP" || crv !== "Ed25519") return refused("not_ed25519");
  const bytes = typeof x === "string" && x.length === 43 ? fromBase64url(x) : null;
  if (typeof x !== "string" || bytes === null) return refused("not_32_bytes_base64url");
  if (!isStrongPoint(bytes)) return refused("weak_or_invalid_point");
  return { ok: true, key: checkedKey(crypto, x, bytes) };
}

/** The same for the 32 raw bytes of a key. */
export function parseRawPublicKey(crypto: Crypto, bytes: Uint8Array): ParsedKey {
  return parsePublicKey(crypto, { kty: "OKP", crv: "Ed25519", x: toBase64url(bytes) });
}

function refused(fault: KeyFault): ParsedKey {
  return { ok: false, fault };
}

function checkedKey(crypto: Crypto, x: string, bytes: Uint8Array): PublicKey {
  const jwk: PublicJwk = { kty: "OKP", crv: "Ed25519", x };
  const key: Omit<PublicKey, typeof checked> = { jwk, thumbprint: thumbprint(crypto, x), bytes };
  return key as PublicKey;
}

/** Members in the order RFC 7638 demands, no white space. */
function thumbprint(crypto: Crypto, x: string): string {
  return toBase64url(crypto.sha256(toUtf8(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`)));
}
