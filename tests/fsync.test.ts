/**
 * Nothing is confirmed before it is on disk. SIGKILL cannot show a missing fsync, since the kernel keeps what was
 * written; so strace writes down what the relay asks of the kernel, and the order of it is held against the promise.
 */

import { beforeAll, describe, expect, test } from "vitest";
import { between } from "./fsync/marks.ts";
import { faultsOfConfirmation, faultsOfPassing, faultsOfStart, store_log } from "./fsync/rules.ts";
import { backupOf, confirmations, passing, stepOn } from "./fsync/steps.ts";
import { type TracedLife, traceLife, ways } from "./fsync/traced-life.ts";
import type { Bug } from "./support/put-back.ts";
import { whyNoTrace } from "./support/strace.ts";

const why_not = whyNoTrace();
const timeout = 180_000;

const unsynced: Bug = {
  name: "the log is written, and never synced",
  changes: [
    {
      file: "store-sqlite/src/sqlite-store.ts",
      sound: "if (wrote(result)) await session.log?.sync();",
      broken: "",
    },
  ],
};

/** The commit waits for the next mark, which is a request for something that the relay does not serve. */
const early: Bug = {
  name: "the answer leaves, and the commit follows",
  changes: [
    {
      file: "store-sqlite/src/sqlite-store.ts",
      sound: "const results = await this.#transaction(({ writer }) => writer.write(units));",
      broken:
        'const results = units.map(() => "ok"); (globalThis.late ??= []).push(() => this.#transaction(({ writer }) => writer.write(units)));',
    },
    {
      file: "relay/src/transports/http/server.ts",
      sound: "app.setNotFoundHandler((request, reply) => this",
      broken:
        "app.setNotFoundHandler((request, reply) => (globalThis.late ?? []).splice(0).forEach((commit) => commit()) ?? this",
    },
  ],
};

function faultsIn({ calls, directory }: TracedLife): ReadonlyMap<string, readonly string[]> {
  const steps = ways.flatMap((way) => confirmations.map((name) => stepOn(way, name)));
  return new Map(steps.map((step) => [step, faultsOfConfirmation(between(calls, step), directory, store_log)]));
}

describe.skipIf(why_not !== null)(
  `the relay's own calls of the kernel${why_not === null ? "" : ` (${why_not})`}`,
  () => {
    let life: TracedLife;
    beforeAll(async () => {
      life = await traceLife(null);
    }, timeout);

    describe.each(ways)("over %s", (way) => {
      test.each(confirmations)("%s is confirmed only after its bytes were synced", (name) => {
        const step = between(life.calls, stepOn(way, name));
        expect(faultsOfConfirmation(step, life.directory, store_log)).toEqual([]);
      });

      test("a backup is confirmed only after its bytes and its name were synced", () => {
        const step = between(life.calls, stepOn(way, "backup"));
        expect(faultsOfConfirmation(step, life.directory, backupOf(way))).toEqual([]);
      });

      test.each(passing)("%s costs no write and no sync", (name) => {
        expect(faultsOfPassing(between(life.calls, stepOn(way, name)), life.directory)).toEqual([]);
      });
    });

    test("every name that the relay makes is safe before its first answer", () => {
      expect(faultsOfStart(life.calls, life.directory)).toEqual([]);
    });

    test("a relay that leaves the sync out is found at every confirmation", { timeout }, async () => {
      const faults = faultsIn(await traceLife(unsynced));
      expect([...faults].filter(([, found]) => found.length === 0)).toEqual([]);
    });

    test("a relay that answers before it commits is found at every confirmation", { timeout }, async () => {
      const faults = faultsIn(await traceLife(early));
      expect([...faults].filter(([, found]) => found.length === 0)).toEqual([]);
    });
  },
);
