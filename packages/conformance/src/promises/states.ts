/** handoffs.md, "States" and "Commands": what a handoff can be, and in which order a command is decided. */

import type { Check } from "../check.ts";
import { completed, delivered, failure, sent, working } from "../stage/scenes.ts";

export const states: readonly Check[] = [
  {
    id: "STATE-1",
    promise: "A handoff goes from queued to delivered, working, waiting, working and completed.",
    section: "handoffs.md#states",
    features: ["questions"],
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker } = pair;
      const { id } = await sent(pair);
      const seen = [(await sender.get(id)).state];
      const look = async () => seen.push((await sender.get(id)).state);
      const lease = await worker.lease();
      await look();
      await worker.act("ack", lease);
      await look();
      const question = await worker.act("ask", lease, { question: "which?" });
      await look();
      await sender.ok("answer", { params: { id: question.id }, body: { answer: "this" } });
      await look();
      await worker.act("complete", lease, { output: 1 });
      await look();
      t.equal(seen, ["queued", "delivered", "working", "waiting", "working", "completed"], "the states");
    },
  },
  {
    id: "STATE-2",
    promise: "There is no way out of an end: whatever is said after it changes neither state nor outcome.",
    section: "handoffs.md#states",
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker } = pair;
      const lease = await completed(pair, {}, { answer: 42 });
      const before = await sender.get(lease.id);
      await worker.refusedAct("complete", lease, { output: { answer: 43 } }, 409, "outcome_conflict");
      await worker.refusedAct("fail", lease, { error: failure }, 409, "outcome_conflict");
      await worker.refusedAct("reject", lease, { error: failure }, 409, "outcome_conflict");
      await worker.refusedAct("release", lease, {}, 412, "lease_lost");
      await worker.refusedAct("heartbeat", lease, {}, 412, "lease_lost");
      await sender.ok("cancel", { params: { id: lease.id }, body: {} });
      const after = await sender.get(lease.id);
      t.equal(after.state, "completed", "state");
      t.equal(after.outcome, before.outcome, "the outcome");
      t.equal(after.ended_at, before.ended_at, "ended_at");
    },
  },
  {
    id: "STATE-3",
    promise: "While a lease lives, there is no other.",
    section: "handoffs.md#states",
    run: async (t) => {
      const pair = await t.pair();
      const lease = await delivered(pair);
      t.equal(
        await pair.worker.claim({ worker: "w2", slots: 5 }),
        [],
        "what another worker gets while it is delivered",
      );
      await pair.worker.act("ack", lease);
      t.equal(
        await pair.worker.claim({ worker: "w2", slots: 5 }),
        [],
        "what another worker gets while it is worked on",
      );
    },
  },
  {
    id: "STATE-4",
    promise: "A handoff ends exactly once, also when outcome and cancel come at the same moment.",
    section: "handoffs.md#states",
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker } = pair;
      const ends = new Set(["completed", "failed", "rejected", "canceled", "expired"]);
      for (let round = 0; round < 6; round += 1) {
        const lease = await working(pair);
        const params = { id: lease.id };
        await Promise.all([
          worker.call("complete", { params, body: { fence: lease.fence, output: round } }),
          sender.call("cancel", { params, body: {} }),
          worker.call("fail", { params, body: { fence: lease.fence, error: failure } }),
        ]);
        const ended = (await sender.eventTypes(lease.id)).filter((type) => ends.has(type));
        t.equal(ended, [(await sender.get(lease.id)).state], "events of an end, and the state");
      }
    },
  },
  {
    id: "CMD-1",
    promise: "Time decides, not the timer: a command that comes at the deadline or later finds the handoff expired.",
    section: "handoffs.md#commands",
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair, { limits: { deadline_ms: 4_000 } });
      const { deadline_at } = await pair.sender.get(lease.id);
      let answer = await pair.worker.call("heartbeat", { params: { id: lease.id }, body: { fence: lease.fence } });
      const until = performance.now() + 15_000;
      // `at` is when the answer was written: the command may have been carried out just before, the next one cannot.
      let sent_at = 0;
      while (answer.status === 200 && performance.now() < until) {
        t.that(sent_at < deadline_at, `no command carried out that was sent at ${deadline_at} or later`, sent_at);
        const { body } = answer;
        if (typeof body === "object" && body !== null && "at" in body) sent_at = Number(body.at);
        answer = await pair.worker.call("heartbeat", { params: { id: lease.id }, body: { fence: lease.fence } });
      }
      t.equal(answer.status, 408, "the answer to the first beat after the deadline");
      const { state, code, ended_at } = await pair.sender.get(lease.id);
      t.equal({ state, code }, { state: "expired", code: 408 }, "how it ended");
      t.that((ended_at ?? 0) >= deadline_at, "no end before the deadline", { ended_at, deadline_at });
    },
  },
  {
    id: "CMD-2",
    promise: "What time changed stands, also when the command is then refused.",
    section: "handoffs.md#commands",
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await delivered(pair, { limits: { ack_ms: 700, lease_ms: 2_000 } });
      const { code, reason } = await pair.worker.beatsUntilOver(lease);
      t.equal({ code, reason }, { code: 412, reason: "lease_lost" }, "the refusal");
      const types = await pair.sender.eventTypes(lease.id);
      t.equal(types.slice(0, 3), ["accepted", "delivered", "requeued"], "its events");
    },
  },
  {
    id: "CMD-3",
    promise:
      "A repeat of what was carried out is answered as the first time before anything else is looked at: also after the end.",
    section: "handoffs.md#commands",
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      const first = await pair.worker.act("complete", lease, { output: { done: true } });
      const again = await pair.worker.act("complete", lease, { output: { done: true } });
      t.equal({ state: again.state, code: again.code }, { state: first.state, code: first.code }, "the answer again");
      const types = await pair.sender.eventTypes(lease.id);
      t.equal(
        types.filter((type) => type === "completed"),
        ["completed"],
        "its end",
      );
    },
  },
];
