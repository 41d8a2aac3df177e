/** handoffs.md, "The five clocks" and "Attempts and deliveries". What a restart does to them is in durability.ts. */

import type { Check } from "../check.ts";
import { delivered, failure, sent, working } from "../stage/scenes.ts";

const clocks_section = "handoffs.md#the-five-clocks";
const attempts_section = "handoffs.md#attempts-and-deliveries";

export const clocks: readonly Check[] = [
  {
    id: "CLOCK-1",
    promise:
      "Where the sender says nothing: 10 s for the ack, 30 s for the lease, 15 min for the deadline and the queue, 3 attempts, 10 deliveries.",
    section: clocks_section,
    run: async (t) => {
      const pair = await t.pair();
      const { limits } = await pair.sender.get((await sent(pair)).id);
      const { deadline_ms, queue_ms, ack_ms, lease_ms, max_attempts, max_deliveries, retry } = limits;
      const wanted = {
        deadline_ms: 900_000,
        queue_ms: 900_000,
        ack_ms: 10_000,
        lease_ms: 30_000,
        max_attempts: 3,
        max_deliveries: 10,
        retry: "attempts",
      };
      t.equal({ deadline_ms, queue_ms, ack_ms, lease_ms, max_attempts, max_deliveries, retry }, wanted, "the limits");
    },
  },
  {
    id: "CLOCK-2",
    promise: "The deadline is the sender's, to the millisecond: not before, and soon after.",
    section: clocks_section,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const began = performance.now();
      const { id } = await sent(pair, { limits: { deadline_ms: 1_300, queue_ms: 60_000 } });
      const { deadline_at, ended_at, accepted_at, state, code } = await pair.sender.ended(id, 12_000);
      t.equal({ state, code }, { state: "expired", code: 408 }, "how it ended");
      const passed_ms = performance.now() - began;
      t.equal(deadline_at - accepted_at, 1_300, "deadline_at - accepted_at");
      t.that((ended_at ?? 0) >= deadline_at, "no end before the deadline", { ended_at, deadline_at });
      t.that(passed_ms >= 1_295, "nobody told of it before 1,300 ms had passed here, too", passed_ms);
    },
  },
  {
    id: "CLOCK-3",
    promise: "The attempt clock is the handoff's, else that of the manifest.",
    section: clocks_section,
    waits: true,
    run: async (t) => {
      const pair = await t.pair({ timeout_seconds: 1 });
      const own = await delivered(pair, { limits: { attempt_ms: 77_000 } });
      t.equal(own.attempt_ms, 77_000, "attempt_ms of a lease whose handoff says it");
      const lease = await delivered(pair, { limits: { max_attempts: 1, lease_ms: 2_000 } });
      t.equal(lease.attempt_ms, 1_000, "attempt_ms of a lease whose manifest says it");
      await pair.worker.act("ack", lease);
      await pair.worker.beatsUntilOver(lease);
      const acknowledged = await pair.sender.event(lease.id, "acknowledged");
      const { state, code, ended_at } = await pair.sender.ended(lease.id);
      t.equal({ state, code }, { state: "failed", code: 500 }, "how it ended");
      const passed_ms = (ended_at ?? 0) - acknowledged.at;
      t.that(passed_ms >= 1_000, "no end before a second had passed since the ack", passed_ms);
    },
  },
  {
    id: "CLOCK-4",
    promise: "Where neither says it, an attempt may run for 5 minutes.",
    section: clocks_section,
    run: async (t) => {
      const pair = await t.pair();
      t.equal((await delivered(pair)).attempt_ms, 300_000, "attempt_ms of the lease");
    },
  },
  {
    id: "CLOCK-5",
    promise: "The queue clock does not run while a handoff is blocked; it starts when it is unblocked.",
    section: clocks_section,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const head = await working(pair, { ordering_key: "k" });
      const next = await sent(pair, { ordering_key: "k", input: { n: 2 }, limits: { queue_ms: 1_000 } });
      await t.pause(1_600);
      t.equal((await pair.sender.get(next.id)).state, "queued", "the state while it is blocked");
      await pair.worker.act("complete", head, { output: 1 });
      const { at } = await pair.sender.event(next.id, "unblocked");
      const { state, code, ended_at } = await pair.sender.ended(next.id);
      t.equal({ state, code }, { state: "expired", code: 503 }, "how it ended");
      t.that((ended_at ?? 0) - at >= 1_000, "a full queue clock after it was unblocked", (ended_at ?? 0) - at);
    },
  },
  {
    id: "CLOCK-6",
    promise: "The attempt clock starts with the ack, not with the delivery.",
    section: clocks_section,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await delivered(pair, { limits: { attempt_ms: 1_200, max_attempts: 1, lease_ms: 2_000 } });
      await t.pause(1_600);
      t.equal((await pair.worker.act("ack", lease)).state, "working", "the state after a late ack");
      await pair.worker.beatsUntilOver(lease);
      const { at } = await pair.sender.event(lease.id, "acknowledged");
      const { ended_at } = await pair.sender.ended(lease.id);
      t.that((ended_at ?? 0) - at >= 1_200, "a full attempt after the ack", (ended_at ?? 0) - at);
    },
  },
  {
    id: "ATTEMPT-1",
    promise: "Three attempts are made, each after a longer backoff, and the third failure ends the handoff.",
    section: attempts_section,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await sent(pair);
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        const lease = await pair.worker.lease();
        t.equal(lease.attempt, attempt, "the number of the attempt");
        await pair.worker.act("fail", lease, { error: failure, retryable: true });
      }
      const { state, code, attempts, failures } = await pair.sender.get(id);
      t.equal({ state, code, attempts }, { state: "failed", code: 500, attempts: 3 }, "how it ended");
      t.equal(
        failures.map(({ fence }) => fence),
        [1, 2, 3],
        "the fences of its failures",
      );
      const delays = (await pair.sender.events(id))
        .filter(({ type }) => type === "requeued")
        .map((event) => Number(event["ready_at"]) - event.at);
      const [first = 0, second = 0] = delays;
      t.that(first >= 500 && first <= 1_000, "a first backoff of 500 to 1,000 ms", first);
      t.that(second >= 1_000 && second <= 2_000, "a second backoff of 1,000 to 2,000 ms", second);
    },
  },
  {
    id: "ATTEMPT-2",
    promise: "The sender decides how many attempts there are.",
    section: attempts_section,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair, { limits: { max_attempts: 1 } });
      await pair.worker.act("fail", lease, { error: failure, retryable: true });
      t.equal((await pair.sender.get(lease.id)).state, "failed", "the state after the only attempt");
    },
  },
  {
    id: "ATTEMPT-3",
    promise:
      "A retry that could not start before the deadline is not waited for: the handoff ends now, with the outcome of the attempt.",
    section: attempts_section,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair, { limits: { deadline_ms: 30_000 } });
      await pair.worker.act("fail", lease, { error: failure, retryable: true, retry_after_ms: 40_000 });
      const { state, code, outcome } = await pair.sender.get(lease.id);
      t.equal({ state, code, error: outcome?.error }, { state: "failed", code: 500, error: failure }, "how it ended");
    },
  },
  {
    id: "ATTEMPT-4",
    promise: "`until_ack`: once acknowledged, a failure is the end, never a second attempt.",
    section: attempts_section,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair, { limits: { retry: "until_ack" } });
      await pair.worker.act("fail", lease, { error: failure, retryable: true });
      const { state, code } = await pair.sender.get(lease.id);
      t.equal({ state, code }, { state: "failed", code: 500 }, "how it ended");
    },
  },
  {
    id: "ATTEMPT-5",
    promise: "`until_ack`: once acknowledged, a lost lease is a dead letter, 521.",
    section: attempts_section,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair, { limits: { retry: "until_ack", lease_ms: 2_000 } });
      const { state, code, dead_letter } = await pair.sender.ended(lease.id);
      t.equal(
        { state, code, status: dead_letter?.status },
        { state: "failed", code: 521, status: "open" },
        "how it ended",
      );
    },
  },
  {
    id: "ATTEMPT-6",
    promise: "`until_ack`: before the ack, deliveries are repeated as ever.",
    section: attempts_section,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await delivered(pair, { limits: { retry: "until_ack", ack_ms: 500, lease_ms: 2_000 } });
      const next = await pair.worker.lease();
      t.equal({ id: next.id, fence: next.fence }, { id: lease.id, fence: 2 }, "the next delivery");
    },
  },
  {
    id: "ATTEMPT-7",
    promise: "`until_ack`: release and reject still give the handoff back.",
    section: attempts_section,
    run: async (t) => {
      const pair = await t.pair();
      const other = await t.agent(pair.capability);
      const lease = await working(pair, { limits: { retry: "until_ack" } });
      await pair.worker.act("release", lease);
      t.equal((await pair.sender.get(lease.id)).state, "queued", "the state after a release");
      const next = await pair.worker.lease();
      await pair.worker.act("ack", next);
      await pair.worker.act("reject", next, { error: failure });
      t.equal((await other.lease()).id, lease.id, "what another agent is given after a reject");
    },
  },
  {
    id: "ATTEMPT-8",
    promise: "`idempotent: false` in the manifest of the agent that took it is as good as `until_ack`.",
    section: attempts_section,
    run: async (t) => {
      const pair = await t.pair({ idempotent: false });
      const lease = await working(pair);
      await pair.worker.act("fail", lease, { error: failure, retryable: true });
      t.equal((await pair.sender.get(lease.id)).state, "failed", "the state after the only attempt");
    },
  },
  {
    id: "ATTEMPT-9",
    promise: "A reject gives the attempt back: whoever takes it next has all of them.",
    section: attempts_section,
    run: async (t) => {
      const pair = await t.pair();
      const other = await t.agent(pair.capability);
      const lease = await working(pair, { limits: { max_attempts: 1 } });
      await pair.worker.act("reject", lease, { error: failure });
      const next = await other.lease();
      t.equal(next.attempt, 1, "the number of the next attempt");
      await other.act("complete", next, { output: 1 });
      t.equal((await pair.sender.get(lease.id)).attempts, 1, "attempts in the end");
    },
  },
  {
    id: "ATTEMPT-10",
    promise:
      "A claim that its caller has given up before it was answered counts nothing: what it would have brought goes to the next.",
    section: attempts_section,
    run: async (t) => {
      const pair = await t.pair();
      const gone = AbortSignal.timeout(400);
      const body = { worker: "gone" };
      await pair.worker.call("claim", { body, wait_ms: 20_000, signal: gone }).catch(() => undefined);
      const { id } = await sent(pair);
      const lease = await pair.worker.lease({ worker: "here" });
      t.equal(lease.id, id, "what the next claim brings");
      const { deliveries, attempts } = await pair.sender.get(id);
      t.equal({ deliveries, attempts }, { deliveries: 0, attempts: 0 }, "what was counted");
    },
  },
];
