/** ids-and-idempotency.md, "Fences", "What is said twice", "Late outcomes" and "For handlers". */

import type { Check } from "../check.ts";
import { completed, dead, delivered, failure, sent, working } from "../stage/scenes.ts";

const fences = "ids-and-idempotency.md#fences";
const twice = "ids-and-idempotency.md#what-is-said-twice";
const late_section = "ids-and-idempotency.md#late-outcomes";

export const saidTwice: readonly Check[] = [
  {
    id: "FENCE-1",
    promise: "Each delivery raises the handoff's fence by one.",
    section: fences,
    run: async (t) => {
      const pair = await t.pair();
      await sent(pair);
      for (let fence = 1; fence <= 4; fence += 1) {
        const lease = await pair.worker.lease();
        t.equal(lease.fence, fence, "the fence");
        await pair.worker.act("release", lease);
      }
    },
  },
  {
    id: "FENCE-2",
    promise: "Acts under a fence that is over are 412 and change nothing.",
    section: fences,
    features: ["questions"],
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker } = pair;
      const stale = await working(pair);
      await worker.act("release", stale);
      const live = await worker.lease();
      await worker.act("ack", live);
      const before = await sender.get(stale.id);
      await worker.refusedAct("ack", stale, {}, 412, "lease_lost");
      await worker.refusedAct("heartbeat", stale, { progress: { fraction: 1 } }, 412, "lease_lost");
      await worker.refusedAct("checkpoint", stale, { state: 1 }, 412, "lease_lost");
      await worker.refusedAct("ask", stale, { question: "which?" }, 412, "lease_lost");
      await worker.refusedAct("release", stale, {}, 412, "lease_lost");
      const { version, seq, ...after } = await sender.get(stale.id);
      const { version: _version, seq: _seq, ...wanted } = before;
      t.equal(after, wanted, "the handoff");
      t.equal(seq, before.seq, "seq");
      await worker.act("complete", live, { output: 1 });
    },
  },
  {
    id: "FENCE-3",
    promise: "A lease of another agent is 403, foreign_lease, whether it lives or is over.",
    section: fences,
    run: async (t) => {
      const pair = await t.pair();
      const other = await t.agent(pair.capability);
      const first = await delivered(pair);
      await pair.worker.act("release", first);
      const live = await other.lease();
      await pair.worker.refusedAct("complete", live, { output: 1 }, 403, "foreign_lease");
      await other.refusedAct("complete", first, { output: 1 }, 403, "foreign_lease");
      t.equal((await pair.sender.get(first.id)).late, [], "late outcomes");
      await other.act("complete", live, { output: 1 });
    },
  },
  {
    id: "FENCE-4",
    promise:
      "A lease belongs to an agent and a worker, not to a connection: over another connection the work goes on under the same fence.",
    section: fences,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      pair.worker.link.close();
      const again = t.again(pair.worker);
      t.equal((await again.act("heartbeat", lease)).state, "working", "the answer to a beat over another connection");
      await again.act("complete", lease, { output: 1 });
      t.equal((await pair.sender.get(lease.id)).fence, 1, "the fence");
    },
  },
  {
    id: "FENCE-5",
    promise: "A fence that was never given is 412.",
    section: fences,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      await pair.worker.refusedAct("complete", { id: lease.id, fence: 7 }, { output: 1 }, 412, "lease_lost");
      t.equal((await pair.sender.get(lease.id)).state, "working", "the state");
    },
  },
  {
    id: "TWICE-1",
    promise: "A claim repeated with its request id brings the same leases, and no others.",
    section: twice,
    run: async (t) => {
      const pair = await t.pair();
      for (const n of [1, 2, 3]) await sent(pair, { input: { n } });
      const first = await pair.worker.claim({ slots: 2, request_id: "r1" });
      const again = await pair.worker.claim({ slots: 2, request_id: "r1" });
      const named = (leases: typeof first) => leases.map(({ id, fence }) => `${id} ${fence}`).toSorted();
      t.equal(first.length, 2, "how many leases the first claim brought");
      t.equal(named(again), named(first), "the leases again");
    },
  },
  {
    id: "TWICE-2",
    promise: "A repeated claim brings the leases as far as they still live.",
    section: twice,
    run: async (t) => {
      const pair = await t.pair();
      for (const n of [1, 2]) await sent(pair, { input: { n } });
      const [one, two] = await pair.worker.claim({ slots: 2, request_id: "r1" });
      if (one === undefined || two === undefined) return t.that(false, "two leases", { one, two });
      await pair.worker.act("complete", one, { output: 1 });
      const again = await pair.worker.claim({ slots: 2, request_id: "r1" });
      t.equal(
        again.map(({ id }) => id),
        [two.id],
        "the leases again",
      );
    },
  },
  {
    id: "TWICE-3",
    promise: "A repeated ack is answered as the first time, also after the outcome.",
    section: twice,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      t.equal((await pair.worker.act("ack", lease)).state, "working", "the answer while it is worked on");
      await pair.worker.act("complete", lease, { output: 1 });
      await pair.worker.act("ack", lease);
      const types = await pair.sender.eventTypes(lease.id);
      t.equal(types.filter((type) => type === "acknowledged").length, 1, "how many acks there are");
      t.equal((await pair.sender.get(lease.id)).attempts, 1, "attempts");
    },
  },
  {
    id: "TWICE-4",
    promise:
      "A repeated fail that ended an attempt is answered as the first time; another outcome under that fence is 409.",
    section: twice,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      const said = { error: failure, retryable: true };
      await pair.worker.act("fail", lease, said);
      await pair.worker.act("fail", lease, said);
      await pair.worker.refusedAct("complete", lease, { output: 1 }, 409, "outcome_conflict");
      const { attempts, failures, state } = await pair.sender.get(lease.id);
      t.equal(
        { attempts, failures: failures.length, state },
        { attempts: 1, failures: 1, state: "queued" },
        "the handoff",
      );
    },
  },
  {
    id: "TWICE-5",
    promise: "A repeated reject is answered as the first time.",
    section: twice,
    run: async (t) => {
      const pair = await t.pair();
      await t.agent(pair.capability);
      const lease = await delivered(pair);
      await pair.worker.act("reject", lease, { error: failure });
      await pair.worker.act("reject", lease, { error: failure });
      const types = await pair.sender.eventTypes(lease.id);
      t.equal(types.filter((type) => type === "requeued").length, 1, "how often it was requeued");
    },
  },
  {
    id: "TWICE-6",
    promise: "A repeated release is 412: the fence is over.",
    section: twice,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      await pair.worker.act("release", lease);
      await pair.worker.refusedAct("release", lease, {}, 412, "lease_lost");
    },
  },
  {
    id: "TWICE-7",
    promise: "A repeated question is answered as the first time, also after its answer.",
    section: twice,
    features: ["questions"],
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      const body = { question: "which?", question_id: "q" };
      const first = await pair.worker.act("ask", lease, body);
      t.equal((await pair.worker.act("ask", lease, body)).id, first.id, "the id again");
      await pair.sender.ok("answer", { params: { id: first.id }, body: { answer: "this" } });
      const again = await pair.worker.act("ask", lease, body);
      t.equal(
        { id: again.id, resolution: again.resolution },
        { id: first.id, resolution: "answered" },
        "the question after the answer",
      );
      t.equal((await pair.sender.get(lease.id)).state, "working", "the state");
      const types = await pair.sender.eventTypes(lease.id);
      t.equal(types.filter((type) => type === "asked").length, 1, "how often it was asked");
    },
  },
  {
    id: "TWICE-8",
    promise: "A repeated answer is answered as the first time, also after the end; another answer is 409.",
    section: twice,
    features: ["questions"],
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      const { id } = await pair.worker.act("ask", lease, { question: "which?" });
      const params = { id };
      await pair.sender.ok("answer", { params, body: { answer: { a: 1, b: 2 } } });
      await pair.sender.ok("answer", { params, body: { answer: { b: 2, a: 1 } } });
      await pair.sender.refused("answer", { params, body: { answer: "that" } }, 409, "already_answered");
      await pair.worker.act("complete", lease, { output: 1 });
      const again = await pair.sender.ok("answer", { params, body: { answer: { a: 1, b: 2 } } });
      t.equal(again.answer, { a: 1, b: 2 }, "the answer that stands");
      await pair.sender.refused("answer", { params, body: { answer: "that" } }, 409, "already_answered");
      const types = await pair.sender.eventTypes(lease.id);
      t.equal(types.filter((type) => type === "answered").length, 1, "how often it was answered");
    },
  },
  {
    id: "TWICE-9",
    promise: "A question's id is asked once: the same id under another fence is 409.",
    section: twice,
    features: ["questions"],
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      const body = { question: "which?", question_id: "q" };
      const { id } = await pair.worker.act("ask", lease, { ...body, park: true });
      await pair.sender.ok("answer", { params: { id }, body: { answer: "this" } });
      const next = await pair.worker.lease();
      await pair.worker.refusedAct("ask", next, body, 409, "question_taken");
    },
  },
  {
    id: "TWICE-10",
    promise: "A repeated take is answered as the first time.",
    section: twice,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await completed(pair);
      const first = await pair.sender.ok("take", { params: { id }, body: {} });
      await t.pause(20);
      const again = await pair.sender.ok("take", { params: { id }, body: {} });
      t.equal(again.taken_at, first.taken_at, "taken_at");
      const types = await pair.sender.eventTypes(id);
      t.equal(types.filter((type) => type === "taken").length, 1, "how often it was taken");
    },
  },
  {
    id: "TWICE-11",
    promise: "A repeated cancel is answered with the outcome that stands, a repeated discard as the first time.",
    section: twice,
    features: ["redrive"],
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await sent(pair);
      const first = await pair.sender.ok("cancel", { params: { id }, body: { reason: "no need" } });
      const again = await pair.sender.ok("cancel", { params: { id }, body: { reason: "another" } });
      t.equal(again.outcome, first.outcome, "the outcome");
      const letter = await dead(pair);
      await pair.sender.ok("discard", { params: { id: letter.id }, body: {} });
      await pair.sender.ok("discard", { params: { id: letter.id }, body: {} });
      const types = await pair.sender.eventTypes(letter.id);
      t.equal(types.filter((type) => type === "discarded").length, 1, "how often it was discarded");
    },
  },
  {
    id: "TWICE-12",
    promise: "Each checkpoint is written under the next number, and the last one counts.",
    section: twice,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      const numbers: number[] = [];
      for (const state of ["a", "a", "b"]) numbers.push((await pair.worker.act("checkpoint", lease, { state })).number);
      t.equal(numbers, [1, 2, 3], "the numbers");
      await pair.worker.act("release", lease);
      const next = await pair.worker.lease();
      t.equal(next.checkpoint?.state, "b", "the state in the next lease");
      t.equal((await pair.worker.act("checkpoint", next, { state: "c" })).number, 4, "the number under the next fence");
    },
  },
  {
    id: "KEPT-1",
    promise: "At most one late outcome per fence is kept.",
    section: late_section,
    run: async (t) => {
      const pair = await t.pair();
      const stale = await working(pair);
      await pair.worker.act("release", stale);
      await pair.worker.refusedAct("complete", stale, { output: "one" }, 412, "lease_lost");
      await pair.worker.refusedAct("complete", stale, { output: "two" }, 412, "lease_lost");
      await pair.worker.refusedAct("fail", stale, { error: failure }, 412, "lease_lost");
      const { late } = await pair.sender.get(stale.id);
      t.equal(
        late.map(({ outcome }) => outcome.output),
        ["one"],
        "the late outcomes",
      );
      const types = await pair.sender.eventTypes(stale.id);
      t.equal(types.filter((type) => type === "late").length, 1, "events `late`");
    },
  },
  {
    id: "KEPT-2",
    promise: "A late outcome is kept whatever the end of the handoff: also after it expired.",
    section: late_section,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair, { limits: { deadline_ms: 4_000 } });
      await pair.sender.ended(lease.id);
      await pair.worker.refusedAct("complete", lease, { output: "too late" }, 408, "deadline_passed");
      const { state, late } = await pair.sender.get(lease.id);
      t.equal(
        { state, late: late.map(({ outcome }) => outcome.output) },
        { state: "expired", late: ["too late"] },
        "the handoff",
      );
      t.equal((await pair.sender.eventTypes(lease.id)).at(-1), "late", "the last event");
    },
  },
  {
    id: "KEPT-3",
    promise: "The usage of a late outcome is charged, once.",
    section: late_section,
    run: async (t) => {
      const pair = await t.pair();
      const stale = await working(pair);
      await pair.worker.act("release", stale);
      const said = { output: 1, usage: { cost: 40, tokens: 4 } };
      await pair.worker.refusedAct("complete", stale, said, 412, "lease_lost");
      await pair.worker.refusedAct("complete", stale, said, 412, "lease_lost");
      const { spent } = await pair.sender.get(stale.id);
      t.equal({ cost: spent.cost, tokens: spent.tokens }, { cost: 40, tokens: 4 }, "what was spent");
    },
  },
  {
    id: "KEPT-4",
    promise: "What nobody held is not kept: an outcome of an agent that never had the fence leaves nothing.",
    section: late_section,
    run: async (t) => {
      const pair = await t.pair();
      const stranger = await t.agent(pair.capability);
      const lease = await working(pair);
      await stranger.refusedAct("complete", lease, { output: "mine" }, 404, "unknown_handoff");
      await pair.worker.refusedAct("complete", { id: lease.id, fence: 9 }, { output: "mine" }, 412, "lease_lost");
      const { late, state } = await pair.sender.get(lease.id);
      t.equal({ late, state }, { late: [], state: "working" }, "the handoff");
    },
  },
  {
    id: "HANDLER-1",
    promise: "A handler's id and idempotency key are equal over all attempts, and its fence grows.",
    section: "ids-and-idempotency.md#for-handlers",
    run: async (t) => {
      const pair = await t.pair();
      const one = await working(pair, { idempotency_key: "the key" });
      await pair.worker.act("release", one);
      const two = await pair.worker.lease();
      t.equal([two.id, two.idempotency_key], [one.id, "the key"], "id and key of the next attempt");
      t.that(two.fence > one.fence, "a greater fence", { one: one.fence, two: two.fence });
    },
  },
];
