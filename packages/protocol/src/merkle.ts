// The Merkle tree of RFC 6962 over digests already made: node SHA256(01 ‖ left ‖ right). Batches of signed messages
// and the log share it. Arithmetic instead of bit operations, because a log may pass 2^31 entries.
import type { Crypto } from "./crypto.ts";

export const digest_bytes = 32;

/** Filled anew for each node: sha256 is synchronous and keeps nothing of what it is given. */
const preimage = new Uint8Array(1 + 2 * digest_bytes);
preimage[0] = 1;

export function merkleNode(crypto: Crypto, left: Uint8Array, right: Uint8Array): Uint8Array {
  preimage.set(left, 1);
  preimage.set(right, 1 + digest_bytes);
  return crypto.sha256(preimage);
}

/** Pairs up from the leaves; a last one without a partner rises as it is, which gives the shape of RFC 6962. */
function levelsOf(crypto: Crypto, leaves: readonly Uint8Array[]): (readonly Uint8Array[])[] {
  const levels: (readonly Uint8Array[])[] = [leaves];
  let level = leaves;
  while (level.length > 1) {
    const above: Uint8Array[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const left = level[i];
      const right = level[i + 1];
      if (left !== undefined) above.push(right === undefined ? left : merkleNode(crypto, left, right));
    }
    levels.push(above);
    level = above;
  }
  return levels;
}

function pathIn(levels: readonly (readonly Uint8Array[])[], index: number): Uint8Array[] {
  const path: Uint8Array[] = [];
  let at = index;
  for (const level of levels.slice(0, -1)) {
    const sibling = level[at % 2 === 0 ? at + 1 : at - 1];
    if (sibling !== undefined) path.push(sibling);
    at = Math.floor(at / 2);
  }
  return path;
}

export function merkleRoot(crypto: Crypto, leaves: readonly Uint8Array[]): Uint8Array {
  return rootOf(levelsOf(crypto, leaves));
}

function rootOf(levels: readonly (readonly Uint8Array[])[]): Uint8Array {
  const root = levels.at(-1)?.[0];
  if (root === undefined) throw new RangeError("A Merkle tree needs at least one leaf.");
  return root;
}

/** The root, and for each leaf its path: the siblings from the bottom up. */
export function merkleTree(crypto: Crypto, leaves: readonly Uint8Array[]): { root: Uint8Array; paths: Uint8Array[][] } {
  const levels = levelsOf(crypto, leaves);
  return { root: rootOf(levels), paths: leaves.map((_, index) => pathIn(levels, index)) };
}

/** How many siblings the path of this leaf has: fewer than the height of the tree only at its ragged right edge. */
export function merklePathLength(index: number, size: number): number {
  let length = 0;
  let at = index;
  for (let last = size - 1; last > 0; last = Math.floor(last / 2)) {
    if (at < last || at % 2 === 1) length++;
    at = Math.floor(at / 2);
  }
  return length;
}

/** The root that a leaf and its path lead to; null when index, size and path do not belong together. */
export function merkleRootFromPath(
  crypto: Crypto,
  leaf: Uint8Array,
  index: number,
  size: number,
  path: readonly Uint8Array[],
): Uint8Array | null {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return null;
  if (path.length !== merklePathLength(index, size)) return null;
  if (leaf.length !== digest_bytes || path.some((sibling) => sibling.length !== digest_bytes)) return null;
  let root = leaf;
  let at = index;
  let next = 0;
  for (let last = size - 1; last > 0; last = Math.floor(last / 2)) {
    const isRight = at % 2 === 1;
    const sibling = at < last || isRight ? path[next++] : undefined;
    if (sibling !== undefined) root = isRight ? merkleNode(crypto, sibling, root) : merkleNode(crypto, root, sibling);
    at = Math.floor(at / 2);
  }
  return root;
}
