/** The counts of contracts against a real store and engine: each end once, wherever the process died. */

import type { HandoffEvent } from "@handfast/core";
import { openSqliteStore } from "@handfast/store-sqlite";
import { expect, it } from "vitest";
import { accept, end, sampleEntry, sampleHandoff, startOfTime, unit } from "../../../engine/src/store.samples.ts";
import { limits } from "../limits.ts";
import { Tally } from "./tally.ts";

const namespace = "default";
type Verdict = "fulfilled" | "breach" | "uncounted";

async function world() {
  const store = await openSqliteStore({ memory: true });
  const scheduled: (() => void)[] = [];
  let fails = false;
  const open = () =>
    Tally.open({
      namespace,
      store,
      limits,
      put: async (records) => {
        if (fails) throw new Error("the disk is full");
        const [result] = await store.commit([{ writes: [], records }]);
        return result === "ok";
      },
      schedule: (_, task) => {
        scheduled.push(task);
        return () => void scheduled.splice(scheduled.indexOf(task), 1);
      },
      onUnwritten: () => {},
    });
  let made = 0;
  /** A handoff under the contract that ended so; its events are returned once they are in the log. */
  const ended = async (id: string, verdict: Verdict): Promise<readonly HandoffEvent[]> => {
    made += 1;
    const accepted = accept(sampleHandoff(`h${made}`));
    const over = end(accepted.next, "completed", 200);
    const why = verdict === "fulfilled" ? null : "late";
    const events = over.events.map((event) => ({ ...event, contract: { id, verdict, why } }) as HandoffEvent);
    await store.commit([unit(accepted)]);
    await store.commit([unit({ ...over, events })]);
    return [...accepted.events, ...events];
  };
  return {
    store,
    open,
    ended,
    wants: () => scheduled.length,
    write: () => scheduled.splice(0).map((task) => task()),
    fail: (does: boolean) => {
      fails = does;
    },
  };
}

/** There is a contract, so the log is not from before there were any. */
async function withContract(store: Awaited<ReturnType<typeof world>>["store"]): Promise<void> {
  const record = { namespace, kind: "contract", key: "c", expected_version: 0, value: {} };
  await store.commit([{ writes: [], records: [record] }]);
}

it("counts what is told, and finds in the log what it was not told before it died", async () => {
  const { store, open, ended } = await world();
  await withContract(store);
  const first = await open();
  first.apply(await ended("c", "fulfilled"));
  // Committed, and the process was gone before anybody was told.
  await ended("c", "breach");
  const second = await open();
  expect(second.of("c")).toMatchObject({ fulfilled: 1, breaches: 1 });
});

it("counts nothing twice that was written before it died", async () => {
  const { store, open, ended, write } = await world();
  await withContract(store);
  const first = await open();
  first.apply(await ended("c", "fulfilled"));
  write();
  await first.stop();
  await store.commit([{ writes: [], records: [], entries: [sampleEntry("a", ["b"], startOfTime)] }]);
  await ended("c", "uncounted");
  const second = await open();
  expect(second.of("c")).toMatchObject({ fulfilled: 1, breaches: 0, uncounted: 1, by_reason: { late: 1 } });
  await second.stop();
  expect((await open()).of("c")).toEqual(second.of("c"));
});

it("goes on after a write that failed, and writes it all later", async () => {
  const { store, open, ended, write, wants, fail } = await world();
  await withContract(store);
  const first = await open();
  fail(true);
  first.apply(await ended("c", "breach"));
  write();
  await first.reread();
  expect([first.of("c").breaches, wants()]).toEqual([1, 1]);
  fail(false);
  await first.stop();
  expect((await open()).of("c").breaches).toBe(1);
});

it("learns from the log what became of a commit of which nobody knew", async () => {
  const { store, open, ended } = await world();
  await withContract(store);
  const tally = await open();
  tally.apply(await ended("c", "fulfilled"));
  await ended("c", "breach");
  await tally.reread();
  expect(tally.of("c")).toMatchObject({ fulfilled: 1, breaches: 1 });
});

it("reads nothing of a log from before there were contracts, and everything after", async () => {
  const { store, open, ended } = await world();
  await ended("old", "breach");
  const first = await open();
  expect(first.of("old").breaches).toBe(0);
  await withContract(store);
  first.apply(await ended("c", "fulfilled"));
  await first.stop();
  await ended("c", "fulfilled");
  const second = await open();
  expect([second.of("old").breaches, second.of("c").fulfilled]).toEqual([0, 2]);
});
