import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { merkleNode, merklePathLength, merkleRootFromPath, merkleTree } from "./merkle.ts";
import { testCrypto } from "./testing/test-crypto.ts";

const leaf = (n: number) => testCrypto.sha256(Uint8Array.of(n >> 8, n & 255));
const leavesOf = (size: number) => Array.from({ length: size }, (_, n) => leaf(n));

/** RFC 6962, 2.1, word for word: split at the largest power of two below the size. */
function rootByDefinition(leaves: Uint8Array[]): Uint8Array {
  const [only] = leaves;
  if (only !== undefined && leaves.length === 1) return only;
  const split = 2 ** Math.floor(Math.log2(leaves.length - 1));
  return merkleNode(testCrypto, rootByDefinition(leaves.slice(0, split)), rootByDefinition(leaves.slice(split)));
}

describe("the Merkle tree", () => {
  it("has the shape of RFC 6962 at every size up to 130", () => {
    for (let size = 1; size <= 130; size++) {
      expect(merkleTree(testCrypto, leavesOf(size)).root).toEqual(rootByDefinition(leavesOf(size)));
    }
  });

  it("gives each leaf a path that leads to the root, of the length that index and size imply", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.nat(), (size, pick) => {
        const index = pick % size;
        const { root, paths } = merkleTree(testCrypto, leavesOf(size));
        const path = paths[index] ?? [];
        expect(path.length).toBe(merklePathLength(index, size));
        expect(merkleRootFromPath(testCrypto, leaf(index), index, size, path)).toEqual(root);
      }),
      { numRuns: 60 },
    );
  });

  it("leads elsewhere from any other index", () => {
    const { root, paths } = merkleTree(testCrypto, leavesOf(21));
    for (let index = 0; index < 21; index++) {
      for (let claimed = 0; claimed < 21; claimed++) {
        const reached = merkleRootFromPath(testCrypto, leaf(index), claimed, 21, paths[index] ?? []);
        expect(reached !== null && Buffer.compare(reached, root) === 0).toBe(claimed === index);
      }
    }
  });

  it("is sound for sizes beyond 32 bits, as a log may reach", () => {
    const size = 2 ** 40 + 1;
    expect(merklePathLength(2 ** 40, size)).toBe(1);
    expect(merklePathLength(0, size)).toBe(41);
    expect(merkleRootFromPath(testCrypto, leaf(0), 2 ** 40, size, [leaf(1)])).toEqual(
      merkleNode(testCrypto, leaf(1), leaf(0)),
    );
  });

  it.each([
    [-1, 1],
    [1, 1],
    [0, 0],
    [0.5, 2],
    [0, Number.NaN],
    [0, 2 ** 60],
  ])("answers null for index %d of %d", (index, size) => {
    expect(merkleRootFromPath(testCrypto, leaf(0), index, size, [])).toBeNull();
  });
});
