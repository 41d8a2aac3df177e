/** handoffs.md, "From any state that is not an end", "From an end", "Repeats and lateness" and "Cancel". */

import type { HandoffView } from "@handfast/protocol/wire";
import type { Check } from "../check.ts";
import type { Caller } from "../stage/caller.ts";
import { completed, dead, delivered, failure, sent, working } from "../stage/scenes.ts";

const open = "handoffs.md#from-any-state-that-is-not-an-end";
const ended = "handoffs.md#from-an-end";
const cancel_section = "handoffs.md#cancel";

function cancel(by: Caller, id: string): Promise<HandoffView> {
  return by.ok("cancel", { params: { id }, body: {} });
}

export const ends: readonly Check[] = [
  {
    id: "OPEN-1",
    promise: "The deadline ends a handoff in whatever state it is: expired, 408.",
    section: open,
    features: ["questions"],
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const limits = { deadline_ms: 7_000 };
      const [waiting, work, deliver] = [
        await working(pair, { limits }),
        await working(pair, { limits }),
        await delivered(pair, { limits }),
      ];
      await pair.worker.act("ask", waiting, { question: "which?" });
      const queued = await sent(pair, { limits });
      for (const { id } of [waiting, work, deliver, queued]) {
        const { state, code, ended_at, deadline_at } = await pair.sender.ended(id);
        t.equal({ state, code }, { state: "expired", code: 408 }, "how it ended");
        t.that((ended_at ?? 0) >= deadline_at, "no end before the deadline", { ended_at, deadline_at });
      }
      await pair.worker.refusedAct("heartbeat", work, {}, 408, "deadline_passed");
    },
  },
  {
    id: "OPEN-2",
    promise: "The queue clock ends what nobody takes in time: expired, 503.",
    section: open,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await sent(pair, { limits: { queue_ms: 900 } });
      const { state, code, ended_at, accepted_at } = await pair.sender.ended(id);
      t.equal({ state, code }, { state: "expired", code: 503 }, "how it ended");
      t.that((ended_at ?? 0) - accepted_at >= 900, "no end before 900 ms", (ended_at ?? 0) - accepted_at);
    },
  },
  {
    id: "OPEN-3",
    promise: "The queue clock runs only while a handoff is queued.",
    section: open,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      // A worker that waits is given it in the moment of its acceptance.
      const waiting = t.meanwhile(pair.worker.claim({}, 20_000));
      await pair.worker.asking();
      const { id } = await sent(pair, { limits: { queue_ms: 1_500 } });
      await waiting;
      await t.pause(2_000);
      t.equal((await pair.sender.get(id)).state, "delivered", "the state after the time in the queue would be over");
    },
  },
  {
    id: "OPEN-4",
    promise: "The sender can cancel a handoff in whatever state it is: canceled, 410.",
    section: open,
    features: ["questions"],
    run: async (t) => {
      const pair = await t.pair();
      const waiting = await working(pair);
      await pair.worker.act("ask", waiting, { question: "which?" });
      const [work, deliver] = [await working(pair), await delivered(pair)];
      const queued = await sent(pair);
      for (const { id } of [waiting, work, deliver, queued]) {
        const { state, code } = await cancel(pair.sender, id);
        t.equal({ state, code }, { state: "canceled", code: 410 }, "the answer to the cancel");
        t.equal((await pair.sender.event(id, "canceled"))["by"], pair.sender.name, "by whom");
      }
      await pair.worker.refusedAct("heartbeat", work, {}, 410, "canceled");
      t.equal(await pair.worker.claim({ slots: 5 }), [], "what is delivered afterwards");
    },
  },
  {
    id: "OPEN-5",
    promise: "An operator can cancel, and the event says so.",
    section: open,
    needs: ["operator"],
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await sent(pair);
      t.equal((await cancel(t.operator(), id)).state, "canceled", "the state");
      const by = (await pair.sender.event(id, "canceled"))["by"];
      t.that(String(by).startsWith("operator:"), "by `operator:<name>`", by);
    },
  },
  {
    id: "END-1",
    promise: "A cancel after an end changes nothing and is answered with the outcome that stands.",
    section: ended,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await completed(pair, {}, { n: 42 });
      const { state, code, outcome } = await cancel(pair.sender, lease.id);
      t.equal(
        { state, code, output: outcome?.output },
        { state: "completed", code: 200, output: { n: 42 } },
        "the answer",
      );
      t.equal(
        (await pair.sender.eventTypes(lease.id)).includes("canceled"),
        false,
        "whether there is an event `canceled`",
      );
      const letter = await dead(pair);
      t.equal((await cancel(pair.sender, letter.id)).state, "failed", "the state of a failed one");
    },
  },
  {
    id: "END-2",
    promise: "There is nothing to take before the end: 409.",
    section: ended,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await sent(pair);
      await pair.sender.refused("take", { params: { id }, body: {} }, 409, "not_ended");
    },
  },
  {
    id: "END-3",
    promise: "Only the sender or an operator may take, cancel, redrive or discard.",
    section: ended,
    features: ["redrive"],
    run: async (t) => {
      const pair = await t.pair();
      const lease = await dead(pair);
      const params = { id: lease.id };
      await pair.worker.refused("take", { params, body: {} }, 403, "not_yours");
      const redrive = await pair.worker.call("redrive", { params, body: {} });
      t.that([403, 404].includes(redrive.status), "a redrive by the worker to be refused", redrive.status);
      const discard = await pair.worker.call("discard", { params, body: {} });
      t.that([403, 404].includes(discard.status), "a discard by the worker to be refused", discard.status);
      const { dead_letter, taken_at } = await pair.sender.get(lease.id);
      t.equal({ status: dead_letter?.status, taken_at }, { status: "open", taken_at: null }, "the dead letter");
    },
  },
  {
    id: "CANCEL-1",
    promise: "The first commit wins: an outcome after a cancel is 410, and kept as late.",
    section: cancel_section,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      await cancel(pair.sender, lease.id);
      await pair.worker.refusedAct("complete", lease, { output: { n: 7 } }, 410, "canceled");
      const { state, late } = await pair.sender.get(lease.id);
      t.equal(state, "canceled", "the state");
      t.equal(
        late.map(({ outcome }) => outcome.output),
        [{ n: 7 }],
        "the late outcomes",
      );
    },
  },
  {
    id: "CANCEL-2",
    promise: "Nobody but the sender and operators can cancel: its worker is told 403, a stranger 404.",
    section: cancel_section,
    run: async (t) => {
      const [pair, stranger] = await Promise.all([t.pair(), t.agent()]);
      const lease = await working(pair);
      const params = { id: lease.id };
      await pair.worker.refused("cancel", { params, body: {} }, 403, "not_yours");
      await stranger.refused("cancel", { params, body: {} }, 404, "unknown_handoff");
      t.equal((await pair.sender.get(lease.id)).state, "working", "the state");
    },
  },
  {
    id: "CANCEL-3",
    promise: "A broken wait cancels nothing.",
    section: cancel_section,
    run: async (t) => {
      const pair = await t.pair();
      const key = t.name("key");
      const body = { capability: pair.capability, input: { n: 1 }, idempotency_key: key };
      const wait = pair.sender.call("submit", { body, wait_ms: 20_000, signal: AbortSignal.timeout(700) });
      await wait.catch(() => undefined);
      const { id, state } = await pair.sender.submit(body);
      t.equal(state, "queued", "the state after the wait broke");
      const lease = await pair.worker.lease();
      t.equal(lease.id, id, "what the worker is given");
      await pair.worker.act("complete", lease, { output: 1 });
    },
  },
  {
    id: "CANCEL-4",
    promise: "The worker learns of a cancel with its next beat.",
    section: cancel_section,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      await pair.worker.act("heartbeat", lease);
      await cancel(pair.sender, lease.id);
      await pair.worker.refusedAct("heartbeat", lease, {}, 410, "canceled");
    },
  },
  {
    id: "LATE-1",
    promise: "An outcome under a stale fence is 412, changes no state, and is kept; the sender gets a `late` event.",
    section: "handoffs.md#repeats-and-lateness",
    run: async (t) => {
      const pair = await t.pair();
      const stale = await working(pair);
      await pair.worker.act("release", stale);
      const live = await pair.worker.lease();
      await pair.worker.refusedAct("complete", stale, { output: { n: "late" } }, 412, "lease_lost");
      const { state, fence, late } = await pair.sender.get(stale.id);
      t.equal({ state, fence }, { state: "delivered", fence: 2 }, "the handoff");
      t.equal(
        late.map(({ outcome }) => ({ fence: outcome.fence, output: outcome.output })),
        [{ fence: 1, output: { n: "late" } }],
        "late outcomes",
      );
      const event = await pair.sender.event(stale.id, "late");
      t.equal(
        { fence: event["fence"], state: event["state"], code: event["code"] },
        { fence: 1, state: "completed", code: 200 },
        "the event `late`",
      );
      await pair.worker.act("complete", live, { output: { n: "in time" } });
      t.equal((await pair.sender.get(stale.id)).outcome?.output, { n: "in time" }, "the outcome");
    },
  },
  {
    id: "LATE-2",
    promise: "Other content under the fence that won is 409, and the first stands.",
    section: "handoffs.md#repeats-and-lateness",
    run: async (t) => {
      const pair = await t.pair();
      const lease = await completed(pair, {}, { n: 1 });
      await pair.worker.refusedAct("complete", lease, { output: { n: 2 } }, 409, "outcome_conflict");
      await pair.worker.refusedAct("fail", lease, { error: failure }, 409, "outcome_conflict");
      t.equal((await pair.sender.get(lease.id)).outcome?.output, { n: 1 }, "the outcome");
    },
  },
];
