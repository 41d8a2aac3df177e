/** What a relay still knows after it was killed: wherever the specification says "durable" or speaks of a relay's start. */

import type { LeaseView } from "@handfast/protocol/wire";
import { Unreached } from "../broken.ts";
import type { Check } from "../check.ts";
import { newId } from "../stage/agent.ts";
import type { Caller } from "../stage/caller.ts";
import { completed, delivered, sent, working } from "../stage/scenes.ts";
import type { Stage } from "../stage/stage.ts";
import { NotRestarted } from "../untriable.ts";

const submit = "ids-and-idempotency.md#submit";
const clocks = "handoffs.md#the-five-clocks";
const needs = ["restart"] as const;
/** All checks of this page wait for each other before the relay is killed: no clock runs out meanwhile. */
const patient = { limits: { ack_ms: 120_000, lease_ms: 120_000 } };

/** How much longer than its restart a relay may seem to live: the time of a call under way. */
const dies_within_ms = 10_000;

/** Goes on until the relay does not answer any more, or the check is over: what was answered until then counts. */
async function untilItDies(t: Stage, act: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      await act();
    } catch (error) {
      if (error instanceof Unreached) return;
      throw error;
    }
    await t.pause(20);
  }
}

/** Restarts the relay under this load; one that is there all the time was not restarted, whatever the command says. */
async function restarted(t: Stage, load: Promise<unknown>): Promise<void> {
  await t.restart();
  const lives = t.pause(dies_within_ms).then(() => {
    throw new NotRestarted("the restart did not end the relay: it answered all the time");
  });
  await Promise.race([load, lives]);
}

/** Several at once, through the death of the relay, which comes when enough was confirmed to be worth it. */
async function throughTheCrash(t: Stage, confirmed: () => number, act: () => Promise<void>): Promise<void> {
  const load = t.meanwhile(Promise.all(Array.from({ length: 4 }, () => untilItDies(t, act))));
  const enough = 20;
  await Promise.race([
    load,
    t.until(
      "enough to be confirmed",
      async () => confirmed(),
      (count) => count >= enough,
      40_000,
    ),
  ]);
  await restarted(t, load);
}

/** The ids of all handoffs of a sender. */
async function allIds(sender: Caller): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  let place = {};
  for (;;) {
    const { handoffs, cursor } = await sender.ok("list", { query: { limit: 500, ...place } });
    for (const { id } of handoffs) ids.add(id);
    if (cursor === null) return ids;
    place = { cursor };
  }
}

export const durability: readonly Check[] = [
  {
    id: "DURABLE-1",
    promise:
      "A submit is answered with 202 only after it is durable: whatever was accepted when the relay was killed is there afterwards.",
    section: submit,
    needs,
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const accepted: string[] = [];
      await throughTheCrash(
        t,
        () => accepted.length,
        async () => {
          accepted.push((await sender.submit({ id: newId(), capability, input: accepted.length })).id);
        },
      );
      const kept = await allIds(sender);
      const lost = accepted.filter((id) => !kept.has(id));
      t.equal(lost, [], `what was lost of ${accepted.length} accepted handoffs`);
    },
  },
  {
    id: "DURABLE-2",
    promise: "A batch is accepted whole or not at all, also when the relay is killed in between.",
    section: submit,
    needs,
    features: ["batch"],
    run: async (t) => {
      const { sender, capability } = await t.pair();
      const batches: { readonly ids: readonly string[]; accepted: boolean }[] = [];
      const confirmed = () => batches.filter(({ accepted }) => accepted).length;
      await throughTheCrash(t, confirmed, async () => {
        const batch = { ids: Array.from({ length: 5 }, () => newId()), accepted: false };
        batches.push(batch);
        const handoffs = batch.ids.map((id) => ({ id, capability, input: 1 }));
        await sender.ok("submit_batch", { body: { handoffs } }, 202);
        batch.accepted = true;
      });
      const kept = await allIds(sender);
      for (const { ids, accepted } of batches) {
        const there = ids.filter((id) => kept.has(id)).length;
        t.that(there === 5 || (there === 0 && !accepted), "all five of a batch, or none that was not confirmed", {
          there,
          accepted,
        });
      }
    },
  },
  {
    id: "DURABLE-3",
    promise:
      "An ack and an outcome that were confirmed are there after the relay was killed, with the output as it was given.",
    section: "handoffs.md#states",
    needs,
    run: async (t) => {
      const { sender, worker, capability } = await t.pair();
      const acknowledged: string[] = [];
      const done = new Map<string, number>();
      await throughTheCrash(
        t,
        () => done.size,
        async () => {
          await sender.submit({ capability, input: 1 });
          const [lease] = await worker.claim({ request_id: newId() }, 1_000);
          if (lease === undefined) return;
          await worker.act("ack", lease);
          acknowledged.push(lease.id);
          const output = done.size;
          await worker.act("complete", lease, { output });
          done.set(lease.id, output);
        },
      );
      for (const id of acknowledged) {
        const types = await sender.eventTypes(id);
        t.that(types.includes("acknowledged"), "the ack that was confirmed", types);
      }
      for (const [id, output] of done) {
        const { state, outcome } = await sender.get(id);
        t.equal({ state, output: outcome?.output }, { state: "completed", output }, "the outcome that was confirmed");
      }
    },
  },
  {
    id: "DURABLE-4",
    promise: "Keys are durable: after a restart a retry is answered as the first time, and other content is 409.",
    section: submit,
    needs,
    run: async (t) => {
      const pair = await t.pair();
      const first = await sent(pair, { idempotency_key: "k" });
      await t.restart();
      const again = await sent(pair, { idempotency_key: "k" });
      t.equal({ id: again.id, repeated: again.repeated }, { id: first.id, repeated: true }, "the receipt");
      const body = { capability: pair.capability, input: { n: 2 }, idempotency_key: "k" };
      await pair.sender.refused("submit", { body }, 409, "key_conflict");
    },
  },
  {
    id: "DURABLE-5",
    promise: "Leases survive a restart of the relay: the worker goes on under the same fence and finishes.",
    section: clocks,
    needs,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair, patient);
      await pair.worker.act("checkpoint", lease, { state: { page: 7 } });
      await t.restart();
      t.equal((await pair.worker.act("heartbeat", lease)).state, "working", "the answer to a beat after the restart");
      const { checkpoint } = await pair.sender.get(lease.id);
      t.equal(checkpoint, { fence: 1, number: 1 }, "the checkpoint");
      await pair.worker.act("complete", lease, { output: 1 });
      const { fence, attempts, state } = await pair.sender.get(lease.id);
      t.equal({ fence, attempts, state }, { fence: 1, attempts: 1, state: "completed" }, "the handoff");
    },
  },
  {
    id: "DURABLE-6",
    promise: "After a relay's start no lease is lost before one full lease period has passed since.",
    section: clocks,
    needs,
    run: async (t) => {
      const pair = await t.pair();
      // All that share the first restart are done with it when this one asks for the second, which comes at once.
      await t.restart();
      const lease = await working(pair, { limits: { lease_ms: 6_000, ack_ms: 6_000 } });
      const unacked = await delivered(pair, { limits: { lease_ms: 6_000, ack_ms: 6_000 } });
      await pair.worker.act("heartbeat", lease);
      const beaten = performance.now();
      await t.pause(3_500);
      await t.restart();
      const ready = performance.now();
      await t.pause(Math.max(0, beaten + 7_000 - ready));
      t.that(
        performance.now() - ready < 5_500,
        "a machine fast enough to look within the grace",
        performance.now() - ready,
      );
      t.equal(
        (await pair.worker.act("heartbeat", lease)).state,
        "working",
        "the answer to a beat within a lease period of the start",
      );
      await pair.worker.act("ack", unacked);
      t.equal((await pair.sender.get(lease.id)).fence, 1, "the fence");
    },
  },
  {
    id: "DURABLE-7",
    promise:
      "A lease that is lost because the relay was away, and the worker was not heard of since, counts no attempt.",
    section: "handoffs.md#attempts-and-deliveries",
    needs,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair, { limits: { lease_ms: 5_000 } });
      const act = async () => {
        await t.pause(300);
        await pair.worker.act("heartbeat", lease);
      };
      await restarted(t, t.meanwhile(untilItDies(t, act)));
      const event = await pair.sender.event(lease.id, "requeued");
      t.equal(event["why"], "lease_lost", "why it was requeued");
      t.equal((await pair.worker.lease()).attempt, 1, "the number of the next attempt");
    },
  },
  {
    id: "DURABLE-8",
    promise: "A restart does not move the deadline.",
    section: clocks,
    needs,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await sent(pair, { limits: { deadline_ms: 7_000 } });
      const { deadline_at } = await pair.sender.get(id);
      await t.restart();
      const after = await pair.sender.ended(id);
      t.equal(
        { state: after.state, code: after.code, deadline_at: after.deadline_at },
        { state: "expired", code: 408, deadline_at },
        "how it ended",
      );
      t.that((after.ended_at ?? 0) >= deadline_at, "no end before the deadline", {
        ended_at: after.ended_at,
        deadline_at,
      });
    },
  },
  {
    id: "DURABLE-9",
    promise: "A claim repeated after a restart brings the same leases, and nothing is counted.",
    section: "ids-and-idempotency.md#what-is-said-twice",
    needs,
    run: async (t) => {
      const pair = await t.pair();
      await sent(pair, patient);
      const first = await pair.worker.lease({ request_id: "r1" });
      await t.restart();
      const again = await pair.worker.lease({ request_id: "r1" });
      t.equal({ id: again.id, fence: again.fence }, { id: first.id, fence: first.fence }, "the lease again");
      await pair.worker.act("ack", again);
      const { deliveries, attempts } = await pair.sender.get(first.id);
      t.equal({ deliveries, attempts }, { deliveries: 0, attempts: 1 }, "what was counted");
    },
  },
  {
    id: "DURABLE-10",
    promise: "The log is the same after a restart, and its time and positions go on from there.",
    section: "events.md#every-event-has",
    needs,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair, patient);
      const before = await pair.sender.events(lease.id);
      await t.restart();
      await pair.worker.act("complete", lease, { output: 1 });
      const after = await pair.sender.events(lease.id);
      t.equal(after.slice(0, before.length), before, "the events from before");
      const [last, next] = [before.at(-1), after.at(-1)];
      t.that(
        (next?.at ?? 0) >= (last?.at ?? 0) && (next?.pos ?? 0) > (last?.pos ?? 0),
        "time and position that go on",
        { last, next },
      );
    },
  },
  {
    id: "DURABLE-11",
    promise:
      "Agents, keys, tokens and what was revoked are remembered over a restart, and the relay's key stays the same.",
    section: "wire.md#agents-keys-and-tokens",
    needs,
    run: async (t) => {
      const pair = await t.pair();
      const agent = await t.agent();
      const { token } = await pair.sender.ok("create_token", { body: { agent: pair.sender.name } }, 201);
      const http = t.agentOf(agent.name, agent.key, "http");
      await http.ok("revoke_key", { params: { name: agent.name, thumbprint: agent.key.thumbprint } });
      const { relay_key } = t.about;
      await t.restart();
      t.equal((await t.stranger().ok("well_known", {})).relay_key, relay_key, "the relay's key");
      await t.bearer(pair.sender.name, token, "http").ok("list", {});
      await http.refused("list", {}, 401, "revoked_key");
      await sent(pair);
      await pair.worker.lease();
    },
  },
  {
    id: "DURABLE-12",
    promise: "Children are canceled when their parent ends, also when the relay is killed in between.",
    section: "handoffs.md#children-hops-and-budgets",
    needs,
    features: ["batch"],
    run: async (t) => {
      const pair = await t.pair();
      const below = t.name("below");
      await t.agent(below);
      const parent = await working(pair, patient);
      const causation = { id: parent.id, fence: parent.fence };
      const handoffs = Array.from({ length: 300 }, (_, input) => ({
        id: newId(),
        capability: below,
        input,
        causation,
      }));
      await pair.worker.ok("submit_batch", { body: { handoffs } }, 202);
      await pair.worker.act("complete", parent, { output: 1 });
      await t.restart();
      for (const { id } of [handoffs[0], handoffs[150], handoffs[299]].filter((each) => each !== undefined)) {
        t.equal((await pair.worker.ended(id)).state, "canceled", "the state of a child");
      }
      await t.until(
        "no open child",
        async () => (await pair.worker.ok("list", { query: { state: "queued", capability: below } })).handoffs.length,
        (open) => open === 0,
      );
    },
  },
  {
    id: "DURABLE-13",
    promise: "Questions, answers, lanes and untaken outcomes go on where they were.",
    section: "handoffs.md#after-the-end",
    needs,
    features: ["questions"],
    run: async (t) => {
      const pair = await t.pair();
      const { sender, worker } = pair;
      const done = await completed(pair, {}, { n: 42 });
      const lane: LeaseView[] = [await working(pair, { ...patient, ordering_key: "k" })];
      const next = await sent(pair, { ordering_key: "k", input: { n: 2 } });
      const parked = await working(pair, { ...patient, input: { n: 3 } });
      const question = await worker.act("ask", parked, { question: "which?", park: true });
      await t.restart();
      const { handoffs } = await sender.ok("outcomes", {});
      t.equal(
        handoffs.map(({ id, outcome }) => ({ id, output: outcome?.output })),
        [{ id: done.id, output: { n: 42 } }],
        "the untaken outcomes",
      );
      await sender.ok("answer", { params: { id: question.id }, body: { answer: "this" } });
      const resumed = await worker.lease();
      t.equal(
        { id: resumed.id, answer: resumed.questions[0]?.answer },
        { id: parked.id, answer: "this" },
        "what is delivered after the answer",
      );
      t.equal((await sender.get(next.id)).blocked, true, "whether the next of the lane is still blocked");
      const [head] = lane;
      if (head !== undefined) await worker.act("complete", head, { output: 1 });
      t.equal((await worker.lease()).id, next.id, "what the lane gives next");
    },
  },
];
