/** Whoever counts events is told of each one once, in the log's order, and of nothing that is not in the log. */

import type { HandoffEvent } from "@handfast/core";
import { expect, test } from "vitest";
import { readResumes } from "./clock-mark.ts";
import { Bench, holder } from "./testing/bench.ts";

const minute = 60_000;

async function watched() {
  const told: HandoffEvent[] = [];
  const resumes = new Set<number>();
  const rereads: number[] = [];
  const bench = await Bench.open({
    onEvents: (events, resumed_at) => {
      told.push(...events);
      resumes.add(resumed_at);
    },
    reread: async (resumed_at) => {
      rereads.push(resumed_at);
    },
  });
  return { bench, told, resumes, rereads };
}

async function logged(bench: Bench): Promise<readonly HandoffEvent[]> {
  const { events } = await bench.store.events({ namespace: "default", after_pos: 0, limit: 10_000 });
  return events.map(({ json }) => JSON.parse(json));
}

test("every event is told once it is safe, in the log's order, before its command is answered", async () => {
  const { bench, told } = await watched();
  const lane = { ordering_key: "k" };
  const [first] = await Promise.all([bench.accept(lane), bench.accept(lane), bench.accept()]);
  expect(told.map(({ type }) => type)).toEqual(["accepted", "accepted", "accepted"]);
  const leased = await bench.lease();
  await bench.ack(leased);
  await Promise.all([bench.complete(leased), bench.accept(), bench.accept()]);
  expect(told).toContainEqual(expect.objectContaining({ type: "completed", handoff: first?.accepted.id }));
  await bench.surroundings.advance(20 * minute);
  expect(told.filter(({ type }) => type === "expired").length).toBe(4);
  expect(told).toEqual(await logged(bench));
});

test("of a commit that failed nothing is told, whether or not it is in the log", async () => {
  const { bench, told, rereads } = await watched();
  for (const when of ["before", "after"] as const) {
    bench.failNextCommit(when);
    await expect(bench.accept()).rejects.toMatchObject({ reason: "commit_unknown" });
    await bench.surroundings.rest();
  }
  expect(told).toEqual([]);
  expect((await logged(bench)).length).toBe(1);
  expect(rereads.length).toBe(2);
});

test("of a unit that conflicted nothing is told but what became of it", async () => {
  const { bench, told } = await watched();
  await bench.accept();
  const leased = await bench.lease();
  const other = bench.engine;
  await bench.restart();
  // Two engines on one store: each remembers the handoff as it last saw it.
  await bench.ack(leased);
  const command = { type: "checkpoint", ...holder(leased), state: leased.accepted.input } as const;
  await other.perform("default", leased.accepted.id, command);
  expect(told.map(({ type }) => type)).toEqual(["accepted", "delivered", "acknowledged", "checkpointed"]);
  expect(told).toEqual(await logged(bench));
});

test("a listener that fails is a mistake that is told, and no failed commit", async () => {
  const bench = await Bench.open({
    onEvents: () => {
      throw new Error("cannot count");
    },
  });
  expect((await bench.accept()).status.state).toBe("queued");
  expect(bench.bugs).toEqual([new Error("cannot count")]);
  expect(bench.recoveries).toEqual([]);
});

test("when the relay came back is on disk with the first commit after it", async () => {
  const { bench, resumes } = await watched();
  const comeBack = [
    () => bench.surroundings.advance(minute),
    () => bench.surroundings.stall(minute),
    () => bench.restart(),
    async () => {
      bench.failNextCommit("after");
      await bench.accept().catch(() => {});
      await bench.surroundings.rest();
    },
  ];
  for (const [index, act] of comeBack.entries()) {
    await bench.surroundings.advance(10);
    await act();
    await bench.surroundings.advance(10);
    await bench.accept();
    const known = await readResumes(bench.store);
    expect(known).toEqual([...known].sort());
    // The first is its start.
    expect(known.length).toBe(index + 1);
    expect(known.at(-1)).toBe([...resumes].at(-1));
  }
});
