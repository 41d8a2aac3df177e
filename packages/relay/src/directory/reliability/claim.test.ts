import type { Capability } from "@handfast/protocol";
import { expect, test } from "vitest";
import { claimOf, windowOf } from "./claim.ts";

/** As it comes out of the store: whatever was admitted when it came. */
const capability = (said: object): Capability => JSON.parse(JSON.stringify({ name: "draw", ...said }));

test("a claim and its window are read where the manifest has them", () => {
  const claiming = capability({ reliability_sla: 0.95, sla: { window_seconds: 3_600 } });
  expect([claimOf(claiming), windowOf(claiming)]).toEqual([0.95, 3_600_000]);
});

test("a manifest that says nothing claims nothing, over the relay's own window", () => {
  expect([claimOf(capability({})), windowOf(capability({}))]).toEqual([null, undefined]);
  expect(windowOf(capability({ sla: { conditions: "on weekdays" } }))).toBeUndefined();
});
