import { describe, expect, it } from "vitest";
import { RateLimit } from "./rate-limit.ts";

describe("RateLimit", () => {
  it("lets a burst through, then says when to come back, and fills again", () => {
    const limit = new RateLimit({ per_second: 2, burst: 3 }, 10);
    expect([1, 2, 3, 4].map(() => limit.take("a", 0))).toEqual([0, 0, 0, 1]);
    expect(limit.take("a", 500)).toBe(0);
    expect(limit.take("a", 500)).toBe(1);
  });

  it("counts each caller apart", () => {
    const limit = new RateLimit({ per_second: 1, burst: 1 }, 10);
    expect(limit.take("a", 0)).toBe(0);
    expect(limit.take("b", 0)).toBe(0);
    expect(limit.take("a", 0)).toBe(1);
  });

  it("remembers no more callers than it may", () => {
    const limit = new RateLimit({ per_second: 1, burst: 1 }, 2);
    for (const caller of ["a", "b", "c"]) limit.take(caller, 0);
    expect(limit.take("a", 0)).toBe(0);
    expect(limit.take("c", 0)).toBe(1);
  });
});
