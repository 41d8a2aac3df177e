/** A run is as good as its end. */

import { expect, test } from "vitest";
import type { Prepared, Row } from "./cast/row.ts";
import { Matrix } from "./matrix.ts";
import { failuresOf, type Report } from "./report.ts";
import { type Player, runSuite } from "./run.ts";

function playerWhoseWorkerStops(stop: () => Promise<void>): Player {
  const seat = { serve: async () => {}, kill: async () => {}, tell: () => {}, heard: () => never, count: () => 0 };
  const prepared: Prepared = {
    versions: {},
    openWorker: async () => ({ ...seat, stop }),
    openSender: async () => ({ ...seat, stop: async () => {} }),
  };
  const limits = { sender_gaps: {}, worker_gaps: {}, signs: true, quick: true, begins_within_ms: 1, slots: 1 };
  const row: Row = { name: "slow", title: "Slow", ...limits, prepare: async () => prepared };
  return { row, prepared };
}

const never = new Promise<never>(() => {});

test("a participant that had to be killed at the end fails the run", async () => {
  const player = playerWhoseWorkerStops(() => Promise.reject(new Error("it ended with SIGKILL:\nTraceback")));
  const matrix = new Matrix(() => {});
  matrix.put({ sender: "slow", worker: "slow", scenario: "plain", result: { is: "passed", ms: 1 } });
  expect(matrix.isGood).toBe(true);
  await runSuite({ senders: [player], workers: [player], scenarios: [], say: () => {} }, matrix);
  expect(matrix.isGood).toBe(false);
  expect(failuresOf({ matrix } as Report)).toEqual([
    { where: ["the worker of slow, at the end"], why: "it ended with SIGKILL:\nTraceback" },
  ]);
});
