/** The engine on a real store, with virtual time. */

import { liveLease } from "@handfast/core";
import { expect, test } from "vitest";
import { Bench, holder } from "./testing/bench.ts";

const minute = 60_000;
const day = 24 * 60 * minute;

test("a submit and the lease for an idle worker share one commit", async () => {
  const bench = await Bench.open();
  const claimed = bench.claim({ wait_ms: minute });
  await bench.surroundings.rest();
  await bench.accept();
  const [leased] = await claimed;
  expect(leased?.status.state).toBe("delivered");
  expect(bench.commits.length).toBe(1);
  expect(bench.commits[0]?.[0]?.writes.length).toBe(1);
});

test("a submit goes behind what is already ready for the worker", async () => {
  const bench = await Bench.open();
  const first = await bench.accept();
  await bench.surroundings.advance(10);
  const second = bench.accept();
  const leased = await bench.lease();
  await second;
  expect(leased.accepted.id).toBe(first.accepted.id);
});

test("commands that arrive during a commit go together in the next", async () => {
  const bench = await Bench.open();
  await Promise.all(Array.from({ length: 100 }, () => bench.accept()));
  expect(bench.commits.length).toBeLessThanOrEqual(2);
});

test("ends go before submits, and a batch is bounded", async () => {
  const bench = await Bench.open({ limits: { batch_jobs: 4 } });
  const handoff = await bench.accept();
  const leased = await bench.lease();
  bench.commits.length = 0;
  const submits = Array.from({ length: 10 }, () => bench.accept());
  const done = bench.complete(leased);
  await Promise.all([...submits, done]);
  const first = bench.commits[0]?.flatMap(({ writes }) => writes.map(({ next }) => next.accepted.id));
  expect(first?.[0]).toBe(handoff.accepted.id);
  for (const units of bench.commits) expect(units.length).toBeLessThanOrEqual(4);
});

test("an atomic batch is accepted whole or not at all", async () => {
  const bench = await Bench.open();
  const good = bench.submission();
  const bad = { ...bench.submission(), target: { kind: "absent" } as const };
  const answer = await bench.engine.submit([good, bad]);
  expect(answer).toMatchObject({ ok: false, refusals: [{ index: 1, refusal: { code: 406 } }] });
  expect(await bench.engine.get("default", good.draft.id)).toBeNull();
});

test("an honest retry answers as the first time, in the same batch and later", async () => {
  const bench = await Bench.open();
  const submission = bench.submission();
  const retry = { ...submission, draft: { ...submission.draft, id: bench.nextId() } };
  const [first, second] = await Promise.all([bench.engine.submit([submission]), bench.engine.submit([retry])]);
  expect(first).toMatchObject({ ok: true, submitted: [{ repeated: false }] });
  expect(second).toMatchObject({ ok: true, submitted: [{ id: submission.draft.id, repeated: true }] });
  const later = await bench.engine.submit([retry]);
  expect(later).toMatchObject({ ok: true, submitted: [{ id: submission.draft.id, repeated: true }] });
});

test("heartbeats keep a lease without a commit, and it is lost without them", async () => {
  const bench = await Bench.open();
  const handoff = await bench.accept();
  const leased = await bench.lease();
  await bench.ack(leased);
  const before = bench.commits.length;
  for (let beat = 0; beat < 2; beat += 1) {
    await bench.surroundings.advance(12_000);
    const { refusal } = await bench.perform(handoff, { type: "beat", progress: null, ...holder(leased) });
    expect(refusal).toBeNull();
  }
  expect(bench.commits.length).toBe(before);
  await bench.surroundings.advance(25_000);
  expect(await bench.state(handoff)).toBe("working");
  await bench.surroundings.advance(6_000);
  expect(await bench.state(handoff)).toBe("queued");
});

test("a repeated claim returns the same leases, also after a restart", async () => {
  const bench = await Bench.open();
  await bench.accept();
  await bench.accept();
  const first = await bench.lease({ request_id: "r1" });
  const again = await bench.lease({ request_id: "r1" });
  expect(again.accepted.id).toBe(first.accepted.id);
  await bench.restart();
  const after = await bench.lease({ request_id: "r1" });
  expect(after.accepted.id).toBe(first.accepted.id);
  const other = await bench.lease({ request_id: "r2" });
  expect(other.accepted.id).not.toBe(first.accepted.id);
});

test("a repeated claim is not told of a lease that was given back and given anew in the same batch", async () => {
  const bench = await Bench.open();
  await bench.accept();
  const first = await bench.lease({ request_id: "r1" });
  const [early, , late] = await Promise.all([
    bench.claim({ request_id: "r1" }),
    bench.perform(first, { type: "release", ...holder(first) }),
    bench.claim({ request_id: "r1" }),
  ]);
  expect(early).toEqual([]);
  expect(late).toMatchObject([{ fence: 2 }]);
});

test("after a restart no lease is lost before one full period, and the worker finishes under its fence", async () => {
  const bench = await Bench.open();
  const handoff = await bench.accept();
  const leased = await bench.lease();
  await bench.ack(leased);
  await bench.surroundings.advance(29_000);
  await bench.surroundings.stall(5 * minute);
  await bench.restart();
  await bench.surroundings.advance(29_000);
  expect(await bench.state(handoff)).toBe("working");
  const { refusal } = await bench.complete(leased);
  expect(refusal).toBeNull();
  expect(await bench.state(handoff)).toBe("completed");
});

test("a stall of the process loses no lease", async () => {
  const bench = await Bench.open();
  const handoff = await bench.accept();
  await bench.ack(await bench.lease());
  await bench.surroundings.stall(3 * minute);
  expect(await bench.state(handoff)).toBe("working");
});

test("the clock goes on from the log when the machine's was set back", async () => {
  const bench = await Bench.open();
  await bench.surroundings.stall(day);
  await bench.accept();
  const before = bench.engine.now();
  await bench.surroundings.stall(-2 * day);
  await bench.restart();
  expect(bench.engine.now()).toBeGreaterThanOrEqual(before);
});

test("a delivery is lost in its time although the clock was set ahead over one start and back before the next", async () => {
  const bench = await Bench.open();
  await bench.accept({ terms: { deadline_ms: 20 * day } });
  await bench.lease();
  await bench.surroundings.stall(2 * day);
  await bench.restart();
  // The timer gives the lease a full period more, which no event tells.
  await bench.surroundings.advance(1_000);
  await bench.surroundings.stall(-2 * day);
  await bench.restart();
  await bench.surroundings.advance(60_000);
  expect(await bench.claim({ worker: "bob-2" })).toMatchObject([{ fence: 2 }]);
});

test.each(["before", "after"] as const)(
  "a commit that fails %s writing is unknown, and the truth is read from disk",
  async (when) => {
    const bench = await Bench.open();
    const submission = bench.submission();
    bench.failNextCommit(when);
    await expect(bench.engine.submit([submission])).rejects.toMatchObject({ code: 500, reason: "commit_unknown" });
    await bench.surroundings.rest();
    expect(bench.recoveries).toEqual([true]);
    const found = await bench.engine.get("default", submission.draft.id);
    expect(found !== null).toBe(when === "after");
    expect(await bench.engine.submit([submission])).toMatchObject({
      ok: true,
      submitted: [{ repeated: when === "after" }],
    });
  },
);

test("a claim whose lease may or may not be on disk is told so, and gets it by asking again", async () => {
  const bench = await Bench.open();
  await bench.accept();
  bench.failNextCommit("after");
  await expect(bench.claim({ request_id: "r1" })).rejects.toMatchObject({ reason: "commit_unknown" });
  const leased = await bench.lease({ request_id: "r1" });
  expect(leased.fence).toBe(1);
});

test("handoffs of one ordering key are delivered one after the other, in accept order", async () => {
  const bench = await Bench.open();
  const [first, second, third] = await Promise.all([1, 2, 3].map(() => bench.accept({ ordering_key: "k" })));
  const one = await bench.lease();
  expect(one.accepted.id).toBe(first?.accepted.id);
  expect(await bench.claim()).toEqual([]);
  await bench.complete(one);
  const two = await bench.lease();
  expect(two.accepted.id).toBe(second?.accepted.id);
  await bench.perform(two, {
    type: "cancel",
    actor: { kind: "agent", agent: "alice" },
    reason: null,
    evidence: "signed",
  });
  expect((await bench.lease()).accepted.id).toBe(third?.accepted.id);
});

test("when a parent ends, its open children are canceled and detached ones go on, also across a restart", async () => {
  const bench = await Bench.open({ limits: { children_per_sweep: 2 } });
  const parent = await bench.accept();
  const leased = await bench.lease();
  await bench.ack(leased);
  const causation = { id: parent.accepted.id, fence: 1 };
  const child = (detached: boolean) => bench.accept({ from: "bob", capability: "other", causation, detached });
  const children = await Promise.all(Array.from({ length: 5 }, () => child(false)));
  const free = await child(true);
  await bench.complete(leased);
  await bench.restart();
  await bench.surroundings.advance(100);
  for (const handoff of children) expect(await bench.state(handoff)).toBe("canceled");
  expect(await bench.state(free)).toBe("queued");
});

test("a dead letter is routed, once, to the capability its sender named", async () => {
  const bench = await Bench.open();
  const handoff = await bench.accept({ dead_letter_to: "desk", terms: { deadline_ms: 1_000 } });
  await bench.surroundings.advance(5_000);
  expect(await bench.state(handoff)).toBe("expired");
  const desk = await bench.lease({ queues: () => new Set(["capability:desk"]), slots: 10 });
  expect(desk.accepted).toMatchObject({ redrive_of: handoff.accepted.id, from: "alice", dead_letter_to: null });
  expect(await bench.claim({ queues: () => new Set(["capability:desk"]) })).toEqual([]);
});

test("a routed dead letter leaves the contract behind that it was given under: that is with another provider", async () => {
  const bench = await Bench.open();
  const contract = { id: "c".repeat(64), price: { amount: 1, per: "handoff" }, in_full: true } as const;
  const dead = await bench.accept({ contract, dead_letter_to: "desk", terms: { deadline_ms: 1_000 } });
  await bench.surroundings.advance(5_000);
  const desk = await bench.lease({ queues: () => new Set(["capability:desk"]), slots: 10 });
  expect([desk.accepted.redrive_of, desk.accepted.contract]).toEqual([dead.accepted.id, undefined]);
});

test("a redrive marks the dead letter and submits its successor in one commit, once", async () => {
  const bench = await Bench.open();
  const dead = await bench.accept({ terms: { deadline_ms: 1_000 } });
  await bench.surroundings.advance(2_000);
  const actor = { kind: "operator", name: "ops" } as const;
  const first = await bench.engine.redrive("default", dead.accepted.id, actor, bench.submission());
  const second = await bench.engine.redrive("default", dead.accepted.id, actor, bench.submission());
  expect(first.redriven_as).not.toBeNull();
  expect(second.redriven_as).toBe(first.redriven_as);
});

test("a redrive under a key that is already in use is refused and marks nothing", async () => {
  const bench = await Bench.open();
  const other = await bench.accept();
  const dead = await bench.accept({ terms: { deadline_ms: 1_000 } });
  await bench.surroundings.advance(2_000);
  const { idempotency_key } = other.accepted;
  const actor = { kind: "operator", name: "ops" } as const;
  const answer = await bench.engine.redrive("default", dead.accepted.id, actor, bench.submission({ idempotency_key }));
  expect(answer).toMatchObject({ refusal: { code: 409 }, redriven_as: null });
  const after = await bench.engine.get("default", dead.accepted.id);
  expect(after?.status).toMatchObject({ dead_letter: { status: "open" } });
});

test("the head of a lane that is freed in a batch is delivered in that batch, also if it was accepted there", async () => {
  const bench = await Bench.open();
  const first = await bench.accept({ ordering_key: "k" });
  const leased = await bench.lease();
  const claimed = bench.claim({ wait_ms: minute, request_id: "next" });
  await bench.surroundings.rest();
  const before = bench.commits.length;
  const [second] = await Promise.all([bench.accept({ ordering_key: "k" }), bench.complete(leased)]);
  expect((await claimed).map(({ accepted }) => accepted.id)).toEqual([second.accepted.id]);
  expect(bench.commits.length).toBe(before + 1);
  expect(await bench.state(first)).toBe("completed");
});

test("retention removes what was taken after its time, never what is open, and the key still answers", async () => {
  const bench = await Bench.open({ limits: { pulse_ms: day, stall_ms: 100 * day } });
  const submission = bench.submission({ terms: { deadline_ms: 29 * day } });
  await bench.engine.submit([submission]);
  const open = await bench.accept({ terms: { deadline_ms: 29 * day, queue_ms: 29 * day } });
  const leased = await bench.lease();
  await bench.complete(leased);
  await bench.perform(leased, { type: "take", actor: { kind: "agent", agent: "alice" } });
  await bench.surroundings.advance(8 * day);
  expect(await bench.engine.get("default", submission.draft.id)).toBeNull();
  expect(await bench.state(open)).toBe("queued");
  expect(await bench.engine.submit([submission])).toMatchObject({
    ok: true,
    submitted: [{ id: submission.draft.id, handoff: null, repeated: true }],
  });
});

test("submits are turned away before memory grows, while ends still get through", async () => {
  const bench = await Bench.open({ limits: { pending_submits: 5, batch_jobs: 2 } });
  const handoff = await bench.accept();
  const leased = await bench.lease();
  const submits = Array.from({ length: 50 }, () => bench.accept());
  const done = bench.complete(leased);
  const settled = await Promise.allSettled(submits);
  expect((await done).refusal).toBeNull();
  expect(await bench.state(handoff)).toBe("completed");
  const refused = settled.filter((result) => result.status === "rejected").map(({ reason }) => reason);
  expect(refused.length).toBeGreaterThan(0);
  for (const reason of refused) expect(reason).toMatchObject({ code: 429, reason: "busy" });
});

test("a sender may have only so many handoffs open, counted also across a restart", async () => {
  const bench = await Bench.open({ coreLimits: { max_open_per_sender: 3 } });
  const over = { ok: false, refusals: [{ refusal: { code: 429, reason: "over_quota" } }] };
  expect(await bench.engine.submit([1, 2, 3, 4].map(() => bench.submission()))).toMatchObject(over);
  await Promise.all([1, 2, 3].map(() => bench.accept()));
  await bench.restart();
  expect(await bench.engine.submit([bench.submission()])).toMatchObject(over);
  await bench.accept({ from: "carol" });
  await bench.complete(await bench.lease());
  await bench.accept();
});

test("a worker that does not acknowledge loses it to another, and after ten times it is a dead letter", async () => {
  const bench = await Bench.open();
  const handoff = await bench.accept();
  for (let delivery = 1; delivery <= 10; delivery += 1) {
    const leased = await bench.lease();
    expect(liveLease(leased)?.fence).toBe(delivery);
    await bench.surroundings.advance(10_001);
  }
  const ended = await bench.engine.get("default", handoff.accepted.id);
  expect(ended?.status).toMatchObject({ state: "failed", outcome: { code: 504 }, dead_letter: { status: "open" } });
});

test("a claim that was given up before its leases arrived gives them back, counting as nothing", async () => {
  const bench = await Bench.open();
  await bench.accept();
  const leased = await bench.lease();
  await bench.engine.undelivered("default", [{ id: leased.accepted.id, fence: 1, agent: "bob" }]);
  const again = await bench.lease();
  expect(again).toMatchObject({ fence: 2, deliveries: 0, attempts: 0 });
});

test("leases that a repeated claim was told of are not given back when the first answer turns out lost", async () => {
  const bench = await Bench.open();
  await bench.accept();
  const first = await bench.lease({ request_id: "r1" });
  await bench.lease({ request_id: "r1" });
  await bench.engine.undelivered("default", [{ id: first.accepted.id, fence: 1, agent: "bob" }]);
  expect((await bench.ack(first)).refusal).toBeNull();
});

test("an agent whose manifest changed since the submit is passed over when the input no longer fits", async () => {
  const bench = await Bench.open();
  const handoff = await bench.accept();
  const error = { reason: "input_unfit", message: "/query is missing" };
  const offer = () => ({
    manifest: "m2",
    attempt_ms: null,
    idempotent: true,
    since: bench.engine.now() + 1,
    check: () => error,
  });
  expect(await bench.claim({ offer })).toEqual([]);
  expect((await bench.engine.get("default", handoff.accepted.id))?.excluded).toEqual(["bob"]);
  expect((await bench.lease({ agent: "carol", worker: "carol-1" })).accepted.id).toBe(handoff.accepted.id);
});

test("after a failed commit timers go on, and leases get a full period", async () => {
  const bench = await Bench.open();
  const working = await bench.accept();
  await bench.ack(await bench.lease());
  const short = await bench.accept({ terms: { deadline_ms: 60_000 } });
  await bench.surroundings.advance(29_000);
  bench.failNextCommit("before");
  await expect(bench.accept()).rejects.toMatchObject({ reason: "commit_unknown" });
  await bench.surroundings.advance(20_000);
  expect((await bench.store.load("default", [working.accepted.id]))[0]?.status.state).toBe("working");
  await bench.surroundings.advance(12_000);
  const [after, expired] = await bench.store.load("default", [working.accepted.id, short.accepted.id]);
  expect(after?.status.state).toBe("queued");
  expect(expired?.status.state).toBe("expired");
});

test("stopping while the store is being read anew stops for good", async () => {
  const bench = await Bench.open();
  await bench.accept({ terms: { deadline_ms: 5_000 } });
  bench.failNextCommit("before");
  const failed = expect(bench.accept()).rejects.toMatchObject({ reason: "commit_unknown" });
  await failed;
  await bench.engine.stop();
  const before = bench.commits.length;
  await bench.surroundings.advance(60_000);
  expect(bench.engine.state).toBe("stopped");
  expect(bench.commits.length).toBe(before);
});

test("keys of the relay's own cannot be taken by a sender", async () => {
  const bench = await Bench.open();
  const answer = await bench.engine.submit([bench.submission({ idempotency_key: "handfast:dead-letter:x" })]);
  expect(answer).toMatchObject({ ok: false, refusals: [{ refusal: { code: 400, reason: "reserved_key" } }] });
});

test("handoffs that a mistake keeps from being settled do not stop the clocks of others", async () => {
  const bench = await Bench.open({ limits: { due_per_sweep: 4, cached_body_bytes: 0 } });
  const spoilt = await Promise.all(
    Array.from({ length: 10 }, () => bench.accept({ dead_letter_to: "desk", terms: { deadline_ms: 1_000 } })),
  );
  bench.breakBodies(spoilt.map(({ accepted }) => accepted.id));
  const honest = await bench.accept({ terms: { deadline_ms: 5_000 } });
  await bench.surroundings.advance(20_000);
  const [after] = await bench.store.load("default", [honest.accepted.id]);
  expect(after?.status.state).toBe("expired");
  expect(bench.bugs.length).toBeGreaterThan(0);
  expect(bench.bugs.length).toBeLessThan(40);
});

test("an id that belonged to a purged handoff is not taken again", async () => {
  const bench = await Bench.open({ limits: { pulse_ms: day, stall_ms: 100 * day } });
  const submission = bench.submission();
  await bench.engine.submit([submission]);
  const leased = await bench.lease();
  await bench.complete(leased);
  await bench.perform(leased, { type: "take", actor: { kind: "agent", agent: "alice" } });
  await bench.surroundings.advance(8 * day);
  const { id } = submission.draft;
  const reused = bench.submission({ id, from: "mallory", idempotency_key: "other" });
  const taken = { ok: false, refusals: [{ refusal: { code: 409, reason: "id_taken" } }] };
  expect(await bench.engine.submit([reused])).toMatchObject(taken);
});

test("when space runs low submits are refused first, then everything large, and small ends never", async () => {
  const bench = await Bench.open({ limits: { reserve_bytes: 1_000_000, reserve_per_open_bytes: 10_000 } });
  const first = await bench.accept();
  await bench.accept();
  const leased = await bench.lease();
  const large = {
    body: { kind: "outcome", document: null, proof: null, payload: new Uint8Array(50_000) },
    artifacts: [],
  } as const;
  const checkpoint = { type: "checkpoint", agent: "bob", fence: 1, state: leased.accepted.input } as const;
  const id = leased.accepted.id;
  await bench.setFreeBytes(1_019_000);
  await expect(bench.accept()).rejects.toMatchObject({ code: 507 });
  expect((await bench.engine.perform("default", id, checkpoint, large)).refusal).toBeNull();
  await bench.setFreeBytes(500_000);
  await expect(bench.engine.perform("default", id, checkpoint, large)).rejects.toMatchObject({ code: 507 });
  expect((await bench.complete(leased)).refusal).toBeNull();
  expect(await bench.state(first)).toBe("completed");
});

test("stopping finishes what was asked, ends waits, and leaves leases alone", async () => {
  const bench = await Bench.open();
  const handoff = await bench.accept();
  await bench.ack(await bench.lease());
  const waiting = bench.claim({ wait_ms: minute });
  const last = bench.accept();
  await bench.surroundings.rest();
  await bench.engine.stop();
  expect(await waiting).toHaveLength(1);
  await last;
  await expect(bench.accept()).rejects.toMatchObject({ code: 429, reason: "stopping" });
  await bench.restart();
  expect(await bench.state(handoff)).toBe("working");
});
