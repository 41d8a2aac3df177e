/**
 * Several relays on a primary and its standby, all of which fail in turn under load (tests/crash/nodes/).
 *
 * `npm run crash -- --nodes 3` does it more often and shows how it goes.
 */

import { expect, test } from "vitest";
import { runNodes } from "./crash/nodes/run.ts";
import { renderNodesReport } from "./crash/nodes/table.ts";

const say = (line: string) => void process.stdout.write(`${line}\n`);

test("nodes killed, cut off and slowed down, the database restarted and failed over: nothing is lost, nothing is completed twice", {
  timeout: 600_000,
}, async () => {
  const report = await runNodes({ nodes: 3, kills: 2, failovers: 1, restarts: 1, partitions: 3, seed: 7, say });
  say(renderNodesReport(report));
  expect(report.violations).toEqual([]);
  expect(report.done).toEqual({
    "nodes killed": 2,
    failovers: 1,
    "restarts of the database": 1,
    "partitions: cut": 1,
    "partitions: swallowing": 1,
    "partitions: delaying": 1,
  });
  // Each of them met work that was under way.
  expect(report.met.idle).toBe(0);
  expect(report.figures["handoffs accepted"]).toBeGreaterThan(report.met.handoffs / 2);
});
