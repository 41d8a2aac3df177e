// SHA-256 in lowercase hexadecimal, by whatever cryptography was injected.
import type { Crypto } from "./crypto.ts";
import { toHex, toUtf8 } from "./encoding.ts";

/** Of bytes, or of a text in UTF-8. */
export function hexDigest(crypto: Crypto, data: Uint8Array | string): string {
  if (crypto.sha256Hex !== undefined) return crypto.sha256Hex(data);
  return toHex(crypto.sha256(typeof data === "string" ? toUtf8(data) : data));
}
