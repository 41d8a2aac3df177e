/** Work meets workers: whatever is ready and may be given is given in the batch that makes it possible. */

import { expect, test } from "vitest";
import type { Claim } from "./requests.ts";
import { Bench } from "./testing/bench.ts";

const minute = 60_000;

test("much work for one queue does not hide the work for another worker of the same agent", async () => {
  const bench = await Bench.open();
  for (let n = 0; n < 40; n += 1) await bench.accept({ capability: "a" });
  await bench.surroundings.advance(10);
  const wanted = await bench.accept({ capability: "b" });
  const [a, b] = await Promise.all([
    bench.claim({ queues: () => new Set(["capability:a"]), worker: "w1", wait_ms: minute }),
    bench.claim({ queues: () => new Set(["capability:b"]), worker: "w2", wait_ms: minute }),
  ]);
  expect(a).toHaveLength(1);
  expect(b.map(({ accepted }) => accepted.id)).toEqual([wanted.accepted.id]);
});

test("a claim that waits, or is about to, does so for what its agent comes to serve; others go on as they did", async () => {
  const bench = await Bench.open();
  const lay_there = await bench.accept({ capability: "lay-there" });
  const served = new Set(["capability:before"]);
  const queues = () => new Set(served);
  const first = bench.claim({ queues, worker: "w1", wait_ms: minute });
  const other = bench.claim({ agent: "carol", worker: "c1", wait_ms: minute });
  await bench.surroundings.advance(10);
  const second = bench.claim({ queues, worker: "w2", wait_ms: minute });
  served.add("capability:lay-there").add("capability:comes").delete("capability:before");
  bench.engine.requeue("default", "bob");
  const comes = await bench.accept({ capability: "comes" });
  const given = [...(await first), ...(await second)].map(({ accepted }) => accepted.id);
  expect(new Set(given)).toEqual(new Set([lay_there.accepted.id, comes.accepted.id]));

  const third = bench.claim({ queues, worker: "w1", wait_ms: minute });
  await bench.surroundings.advance(10);
  await bench.accept({ capability: "before" });
  served.clear();
  bench.engine.requeue("default", null);
  await bench.accept({ capability: "comes" });
  await bench.surroundings.advance(minute);
  expect([await third, await other]).toEqual([[], []]);
});

test("a backlog is read once for all the agents that serve its queue", async () => {
  const bench = await Bench.open();
  for (let n = 0; n < 100; n += 1) await bench.accept();
  bench.looks.length = 0;
  const claims = Array.from({ length: 40 }, (_, n) => bench.claim({ agent: `a${n}`, worker: "w", wait_ms: minute }));
  const ids = (await Promise.all(claims)).flat().map(({ accepted }) => accepted.id);
  expect(new Set(ids).size).toBe(40);
  expect(bench.looks.filter(([queue]) => queue === "capability:summarize")).toHaveLength(1);
});

test("an agent excluded from what the others may have looks further by itself", async () => {
  const bench = await Bench.open();
  for (let n = 0; n < 30; n += 1) {
    const target = { kind: "fits", except: ["picky"] } as const;
    await bench.engine.submit([{ ...bench.submission(), target }]);
  }
  await bench.surroundings.advance(10);
  const fitting = await bench.accept();
  const [, picky] = await Promise.all([
    bench.claim({ agent: "easy", worker: "w", wait_ms: minute }),
    bench.claim({ agent: "picky", worker: "w", wait_ms: minute }),
  ]);
  expect(picky.map(({ accepted }) => accepted.id)).toEqual([fitting.accepted.id]);
});

test("what one agent is excluded from is not passed over for another, however much there is for both", async () => {
  const bench = await Bench.open();
  const target = { kind: "fits", except: ["first"] } as const;
  const submission = bench.submission();
  await bench.engine.submit([{ ...submission, target }]);
  await bench.surroundings.advance(10);
  for (let n = 0; n < 100; n += 1) await bench.accept();
  const [, second] = await Promise.all([
    bench.claim({ agent: "first", worker: "w", wait_ms: minute }),
    bench.claim({ agent: "second", worker: "w", wait_ms: minute }),
  ]);
  expect(second.map(({ accepted }) => accepted.id)).toEqual([submission.draft.id]);
});

test("an agent passed over for input that no longer fits gets the next that does, in the same claim", async () => {
  const bench = await Bench.open();
  for (let n = 0; n < 5; n += 1) await bench.accept();
  await bench.surroundings.advance(10);
  const fitting = await bench.accept();
  const error = { reason: "input_unfit", message: "no" };
  const leased = await bench.lease({
    offer: ({ accepted }) => ({
      manifest: null,
      attempt_ms: null,
      idempotent: true,
      since: accepted.accepted_at + 1,
      check: () => (accepted.id === fitting.accepted.id ? null : error),
    }),
  });
  expect(leased.accepted.id).toBe(fitting.accepted.id);
});

test("more work and workers than one batch may bring together meet in the next", async () => {
  const bench = await Bench.open({ limits: { deliveries_per_batch: 10 } });
  const claims = Array.from({ length: 35 }, (_, n) => bench.claim({ worker: `w${n}`, wait_ms: minute }));
  await bench.surroundings.rest();
  await bench.engine.submit(Array.from({ length: 35 }, () => bench.submission()));
  await bench.surroundings.rest();
  expect((await Promise.all(claims)).every((leases) => leases.length === 1)).toBe(true);
});

test("work held back for its preferred agent does not hide other work", async () => {
  const bench = await Bench.open();
  for (let n = 0; n < 30; n += 1) await bench.accept();
  // Carol asks and parks; the answers prefer her, but she has no slot free.
  const asked = await bench.claim({ agent: "carol", worker: "carol-1", slots: 30 });
  for (const handoff of asked) {
    const question = handoff.accepted.id;
    const ask = { type: "ask", question, to: null, answer_ms: null, park: true, agent: "carol", fence: 1 } as const;
    await bench.perform(handoff, ask);
    await bench.perform(handoff, {
      type: "answer",
      actor: { kind: "agent", agent: "alice" },
      question,
      content: "yes",
      answer: handoff.accepted.input,
      evidence: "signed",
      offers: [],
    });
  }
  const plain = await bench.accept();
  const leased = await bench.lease();
  expect(leased.accepted.id).toBe(plain.accepted.id);
});

test("a worker that comes back finds what arrived meanwhile, though its queue was empty before", async () => {
  const bench = await Bench.open();
  expect(await bench.claim()).toEqual([]);
  expect(await bench.claim()).toEqual([]);
  const handoff = await bench.accept();
  expect((await bench.lease()).accepted.id).toBe(handoff.accepted.id);
});

test("an old answer to a claim is remembered while its leases live, however many claims came since", async () => {
  const bench = await Bench.open({ limits: { remembered_requests: 3 } });
  await bench.accept();
  const first = await bench.lease({ request_id: "old" });
  for (let n = 0; n < 20; n += 1) {
    await bench.accept();
    await bench.complete(await bench.lease({ request_id: `r${n}` }));
  }
  expect((await bench.lease({ request_id: "old" })).accepted.id).toBe(first.accepted.id);
});

test("a lane goes on past any number of members that end in one batch", async () => {
  const bench = await Bench.open();
  const lane = await Promise.all(Array.from({ length: 30 }, () => bench.accept({ ordering_key: "k" })));
  const actor = { kind: "agent", agent: "alice" } as const;
  const cancel = { type: "cancel", actor, reason: null, evidence: "signed" } as const;
  await Promise.all(lane.slice(0, 29).map((handoff) => bench.perform(handoff, cancel)));
  expect((await bench.lease()).accepted.id).toBe(lane[29]?.accepted.id);
});

test("what waits unread in one queue is not overtaken by what was read of another", async () => {
  const bench = await Bench.open();
  const better = { priority: 9 } as const;
  for (let n = 0; n < 40; n += 1) await bench.accept({ capability: "y", ...better });
  const unfit = new Set<string>();
  const error = { reason: "input_unfit", message: "no" };
  const offer: Claim["offer"] = ({ accepted }) => ({
    manifest: null,
    attempt_ms: null,
    idempotent: true,
    since: accepted.accepted_at + 1,
    check: () => (unfit.has(accepted.id) ? error : null),
  });
  const { handoffs } = await bench.store.list({ namespace: "default", order: "oldest", limit: 100 });
  for (const { accepted } of handoffs.slice(0, 39)) unfit.add(accepted.id);
  await bench.accept({ capability: null, to: "bob" });
  const leased = await bench.lease({ queues: () => new Set(["capability:y", "agent:bob"]), offer });
  expect(leased.accepted.id).toBe(handoffs[39]?.accepted.id);
});

test("one whose body cannot be read keeps nobody else from being served", async () => {
  const bench = await Bench.open();
  const spoilt = await bench.accept();
  bench.breakBodies([spoilt.accepted.id]);
  await bench.surroundings.advance(10);
  const sound = await bench.accept();
  await bench.restart();
  const leased = await bench.lease({
    offer: ({ accepted }) => ({
      manifest: null,
      attempt_ms: null,
      idempotent: true,
      since: accepted.accepted_at + 1,
      check: () => null,
    }),
  });
  expect(leased.accepted.id).toBe(sound.accepted.id);
  expect(bench.bugs).toHaveLength(1);
  expect(bench.recoveries).toEqual([]);
});

test("what one batch passes over does not let what it accepts overtake older work", async () => {
  const bench = await Bench.open();
  for (let n = 0; n < 40; n += 1) await bench.accept();
  await bench.surroundings.advance(10);
  const older = await bench.accept();
  await bench.surroundings.advance(10);
  const fitting = new Set([older.accepted.id]);
  const submission = bench.submission();
  fitting.add(submission.draft.id);
  const error = { reason: "input_unfit", message: "no" };
  const [, leased] = await Promise.all([
    bench.engine.submit([submission]),
    bench.lease({
      offer: ({ accepted }) => ({
        manifest: null,
        attempt_ms: null,
        idempotent: true,
        since: accepted.accepted_at + 1,
        check: () => (fitting.has(accepted.id) ? null : error),
      }),
    }),
  ]);
  expect(leased.accepted.id).toBe(older.accepted.id);
});
