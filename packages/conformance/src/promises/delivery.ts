/** handoffs.md, "Delivery and ack". */

import type { Check } from "../check.ts";
import { delivered, failure, sent } from "../stage/scenes.ts";

const section = "handoffs.md#delivery-and-ack";

export const delivery: readonly Check[] = [
  {
    id: "DELIVER-1",
    promise: "A claim makes a queued handoff delivered, under the next fence, and acknowledges nothing.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await delivered(pair);
      t.equal(lease.fence, 1, "the first fence");
      const { state, code, attempts, lease: held } = await pair.sender.get(lease.id);
      t.equal({ state, code, attempts }, { state: "delivered", code: 210, attempts: 0 }, "the handoff");
      t.equal(held?.acknowledged_at, null, "acknowledged_at of the lease");
      const event = await pair.sender.event(lease.id, "delivered");
      const { agent, worker, fence, code: told } = event;
      const wanted = { agent: pair.worker.name, worker: pair.worker.worker, fence: 1, told: 210 };
      t.equal({ agent, worker, fence, told }, wanted, "the event `delivered`");
    },
  },
  {
    id: "DELIVER-2",
    promise: "The ack of its holder makes a handoff working and counts the attempt.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await delivered(pair);
      t.equal((await pair.worker.act("ack", lease)).state, "working", "the state in the answer");
      const { state, code, attempts } = await pair.sender.get(lease.id);
      t.equal({ state, code, attempts }, { state: "working", code: 211, attempts: 1 }, "the handoff");
      const { attempt, fence, code: told } = await pair.sender.event(lease.id, "acknowledged");
      t.equal({ attempt, fence, told }, { attempt: 1, fence: 1, told: 211 }, "the event `acknowledged`");
    },
  },
  {
    id: "DELIVER-3",
    promise:
      "A delivery that is not acknowledged in time goes back to the queue and counts as a delivery, not as an attempt; its fence is over.",
    section,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await delivered(pair, { limits: { ack_ms: 800, lease_ms: 2_000 } });
      const { at } = await pair.sender.event(lease.id, "delivered");
      const event = await pair.sender.event(lease.id, "requeued");
      t.equal({ why: event["why"], code: event["code"] }, { why: "unacknowledged", code: 504 }, "the event `requeued`");
      t.that(event.at - at >= 800, "no loss before 800 ms", event.at - at);
      const { attempts, deliveries } = await pair.sender.get(lease.id);
      t.equal({ attempts, deliveries }, { attempts: 0, deliveries: 1 }, "what was counted");
      const next = await pair.worker.lease();
      t.equal({ id: next.id, fence: next.fence }, { id: lease.id, fence: 2 }, "the next delivery");
      await pair.worker.refusedAct("ack", lease, {}, 412, "lease_lost");
    },
  },
  {
    id: "DELIVER-4",
    promise: "After ten deliveries that nobody acknowledged the handoff fails with 504.",
    section,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await sent(pair, { limits: { ack_ms: 60, lease_ms: 2_000 } });
      for (let fence = 1; fence <= 10; fence += 1) {
        t.equal((await pair.worker.lease()).fence, fence, "the fence of a delivery");
      }
      const { state, code, deliveries, attempts } = await pair.sender.ended(id);
      const wanted = { state: "failed", code: 504, deliveries: 10, attempts: 0 };
      t.equal({ state, code, deliveries, attempts }, wanted, "how it ended");
    },
  },
  {
    id: "DELIVER-5",
    promise: "A delivery that its holder releases is queued at once, and nothing is counted.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await delivered(pair);
      await pair.worker.act("release", lease);
      const { state, attempts, deliveries } = await pair.sender.get(lease.id);
      t.equal({ state, attempts, deliveries }, { state: "queued", attempts: 0, deliveries: 0 }, "the handoff");
      const event = await pair.sender.event(lease.id, "requeued");
      t.equal(event["why"], "released", "why it was requeued");
      t.equal((await pair.worker.lease()).fence, 2, "the fence of the next delivery");
    },
  },
  {
    id: "DELIVER-6",
    promise: "An outcome, a failure or a checkpoint under a lease that was not acknowledged is the ack too.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const one = await delivered(pair);
      await pair.worker.act("complete", one, { output: 1 });
      t.equal(
        await pair.sender.eventTypes(one.id),
        ["accepted", "delivered", "acknowledged", "completed"],
        "events of a complete",
      );
      const two = await delivered(pair);
      await pair.worker.act("fail", two, { error: failure, retryable: false });
      t.equal(
        await pair.sender.eventTypes(two.id),
        ["accepted", "delivered", "acknowledged", "failed"],
        "events of a fail",
      );
      const three = await delivered(pair);
      await pair.worker.act("checkpoint", three, { state: { page: 1 } });
      t.equal(
        await pair.sender.eventTypes(three.id),
        ["accepted", "delivered", "acknowledged", "checkpointed"],
        "events of a checkpoint",
      );
      t.equal((await pair.sender.get(three.id)).attempts, 1, "attempts after a checkpoint");
    },
  },
  {
    id: "DELIVER-7",
    promise: "A question under a lease that was not acknowledged is the ack too.",
    section,
    features: ["questions"],
    run: async (t) => {
      const pair = await t.pair();
      const lease = await delivered(pair);
      await pair.worker.act("ask", lease, { question: "which?" });
      t.equal(await pair.sender.eventTypes(lease.id), ["accepted", "delivered", "acknowledged", "asked"], "its events");
    },
  },
];
