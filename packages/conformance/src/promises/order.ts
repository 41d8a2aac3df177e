/** handoffs.md, "Order and rank" and "Who gets it". */

import type { Check } from "../check.ts";
import { delivered, failure, sent, working } from "../stage/scenes.ts";
import type { Pair } from "../stage/stage.ts";

const section = "handoffs.md#order-and-rank";
const who = "handoffs.md#who-gets-it";

/** So many handoffs of one lane, in accept order. */
async function lane(pair: Pair, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let n = 1; n <= count; n += 1) ids.push((await sent(pair, { ordering_key: "k", input: { n } })).id);
  return ids;
}

export const order: readonly Check[] = [
  {
    id: "ORDER-1",
    promise: "Handoffs of a lane are delivered in accept order, one at a time.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const ids = await lane(pair, 6);
      const got: string[] = [];
      for (const _ of ids) {
        const [lease, ...others] = await pair.worker.claim({ slots: 6 }, 10_000);
        t.equal(others, [], "what is delivered beside the head");
        if (lease === undefined) break;
        got.push(lease.id);
        await pair.worker.act("complete", lease, { output: 1 });
      }
      t.equal(got, ids, "the order of the deliveries");
    },
  },
  {
    id: "ORDER-2",
    promise: "The head of a lane stays the head through retries and backoff.",
    section,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const [first] = await lane(pair, 2);
      const lease = await pair.worker.lease();
      await pair.worker.act("fail", lease, { error: failure, retryable: true });
      t.equal((await pair.worker.lease({ slots: 2 })).id, first, "what is delivered next");
      t.equal(await pair.worker.claim({ slots: 2 }), [], "what is delivered beside it");
    },
  },
  {
    id: "ORDER-3",
    promise: "The head of a lane stays the head while it waits for an answer, also parked.",
    section,
    features: ["questions"],
    run: async (t) => {
      const pair = await t.pair();
      const [first] = await lane(pair, 2);
      const lease = await pair.worker.lease();
      const { id } = await pair.worker.act("ask", lease, { question: "which?", park: true });
      t.equal(await pair.worker.claim({ slots: 2 }), [], "what is delivered while the head is parked");
      await pair.sender.ok("answer", { params: { id }, body: { answer: "this" } });
      t.equal((await pair.worker.lease({ slots: 1 })).id, first, "what is delivered next");
    },
  },
  {
    id: "ORDER-4",
    promise: "Any end of the head frees the next: a cancel, a failure, a rejection.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const [first = "", second, third, fourth] = await lane(pair, 4);
      await pair.sender.ok("cancel", { params: { id: first }, body: {} });
      const lease = await pair.worker.lease();
      t.equal(lease.id, second, "what is delivered after a cancel");
      await pair.worker.act("fail", lease, { error: failure, retryable: false });
      const next = await pair.worker.lease();
      t.equal(next.id, third, "what is delivered after a failure");
      await pair.worker.act("reject", next, { error: failure });
      t.equal((await pair.worker.lease()).id, fourth, "what is delivered after a rejection");
    },
  },
  {
    id: "ORDER-5",
    promise: "The deadline of the head frees the next.",
    section,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      await working(pair, { ordering_key: "k", limits: { deadline_ms: 4_000 } });
      const { id } = await sent(pair, { ordering_key: "k", input: { n: 2 } });
      t.equal((await pair.worker.lease()).id, id, "what is delivered after the head expired");
    },
  },
  {
    id: "ORDER-6",
    promise: "One that ends while it is blocked simply leaves the lane.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const [first, second = "", third] = await lane(pair, 3);
      await pair.sender.ok("cancel", { params: { id: second }, body: {} });
      const lease = await pair.worker.lease({ slots: 1 });
      t.equal(lease.id, first, "what is delivered first");
      t.equal(await pair.worker.claim({ slots: 2 }), [], "what is delivered beside the head");
      await pair.worker.act("complete", lease, { output: 1 });
      t.equal((await pair.worker.lease()).id, third, "what is delivered next");
    },
  },
  {
    id: "ORDER-7",
    promise: "A lane is per sender and target: the same key elsewhere is another lane.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const other = await t.agent();
      const mine = await sent(pair, { ordering_key: "k" });
      const theirs = await other.submit({ capability: pair.capability, input: 1, ordering_key: "k" });
      const direct = await pair.sender.submit({ to: pair.worker.name, input: 1, ordering_key: "k" });
      const leases = await pair.worker.claim({ slots: 5 }, 5_000);
      const wanted = [mine.id, theirs.id, direct.id].toSorted();
      t.equal(leases.map(({ id }) => id).toSorted(), wanted, "what is delivered at once");
    },
  },
  {
    id: "ORDER-8",
    promise: "A redrive joins the tail of its lane.",
    section,
    features: ["redrive"],
    run: async (t) => {
      const pair = await t.pair();
      const [first = "", second, third] = await lane(pair, 3);
      await pair.worker.act("fail", await pair.worker.lease(), { error: failure, retryable: false });
      const { redriven_as } = await pair.sender.ok("redrive", { params: { id: first }, body: {} }, 202);
      const got: string[] = [];
      for (let n = 0; n < 3; n += 1) {
        const lease = await pair.worker.lease();
        got.push(lease.id);
        await pair.worker.act("complete", lease, { output: 1 });
      }
      t.equal(got, [second, third, redriven_as], "the order of the deliveries");
    },
  },
  {
    id: "ORDER-9",
    promise: "What is ready goes by rank: what has more priority first, otherwise what was accepted first.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const low = await sent(pair, { input: { n: 1 } });
      await t.pause(5);
      const lower = await sent(pair, { input: { n: 2 } });
      await t.pause(5);
      const high = await sent(pair, { input: { n: 3 }, priority: 1 });
      await t.pause(5);
      const highest = await sent(pair, { input: { n: 4 }, priority: 9 });
      const got: string[] = [];
      for (let n = 0; n < 4; n += 1) got.push((await pair.worker.lease()).id);
      t.equal(got, [highest.id, high.id, low.id, lower.id], "the order of the deliveries");
    },
  },
  {
    id: "ORDER-10",
    promise: "The rank stays the same through retries: what was given back goes before what came later.",
    section,
    run: async (t) => {
      const pair = await t.pair();
      const first = await working(pair);
      await t.pause(5);
      await sent(pair, { input: { n: 2 } });
      await pair.worker.act("release", first);
      t.equal((await pair.worker.lease()).id, first.id, "what is delivered next");
    },
  },
  {
    id: "WHO-1",
    promise: "A worker never gets more than it has free slots.",
    section: who,
    run: async (t) => {
      const pair = await t.pair();
      for (let n = 0; n < 5; n += 1) await sent(pair, { input: { n } });
      t.equal((await pair.worker.claim({ slots: 2 })).length, 2, "leases for two slots");
      t.equal((await pair.worker.claim({})).length, 1, "leases where the slots are not named");
      t.equal((await pair.worker.claim({ slots: 9 })).length, 2, "leases for more slots than there is work");
    },
  },
  {
    id: "WHO-2",
    promise: "After a delivery that was not acknowledged, anybody but that worker goes first.",
    section: who,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const { worker } = pair;
      const lease = await delivered(pair, { limits: { ack_ms: 4_000, lease_ms: 4_000 } });
      const gone = new AbortController();
      const body = { worker: worker.worker, slots: 9 };
      const same = worker.call("claim", { body, wait_ms: 20_000, signal: gone.signal }).catch(() => null);
      await worker.asking();
      const next = await worker.lease({ worker: "w2" });
      t.equal({ id: next.id, fence: next.fence }, { id: lease.id, fence: 2 }, "what the other worker is given");
      await worker.act("ack", next);
      t.equal((await pair.sender.get(lease.id)).lease?.worker, "w2", "who holds it");
      gone.abort();
      await same;
    },
  },
  {
    id: "WHO-3",
    promise: "Work that nobody may have now holds back nothing behind it.",
    section: who,
    run: async (t) => {
      const pair = await t.pair();
      await t.agent(pair.capability);
      const refused = await delivered(pair, { priority: 9 });
      await pair.worker.act("reject", refused, { error: failure });
      const next = await sent(pair, { input: { n: 2 } });
      t.equal((await pair.worker.lease({ slots: 1 })).id, next.id, "what the agent is given");
    },
  },
  {
    id: "WHO-4",
    promise: "Among equals, the worker with more free slots goes first.",
    section: who,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const few = t.meanwhile(pair.worker.claim({ worker: "few", slots: 1 }, 5_000));
      await pair.worker.asking("few");
      const many = t.meanwhile(pair.worker.claim({ worker: "many", slots: 5 }, 5_000));
      await pair.worker.asking("many");
      const { id } = await sent(pair);
      t.equal(
        (await many).map((lease) => lease.id),
        [id],
        "what the worker with five slots is given",
      );
      t.equal(await few, [], "what the worker with one slot is given");
    },
  },
  {
    id: "WHO-5",
    promise: "Among equals with as many free slots, the one that has waited longer goes first.",
    section: who,
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const long = t.meanwhile(pair.worker.claim({ worker: "long", slots: 2 }, 5_000));
      await pair.worker.asking("long");
      await t.pause(20);
      const short = t.meanwhile(pair.worker.claim({ worker: "short", slots: 2 }, 5_000));
      await pair.worker.asking("short");
      const { id } = await sent(pair);
      t.equal(
        (await long).map((lease) => lease.id),
        [id],
        "what the one that waited longer is given",
      );
      t.equal(await short, [], "what the other is given");
    },
  },
  {
    id: "WHO-6",
    promise: "An agent that rejected a handoff never gets it again.",
    section: who,
    run: async (t) => {
      const pair = await t.pair();
      const other = await t.agent(pair.capability);
      const lease = await delivered(pair);
      await pair.worker.act("reject", lease, { error: failure });
      const next = await other.lease();
      await other.act("release", next);
      t.equal(await pair.worker.claim({ slots: 3 }), [], "what the agent that rejected it is given");
      t.equal(await pair.worker.claim({ slots: 3, worker: "w2" }), [], "what another worker of it is given");
      t.equal((await other.lease()).id, lease.id, "what the other agent is given again");
    },
  },
];
