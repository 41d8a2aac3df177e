import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isStrongPoint } from "./ed25519-point.ts";
import { testKey } from "./testing/test-crypto.ts";

describe("points of Ed25519", () => {
  it("are strong for keys of any seed", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (seed) => {
        expect(isStrongPoint(testKey(seed).publicKey.bytes)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it("are rarely strong by chance: 1 of 16 random encodings", () => {
    const samples = fc.sample(fc.uint8Array({ minLength: 32, maxLength: 32, size: "max" }), { numRuns: 300, seed: 1 });
    const strong = samples.filter(isStrongPoint).length;
    expect(strong).toBeLessThan(60);
  });

  it("have 32 bytes", () => {
    expect(isStrongPoint(new Uint8Array(31))).toBe(false);
    expect(isStrongPoint(new Uint8Array(33))).toBe(false);
  });
});
