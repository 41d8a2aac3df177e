/**
 * The canonical bytes of a JSON value (RFC 8785), for digests of what came as a value and not as bytes. JavaScript
 * already writes numbers and strings as the RFC demands; what is left is the order of the members.
 */

import { toHex, toUtf8 } from "@handfast/protocol";
import { nodeCrypto } from "../proof/node-crypto.ts";

/** The value must come from JSON and its depth must have been limited: this recurses. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}

/** SHA-256 of the canonical bytes, in lowercase hexadecimal. */
export function canonicalDigest(value: unknown): string {
  return toHex(nodeCrypto.sha256(toUtf8(canonicalJson(value))));
}

export function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth <= 0 || Object.values(value).some((member) => isDeeperThan(member, depth - 1));
}
