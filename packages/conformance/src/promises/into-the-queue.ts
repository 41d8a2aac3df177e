/** handoffs.md, "Into the queue". */

import type { Check } from "../check.ts";
import { sent } from "../stage/scenes.ts";

const section = "handoffs.md#into-the-queue";
const number_schema = { type: "number" };

export const intoTheQueue: readonly Check[] = [
  {
    id: "QUEUE-1",
    promise: "An accepted handoff is queued, its sender has 202, and its first event is `accepted`.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const receipt = await sent(pair);
      t.equal({ state: receipt.state, code: receipt.code }, { state: "queued", code: 202 }, "the receipt");
      const [event, ...others] = await pair.sender.events(receipt.id);
      t.equal(others, [], "further events");
      t.equal(
        { type: event?.type, seq: event?.seq, code: event?.["code"] },
        { type: "accepted", seq: 1, code: 202 },
        "the event",
      );
    },
  },
  {
    id: "QUEUE-2",
    promise: "A worker that waits for work is offered a handoff as soon as it is accepted.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const waiting = t.meanwhile(pair.worker.claim({}, 20_000));
      await pair.worker.asking();
      const { id } = await sent(pair);
      const leases = await waiting;
      t.equal(
        leases.map((lease) => lease.id),
        [id],
        "what the waiting claim brought",
      );
    },
  },
  {
    id: "QUEUE-3",
    promise: "A handoff behind another open one of its lane is blocked, and is unblocked when it becomes the first.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const head = await sent(pair, { ordering_key: "k" });
      const next = await sent(pair, { ordering_key: "k", input: { n: 2 } });
      t.equal((await pair.sender.get(next.id)).blocked, true, "blocked, of the second");
      const lease = await pair.worker.lease();
      t.equal(lease.id, head.id, "what is delivered first");
      t.equal(await pair.worker.claim({ slots: 3 }), [], "what is delivered besides");
      await pair.worker.act("complete", lease, { output: 1 });
      t.equal((await pair.sender.get(next.id)).blocked, false, "blocked, of the second, after the end of the first");
      t.equal(await pair.sender.eventTypes(next.id), ["accepted", "unblocked"], "events of the second");
    },
  },
  {
    id: "QUEUE-4",
    promise:
      "If an agent's manifest changes and the input no longer fits, that agent is excluded; if nobody is left, the handoff is rejected with 501.",
    section,
    run: async (t) => {
      const { sender, worker, capability } = await t.pair();
      const { id } = await sender.submit({ capability, input: { n: 1 } });
      await t.register(worker.name, worker.key, [{ name: capability, input_schema: number_schema }]);
      // Whoever asks for work finds out at the latest.
      t.equal(await worker.claim({ slots: 3 }), [], "what the agent is given");
      const { state, code } = await sender.ended(id);
      t.equal({ state, code }, { state: "rejected", code: 501 }, "how it ended");
      t.equal(await sender.eventTypes(id), ["accepted", "excluded", "rejected"], "its events");
    },
  },
  {
    id: "QUEUE-5",
    promise: "Where others may still take it, a handoff whose input no longer fits one agent stays queued for them.",
    section,
    run: async (t) => {
      const { sender, worker, capability } = await t.pair();
      const other = await t.agent(capability);
      const { id } = await sender.submit({ capability, input: { n: 1 } });
      await t.register(worker.name, worker.key, [{ name: capability, input_schema: number_schema }]);
      t.equal(await worker.claim({ slots: 3 }), [], "what the agent is given that changed");
      t.equal((await other.lease()).id, id, "what another agent is given");
    },
  },
];
