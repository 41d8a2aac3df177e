/** A failing seed is made smaller, and still shows the same. */

import { expect, test } from "vitest";
import { failureReport } from "./report.ts";
import { huntMistakes, shrinkOnThread } from "./run-threads.ts";

const minutes = 60_000;

test("a failing seed shrinks to fewer handoffs and fewer faults, and breaks the same promise", {
  timeout: 20 * minutes,
}, async () => {
  const [hunt] = await huntMistakes(
    ["stale-fence-accepted"],
    { first: 1, seeds: 60, handoffs: 120, twice_every: null },
    1,
  );
  if (hunt?.failure == null) throw new Error("the mistake was not found");
  const smallest = await shrinkOnThread(hunt.failure, () => {});
  expect(smallest.invariant).toBe(hunt.failure.invariant);
  expect(smallest.handoffs).toBeLessThan(hunt.failure.handoffs);
  expect(smallest.without.length).toBeGreaterThan(10);
  expect(failureReport(smallest).join("\n")).toContain(`--without ${smallest.without.join(",")}`);
});
