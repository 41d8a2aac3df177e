/** Where the time of a handoff goes, from a CPU profile of a few samples. */

import { describe, expect, test } from "vitest";
import { attribute } from "./attribute.ts";
import { relayRules } from "./parts.ts";

describe("the profile", () => {
  const frame = (functionName: string, path: string) => ({
    functionName,
    url: path === "" ? "" : `file:///x/packages/${path}`,
    lineNumber: 1,
  });
  const profile = {
    nodes: [
      { id: 1, callFrame: frame("(root)", ""), children: [2, 6, 7] },
      { id: 2, callFrame: frame("#transaction", "store-sqlite/src/sqlite-store.ts"), children: [3, 4] },
      { id: 3, callFrame: frame("run", "store-sqlite/src/connection.ts"), children: [5] },
      { id: 4, callFrame: frame("write", "store-sqlite/src/commit.ts"), children: [8] },
      { id: 5, callFrame: frame("run", "") },
      { id: 6, callFrame: frame("(garbage collector)", "") },
      { id: 7, callFrame: frame("(idle)", "") },
      { id: 8, callFrame: frame("toString", "") },
    ],
    startTime: 0,
    endTime: 100_000,
    samples: [5, 8, 6, 7, 5, 4],
    timeDeltas: [1_000, 2_000, 500, 20_000, 30_000, 40_000],
  };

  test("counts native time for its caller, and adds up to the time that passed", () => {
    const { parts } = attribute(profile, relayRules, 10);
    expect(parts).toEqual([
      { part: "commit", us_per_handoff: 3_100 },
      { part: "statements", us_per_handoff: 200 },
      { part: "garbage collection", us_per_handoff: 50 },
      { part: "not running (others had the core)", us_per_handoff: 4_000 },
      { part: "idle", us_per_handoff: 2_000 },
    ]);
  });
});
