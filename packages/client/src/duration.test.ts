import { describe, expect, test } from "vitest";
import { toMilliseconds } from "./duration.ts";
import { UsageError } from "./errors.ts";

describe("a duration", () => {
  test.each([
    [250, 250],
    ["250ms", 250],
    ["60s", 60_000],
    ["1.5s", 1_500],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["7d", 604_800_000],
    [" 5 m ", 300_000],
    [0, 0],
  ])("%j is %d ms", (given, ms) => expect(toMilliseconds(given, "timeout")).toBe(ms));

  test.each(["", "5", "m", "-5s", "5 weeks", "1e9s", "NaNs", Number.NaN, Number.POSITIVE_INFINITY, -1])(
    "%j is refused, with the option's name and what to write",
    (given) => {
      const make = () => toMilliseconds(given, "timeout");
      expect(make).toThrow(UsageError);
      expect(make).toThrow(/^timeout is /);
      expect(make).toThrow(expect.objectContaining({ remedy: expect.stringContaining('"60s"') }));
    },
  );
});
