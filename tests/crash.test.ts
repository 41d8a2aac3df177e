/**
 * Real crashes: a relay, workers and senders are killed with SIGKILL at random moments under load and started again.
 * Then everything is drained, and what anybody was ever told is held against what the relay has kept (tests/crash/).
 *
 * `npm run crash -- --kills 500` kills more often and shows how it goes.
 */

import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { runCrashes } from "./crash/run.ts";
import { renderReport } from "./crash/table.ts";
import type { Bug } from "./support/put-back.ts";

/** Of each: of the relay, of workers, of senders. */
const kills = Number(process.env["KILLS"] ?? 25);
const say = (line: string) => void process.stdout.write(`${line}\n`);

test(`relay, workers and senders, each ${kills} times SIGKILL under load: nothing accepted is lost, nothing is completed twice`, {
  timeout: 300_000 + kills * 30_000,
}, async () => {
  const report = await runCrashes({ relay: kills, worker: kills, sender: kills, say });
  say(renderReport(report));
  expect(report.violations).toEqual([]);
  expect(report.kills).toMatchObject({ relay: kills, worker: kills, sender: kills });
  expect(report.figures["handoffs accepted"]).toBeGreaterThan(kills * 5);
  expect(report.figures["found again by their id"]).toBeGreaterThan(0);
});

/** One commit in ten: as long as the relay lives nobody can tell, since it reads what it has not committed yet. */
const lazy: Bug = {
  name: "the answer leaves, and the commit comes with a later one",
  changes: [
    {
      file: "store-sqlite/src/sqlite-store.ts",
      sound: 'session.connection.run("BEGIN IMMEDIATE");',
      broken: 'if (!session.connection.db.isTransaction) session.connection.run("BEGIN IMMEDIATE");',
    },
    {
      file: "store-sqlite/src/sqlite-store.ts",
      sound: 'session.connection.run("COMMIT");',
      broken: 'if (Math.random() < 0.1) session.connection.run("COMMIT");',
    },
    { file: "store-sqlite/src/sqlite-store.ts", sound: "this.#checkpointIfLong();", broken: "" },
  ],
};

test("a relay that answers before it commits is found by a few kills", { timeout: 300_000 }, async () => {
  const report = await runCrashes({ relay: 10, worker: 0, sender: 0, say, bug: lazy });
  say(renderReport(report));
  if (report.directory !== null) rmSync(report.directory, { recursive: true });
  expect(report.kills.relay).toBeGreaterThan(0);
  expect(report.violations).not.toEqual([]);
});
