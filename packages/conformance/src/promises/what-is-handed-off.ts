/** handoffs.md, "What is handed off": the fields of a handoff and what each of them does. */

import type { Check } from "../check.ts";
import { newId } from "../stage/agent.ts";
import { delivered, sent } from "../stage/scenes.ts";

const section = "handoffs.md#what-is-handed-off";
const query_schema = { type: "object", properties: { query: { type: "string" } }, required: ["query"] };

export const whatIsHandedOff: readonly Check[] = [
  {
    id: "WHAT-1",
    promise: "A notice ends as completed when it is acknowledged.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await delivered(pair, { kind: "notice" });
      t.equal((await pair.sender.get(lease.id)).state, "delivered", "state before the ack");
      t.equal((await pair.worker.act("ack", lease)).state, "completed", "state after the ack");
      const { state, code } = await pair.sender.get(lease.id);
      t.equal({ state, code }, { state: "completed", code: 200 }, "how it ended");
      const types = await pair.sender.eventTypes(lease.id);
      t.equal(types, ["accepted", "delivered", "acknowledged", "completed"], "its events");
    },
  },
  {
    id: "WHAT-2",
    promise: "The sender is always the agent that proved to call; no field names it.",
    section,
    run: async (t) => {
      const { sender, worker, capability } = await t.pair();
      const named = { capability, input: 1, from: worker.name };
      await sender.refused("submit", { body: named }, 400, "unknown_field");
      const { id } = await sender.submit({ capability, input: 1 });
      t.equal((await sender.get(id)).from, sender.name, "from");
    },
  },
  {
    id: "WHAT-3",
    promise:
      "`to` alone is for that agent, `capability` alone for any that offers it, both for that agent and that capability.",
    section,
    run: async (t) => {
      const capability = t.name("work");
      const [sender, one, other] = await Promise.all([t.agent(), t.agent(capability), t.agent(capability)]);
      const toOne = await sender.submit({ to: one.name, input: 1 });
      const both = await sender.submit({ to: one.name, capability, input: 2 });
      t.equal(await other.claim({ slots: 5 }), [], "leases of an agent that was not named");
      const ids = (await one.claim({ slots: 5 })).map(({ id }) => id);
      t.equal(ids.toSorted(), [toOne.id, both.id].toSorted(), "leases of the agent that was named");
      const anyone = await sender.submit({ capability, input: 3 });
      t.equal((await other.lease()).id, anyone.id, "what another agent that offers it gets");
      await sender.refused("submit", { body: { input: 1 } }, 400);
    },
  },
  {
    id: "WHAT-4",
    promise:
      "Input is checked against the capability's schema before the handoff is accepted: 422, and nothing is left behind.",
    section,
    run: async (t) => {
      const { sender, worker, capability } = await t.pair({ input_schema: query_schema });
      const id = newId();
      await sender.refused("submit", { body: { id, capability, input: { query: 7 } } }, 422, "input_unfit");
      await sender.refused("get", { params: { id } }, 404, "unknown_handoff");
      t.equal(await worker.claim(), [], "what the worker gets of it");
      await sender.submit({ id, capability, input: { query: "fsync" } });
    },
  },
  {
    id: "WHAT-5",
    promise:
      "What the sender says beside the work reaches the worker as it was said: labels, conversation, trace, extensions, key, correlation.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const said = {
        labels: { team: "blue", härte: "7:8" },
        conversation_id: "a longer exchange",
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ext: { "https://example.com/ext/shift": { night: true, list: [1, null] } },
        idempotency_key: "the key of the sender",
        correlation_id: "Zürich 🏔 7",
      };
      const lease = await delivered(pair, said);
      const { labels, conversation_id, traceparent, ext, idempotency_key, correlation_id } = lease;
      const got = { labels, conversation_id, traceparent, ext, idempotency_key, correlation_id };
      t.equal(got, said, "what the lease carries");
      t.equal(lease.input, { n: 1 }, "the input in the lease");
      t.equal(lease.from, pair.sender.name, "from in the lease");
    },
  },
  {
    id: "WHAT-6",
    promise: "Time limits that are none are refused: no duration below 1 ms or above 30 days, no lease below 2 s.",
    section,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const month_ms = 30 * 24 * 60 * 60 * 1_000;
      const wrong = [
        { deadline_ms: 0 },
        { deadline_ms: month_ms + 1 },
        { queue_ms: -1 },
        { ack_ms: 1.5 },
        { lease_ms: 1_999 },
      ];
      const more = [{ attempt_ms: "60s" }, { max_attempts: 0 }, { retry: "sometimes" }];
      for (const limits of [...wrong, ...more]) {
        await sender.refused("submit", { body: { capability, input: 1, limits } }, 400);
      }
      await sender.submit({ capability, input: 1, limits: { deadline_ms: month_ms, lease_ms: 2_000, ack_ms: 1 } });
    },
  },
  {
    id: "WHAT-7",
    promise:
      "`queue_if_absent` makes a handoff wait for somebody who offers it; without it nobody is 406, and an unknown agent 404.",
    section,
    run: async (t) => {
      const sender = await t.agent();
      const capability = t.name("absent");
      await sender.refused("submit", { body: { capability, input: 1 } }, 406, "nobody_offers");
      await sender.refused("submit", { body: { to: t.name("nobody"), input: 1 } }, 404, "unknown_agent");
      const { id } = await sender.submit({ capability, input: 1, queue_if_absent: true });
      const worker = await t.agent(capability);
      t.equal((await worker.lease()).id, id, "what the first to offer it gets");
    },
  },
  {
    id: "WHAT-8",
    promise: "At accept the relay fixes the absolute times: deadline_at is accepted_at plus deadline_ms.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const receipt = await sent(pair, { limits: { deadline_ms: 123_456 } });
      const { accepted_at, deadline_at } = await pair.sender.get(receipt.id);
      t.equal(deadline_at - accepted_at, 123_456, "deadline_at - accepted_at");
      t.equal([receipt.accepted_at, receipt.deadline_at], [accepted_at, deadline_at], "the times in the receipt");
      const lease = await pair.worker.lease();
      t.that(lease.deadline_ms <= 123_456, "a lease that carries what is left of the deadline", lease.deadline_ms);
    },
  },
  {
    id: "WHAT-9",
    promise: "Up to 16 labels, a priority from 0 to 9: more are refused.",
    section,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const labels = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`l${n}`, "x"]));
      await sender.submit({ capability, input: 1, labels: labels(16), priority: 9 });
      await sender.refused("submit", { body: { capability, input: 1, labels: labels(17) } }, 400);
      await sender.refused("submit", { body: { capability, input: 1, priority: 10 } }, 400);
      await sender.refused("submit", { body: { capability, input: 1, priority: -1 } }, 400);
    },
  },
  {
    id: "WHAT-10",
    promise: "Without a correlation_id a handoff begins a correlation of its own: its id.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const receipt = await sent(pair);
      t.equal(receipt.correlation_id, receipt.id, "correlation_id in the receipt");
      t.equal((await pair.worker.lease()).correlation_id, receipt.id, "correlation_id in the lease");
    },
  },
];
