// SHA-256 by whatever cryptography was injected: of several parts as one, and in lowercase hexadecimal.
import type { Crypto } from "./crypto.ts";
import { concat, toHex, toUtf8 } from "./encoding.ts";

/** Of bytes, or of a text in UTF-8. */
export function hexDigest(crypto: Crypto, data: Uint8Array | string): string {
  if (crypto.sha256Hex !== undefined) return crypto.sha256Hex(data);
  return toHex(crypto.sha256(typeof data === "string" ? toUtf8(data) : data));
}

/** Filled anew for each digest: whoever hashes is synchronous and keeps nothing of what it is given. */
const scratch = new Uint8Array(16_384);

/** Both as one, to be hashed at once and then forgotten: the next call may overwrite it. */
export function preimage(first: Uint8Array, second: Uint8Array): Uint8Array {
  const length = first.length + second.length;
  if (length > scratch.length) return concat(first, second);
  scratch.set(first);
  scratch.set(second, first.length);
  return scratch.subarray(0, length);
}
