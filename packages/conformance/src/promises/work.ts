/** handoffs.md, "Work": beats, checkpoints, release, and the two clocks that run while a worker works. */

import type { Check } from "../check.ts";
import { failure, working } from "../stage/scenes.ts";

const section = "handoffs.md#work";

export const work: readonly Check[] = [
  {
    id: "WORK-1",
    promise: "A worker that beats keeps its lease for as long as it beats.",
    section,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair, { limits: { lease_ms: 4_000 } });
      for (let beats = 0; beats < 6; beats += 1) {
        await t.pause(1_000);
        t.equal((await pair.worker.act("heartbeat", lease)).state, "working", "the answer to a beat");
      }
      await pair.worker.act("complete", lease, { output: 1 });
      t.equal((await pair.sender.get(lease.id)).fence, 1, "the fence it was completed under");
    },
  },
  {
    id: "WORK-2",
    promise: "Progress that a beat brings reaches the sender as whole state, and the handoff's code is 212.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      await pair.worker.act("heartbeat", lease, { progress: { fraction: 0.25, note: "reading" } });
      await pair.worker.act("heartbeat", lease, { progress: { fraction: 0.5 } });
      const { code, progress } = await pair.sender.get(lease.id);
      t.equal(code, 212, "the code");
      t.equal({ fraction: progress?.fraction, note: progress?.note }, { fraction: 0.5, note: null }, "the progress");
    },
  },
  {
    id: "WORK-3",
    promise: "The last checkpoint and the earlier failures reach the next attempt.",
    section,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      t.equal((await pair.worker.act("checkpoint", lease, { state: { page: 1 } })).number, 1, "the first number");
      t.equal((await pair.worker.act("checkpoint", lease, { state: { page: 2 } })).number, 2, "the second number");
      await pair.worker.act("fail", lease, { error: failure, retryable: true });
      const next = await pair.worker.lease();
      t.equal(next.checkpoint, { fence: 1, number: 2, state: { page: 2 } }, "the checkpoint in the next lease");
      const told = next.failures.map(({ fence, code, error }) => ({ fence, code, reason: error.reason }));
      t.equal(told, [{ fence: 1, code: 500, reason: "no_luck" }], "the failures in the next lease");
      t.equal(next.attempt, 2, "the number of the next attempt");
    },
  },
  {
    id: "WORK-4",
    promise: "A checkpoint of up to 256 KB is kept; a larger one is refused with 413.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      await pair.worker.act("checkpoint", lease, { state: "x".repeat(250_000) });
      await pair.worker.refusedAct("checkpoint", lease, { state: "x".repeat(270_000) }, 413);
      t.equal((await pair.sender.get(lease.id)).checkpoint?.number, 1, "the number of the checkpoint that is kept");
    },
  },
  {
    id: "WORK-5",
    promise: "Work that its holder releases is queued at once, and the attempt is not counted.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      await pair.worker.act("release", lease);
      const { state, attempts, ready_at } = await pair.sender.get(lease.id);
      t.equal({ state, attempts }, { state: "queued", attempts: 0 }, "the handoff");
      const event = await pair.sender.event(lease.id, "requeued");
      t.equal({ why: event["why"], ready_at }, { why: "released", ready_at: event.at }, "the event `requeued`");
    },
  },
  {
    id: "WORK-6",
    promise:
      "Without a beat for as long as the lease the attempt is lost: the handoff is queued at once for the next, and the fence is over.",
    section,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair, { limits: { lease_ms: 2_000 } });
      const { at } = await pair.sender.event(lease.id, "acknowledged");
      const event = await pair.sender.event(lease.id, "requeued");
      t.equal({ why: event["why"], code: event["code"] }, { why: "lease_lost", code: 521 }, "the event `requeued`");
      t.that(event.at - at >= 2_000, "no loss before 2,000 ms", event.at - at);
      t.equal(event["ready_at"], event.at, "when it is ready again");
      await pair.worker.refusedAct("heartbeat", lease, {}, 412, "lease_lost");
      const next = await pair.worker.lease();
      t.equal({ fence: next.fence, attempt: next.attempt }, { fence: 2, attempt: 2 }, "the next delivery");
    },
  },
  {
    id: "WORK-7",
    promise: "A lease that is lost with the last attempt ends the handoff as failed, 521.",
    section,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair, { limits: { lease_ms: 2_000, max_attempts: 1 } });
      const { state, code } = await pair.sender.ended(lease.id);
      t.equal({ state, code }, { state: "failed", code: 521 }, "how it ended");
    },
  },
  {
    id: "WORK-8",
    promise: "An attempt that runs too long is lost although its worker beats, and the next begins after the backoff.",
    section,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair, { limits: { attempt_ms: 1_200, lease_ms: 2_000 } });
      const { at } = await pair.sender.event(lease.id, "acknowledged");
      t.equal((await pair.worker.beatsUntilOver(lease)).code, 412, "what the worker is told in the end");
      const event = await pair.sender.event(lease.id, "requeued");
      t.equal(
        { why: event["why"], code: event["code"] },
        { why: "attempt_timeout", code: 500 },
        "the event `requeued`",
      );
      t.that(event.at - at >= 1_200, "no loss before 1,200 ms", event.at - at);
      const delay_ms = Number(event["ready_at"]) - event.at;
      t.that(delay_ms >= 500 && delay_ms <= 1_000, "a backoff of 500 to 1,000 ms", delay_ms);
      t.equal((await pair.worker.lease()).attempt, 2, "the number of the next attempt");
    },
  },
  {
    id: "WORK-9",
    promise: "An attempt that runs too long and was the last ends the handoff as failed, 500.",
    section,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair, { limits: { attempt_ms: 700, max_attempts: 1, lease_ms: 2_000 } });
      await pair.worker.beatsUntilOver(lease);
      const { state, code } = await pair.sender.ended(lease.id);
      t.equal({ state, code }, { state: "failed", code: 500 }, "how it ended");
    },
  },
];
