/** Canonical JSON as the relay uses it: its digest by Node's own cryptography, and the bound that lets it recurse. */

import { canonicalJson } from "@handfast/protocol";
import { nodeCrypto } from "../proof/node-crypto.ts";

export { canonicalJson };

/** SHA-256 of the canonical bytes, in lowercase hexadecimal. */
export function canonicalDigest(value: unknown): string {
  return nodeCrypto.sha256Hex(canonicalJson(value));
}

export function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth <= 0 || Object.values(value).some((member) => isDeeperThan(member, depth - 1));
}
