/** How handoffs are measured: as many at once as asked for, or so many a second. */

import { describe, expect, test } from "vitest";
import { measureAtOnce, measureSteadily } from "./measure.ts";

describe("measuring", () => {
  test("keeps as many handoffs on their way as asked for", async () => {
    let [open, most] = [0, 0];
    const handoff = async () => {
      open += 1;
      most = Math.max(most, open);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
    };
    const { handoffs } = await measureAtOnce(handoff, 7, 0.05);
    expect(most).toBe(7);
    expect(handoffs).toBeGreaterThan(7);
  });

  test("at a steady rate it gives up when it falls behind", async () => {
    const [rate, behind_s] = [1_000, 0.05];
    const { promise, resolve } = Promise.withResolvers<void>();
    let begun = 0;
    const handoff = () => {
      begun += 1;
      if (begun > rate * behind_s) setImmediate(resolve);
      return promise;
    };
    const figure = await measureSteadily(handoff, rate, 60, behind_s);
    expect(figure.fell_behind).toBe(true);
    expect(figure.handoffs).toBeLessThan(rate * 60);
  });

  test("at a steady rate it begins no more and no fewer than were due", async () => {
    const { handoffs, fell_behind } = await measureSteadily(async () => {}, 200, 0.5);
    expect(handoffs).toBe(100);
    expect(fell_behind).toBe(false);
  });

  test("a handoff that fails fails the measurement", async () => {
    await expect(measureAtOnce(() => Promise.reject(new Error("no answer")), 2, 1)).rejects.toThrow("no answer");
    await expect(measureSteadily(() => Promise.reject(new Error("no answer")), 100, 1)).rejects.toThrow("no answer");
  });
});
