/** Several nodes on one database: none of them owns a handoff, and none is needed for another to go on. */

import { type Handoff, type HandoffEvent, hasEnded, queueOf, type Time } from "@handfast/core";
import { wakeKey } from "@handfast/engine";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { holderOf, Node, namespace } from "./testing/nodes.ts";
import { startServer, type TestServer } from "./testing/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const started: Node[] = [];
afterEach(async () => {
  const nodes = started.splice(0);
  await Promise.all(nodes.map((node) => node.stop()));
  expect(nodes.flatMap(({ bugs }) => bugs)).toEqual([]);
});
async function startNodes(
  count: number,
  options: Parameters<typeof Node.start>[1] = {},
  database?: string,
): Promise<readonly Node[]> {
  const url = server.url(database ?? (await server.createDatabase()));
  const nodes = await Promise.all(Array.from({ length: count }, () => Node.start(url, options)));
  started.push(...nodes);
  return nodes;
}
const patience_ms = 20_000;

test("sent to one node, done through another, awaited on a third, followed on a fourth", async () => {
  const [sender, worker, waiter, follower] = await startNodes(4);
  if (!sender || !worker || !waiter || !follower) throw new Error("too few nodes");
  const claimed = worker.claim("bob-1", { wait_ms: patience_ms });
  const { accepted } = await sender.submit();
  const [leased] = await claimed;
  expect(leased?.accepted.id).toBe(accepted.id);
  if (leased === undefined) return;

  const followed = follower.engine.wakeups.wait(wakeKey.correlation(namespace, accepted.correlation_id), patience_ms);
  await worker.ack(leased);
  await followed;
  expect((await follower.engine.get(namespace, accepted.id))?.status.state).toBe("working");

  const ended = untilEnded(waiter, accepted.id);
  await worker.complete(leased);
  expect((await ended)?.status.state).toBe("completed");
  // What one node has confirmed, every node knows at once.
  for (const node of [sender, waiter, follower]) {
    expect((await node.engine.get(namespace, accepted.id))?.status.state).toBe("completed");
  }
});

test("what ended at a node since it was asked for is known there without a look; what ended before may be otherwise by now", async () => {
  const [node, other] = await startNodes(2);
  if (!node || !other) throw new Error("too few nodes");
  const { accepted } = await node.submit();
  const asked_at = accepted.accepted_at - 1;
  const [leased] = await node.claim("bob-1", { wait_ms: patience_ms });
  if (leased === undefined) throw new Error("nothing was leased");
  await node.ack(leased);
  expect(node.engine.peek(namespace, accepted.id, asked_at)).toBeUndefined();
  await node.complete(leased);
  expect(node.engine.peek(namespace, accepted.id, asked_at)?.status.state).toBe("completed");
  expect(node.engine.peek(namespace, accepted.id, node.engine.now())).toBeUndefined();
  expect(other.engine.peek(namespace, accepted.id, asked_at)).toBeUndefined();
});

test("whichever node judges a contract knows what its provider did for the asker at any of them", async () => {
  // A machine that is busy with other tests must not be taken for a relay that was away.
  const [asked, served] = await startNodes(2, { limits: { stall_ms: patience_ms } });
  if (!asked || !served) throw new Error("too few nodes");
  const for_bob = { to: "bob", capability: "summarize" };
  const queues = () => new Set([queueOf({ to: "bob", capability: null })]);
  await asked.submit(for_bob);
  const [busy] = await served.claim("bob-1", { queues, wait_ms: patience_ms });
  if (busy === undefined) throw new Error("nothing was leased");
  await served.ack(busy);
  const contract = { id: "c1", price: null, in_full: true, max_concurrent: 1 };
  const judgedAt = async (node: Node) => {
    const { accepted } = await node.submit({ ...for_bob, contract, terms: { deadline_ms: 3_000 } });
    await untilEnded(asked, accepted.id);
    const { events } = await node.store.events({ namespace, handoff: accepted.id, after_pos: 0, limit: 10 });
    const last: HandoffEvent = JSON.parse(events.at(-1)?.json ?? "{}");
    return last.type === "expired" ? last.contract?.why : last.type;
  };
  expect(await Promise.all([judgedAt(asked), judgedAt(served)])).toEqual(["crowded", "crowded"]);
  await served.complete(busy);
  expect(await Promise.all([judgedAt(asked), judgedAt(served)])).toEqual(["late", "late"]);
});

test("a claim that is repeated on another node brings the same lease", async () => {
  const [one, other] = await startNodes(2);
  if (!one || !other) throw new Error("too few nodes");
  await other.claim("bob-1");
  await one.submit();
  await one.submit();
  const request_id = one.newId();
  const first = await one.claim("bob-1", { request_id, wait_ms: patience_ms });
  const again = await other.claim("bob-1", { request_id, wait_ms: patience_ms });
  expect(again.map(({ accepted, fence }) => [accepted.id, fence])).toEqual(
    first.map(({ accepted, fence }) => [accepted.id, fence]),
  );
});

test("beats that reach one node keep the lease on all of them; without them it is lost once", async () => {
  const [one, other] = await startNodes(2);
  if (!one || !other) throw new Error("too few nodes");
  const terms = { lease_ms: 1_500, ack_ms: 1_500, attempts: 2 } as const;
  const { accepted } = await one.submit({ terms });
  const [leased] = await one.claim("bob-1", { wait_ms: patience_ms });
  if (leased === undefined) throw new Error("nothing was leased");
  await one.ack(leased);
  const progress = { fraction: 0.5, note: "half" };
  for (let beat = 0; beat < 8; beat += 1) {
    await passed(other, 500);
    await other.perform(leased, { type: "beat", progress, ...holderOf(leased) });
  }
  const beating = await one.engine.get(namespace, accepted.id);
  expect(beating).toMatchObject({ fence: 1, status: { state: "working" }, progress });
  const [second] = await other.claim("bob-2", { wait_ms: patience_ms });
  expect(second).toMatchObject({ accepted: { id: accepted.id }, fence: 2 });
  expect((await one.complete(leased)).refusal?.code).toBe(412);
});

test("what is due is settled by one of the nodes", async () => {
  const nodes = await startNodes(3);
  const [first] = nodes;
  if (!first) throw new Error("too few nodes");
  const sent = await Promise.all(
    Array.from({ length: 40 }, () => first.submit({ terms: { deadline_ms: 800, queue_ms: 800 } })),
  );
  const ended = await Promise.all(sent.map(({ accepted }, nth) => untilEnded(nodes[nth % 3] ?? first, accepted.id)));
  expect(new Set(ended.map((handoff) => handoff?.status.state))).toEqual(new Set(["expired"]));
  expect(new Set(ended.map((handoff) => handoff?.seq))).toEqual(new Set([2]));
});

test("under load each handoff is done once, lanes keep their order, and no call fails", async () => {
  const nodes = await startNodes(3);
  const total = 240;
  const lanes = 5;
  const sent: Handoff[] = [];
  const done: { readonly id: string; readonly lane: string | null; readonly at: number }[] = [];
  let clock = 0;
  const send = async (node: Node, nth: number) => {
    for (let n = 0; n < total / nodes.length; n += 1) {
      const ordering_key = n % 2 === 0 ? `lane ${(n + nth) % lanes}` : null;
      sent.push(await node.submit({ ordering_key }));
    }
  };
  const isDone = () => done.length >= total;
  const work = async (node: Node, worker: string) => {
    while (!isDone()) {
      for (const leased of await node.claim(worker, { wait_ms: 300, slots: 4 })) {
        await node.ack(leased);
        const { refusal } = await node.complete(leased);
        expect(refusal).toBeNull();
        clock += 1;
        done.push({ id: leased.accepted.id, lane: leased.accepted.ordering_key, at: clock });
      }
    }
  };
  await Promise.all([
    ...nodes.map(send),
    ...nodes.flatMap((node, nth) => [work(node, `bob-${nth}-a`), work(node, `bob-${nth}-b`)]),
  ]);
  expect(new Set(done.map(({ id }) => id)).size).toBe(total);
  expect(done.length).toBe(total);
  const [first] = nodes;
  const { handoffs } = (await first?.store.list({ namespace, order: "oldest", limit: 1_000 })) ?? { handoffs: [] };
  for (let lane = 0; lane < lanes; lane += 1) {
    const accepted = handoffs
      .filter((one) => one.accepted.ordering_key === `lane ${lane}`)
      .map((one) => one.accepted.id);
    const ended = done.filter((one) => one.lane === `lane ${lane}`).map(({ id }) => id);
    expect(ended).toEqual(accepted);
  }
  expect(nodes.flatMap(({ recoveries }) => recoveries)).toEqual([]);
}, 120_000);

test("every node is told of all nodes' events, in the log's order, each once, and what it was decided under", async () => {
  const url = server.url(await server.createDatabase());
  const listeners = [1, 2, 3].map(() => new Listener());
  const nodes: Node[] = [];
  // One after the other: by the time each resumed one can tell them apart.
  for (const { onEvents } of listeners) {
    const node = await Node.start(url, { onEvents });
    started.push(node);
    nodes.push(node);
  }
  const [first] = nodes;
  if (!first) throw new Error("too few nodes");
  await Promise.all(nodes.flatMap((node) => Array.from({ length: 10 }, () => node.submit())));
  for (const node of nodes) {
    for (const leased of await node.claim("bob-1", { slots: 10, wait_ms: patience_ms })) {
      await node.ack(leased);
      await node.complete(leased);
    }
  }
  const logged = (await first.store.sharing?.follow(0, 10_000)) ?? [];
  expect(logged.length).toBeGreaterThanOrEqual(60);
  expect(new Set(logged.map(({ resumed_at }) => resumed_at)).size).toBe(3);
  for (const listener of listeners) {
    await listener.until(logged.at(-1)?.pos ?? 0);
    expect(listener.told).toEqual(
      logged.map(({ pos, json, resumed_at }) => ({ pos, resumed_at, event: JSON.parse(json) })),
    );
  }
});

test("what another node was faster with is not taken for one's own: it is counted, and wakes whoever waits", async () => {
  const database = await server.createDatabase();
  const [one, other] = await startNodes(2, {}, database);
  if (!one || !other) throw new Error("too few nodes");
  const [held, ended] = [await one.submit(), await one.submit()];
  const leased: Handoff[] = [];
  while (leased.length < 2) leased.push(...(await one.claim("bob-1", { slots: 2, wait_ms: patience_ms })));
  const met = meeting(one, "canceled");
  const client = server.client(database, "postgres");
  // Its commit stands before the first of its rows; the other node is done with the second meanwhile.
  const locking = await client.reserve();
  await locking`BEGIN`;
  await locking`SELECT 1 FROM handfast.handoff JOIN handfast.accepted USING (num) WHERE id = ${held.accepted.id} FOR UPDATE`;
  const completing = Promise.all(leased.map((handoff) => one.complete(handoff)));
  for (let waiting = false; !waiting; ) {
    const [row] = await server.ask(database, "SELECT count(*) > 0 AS any FROM pg_locks WHERE NOT granted");
    waiting = row?.["any"] === true;
  }
  const waiter = untilEnded(one, ended.accepted.id);
  const actor = { kind: "agent", agent: ended.accepted.from } as const;
  await other.perform(ended, { type: "cancel", actor, reason: "too late", evidence: "signed" });
  await met;
  await locking`ROLLBACK`;
  locking.release();
  await client.end();
  expect((await completing).flatMap(({ refusal }) => refusal?.code ?? [])).toEqual([410]);
  expect((await waiter)?.status.state).toBe("canceled");
  expect(one.engine.stats().open_handoffs).toBe(0);
}, 60_000);

/** The node has read an event of this type from the log. */
function meeting({ store }: Node, type: HandoffEvent["type"]): Promise<void> {
  const { sharing } = store;
  if (sharing === undefined) throw new Error("the store is not shared");
  const follow = sharing.follow.bind(sharing);
  return new Promise((resolve) => {
    const followed: typeof follow = async (...after) => {
      const events = await follow(...after);
      if (events.some(({ json }) => JSON.parse(json).type === type)) resolve();
      return events;
    };
    Object.assign(sharing, { follow: followed });
  });
}

class Listener {
  readonly told: { readonly pos: number | undefined; readonly resumed_at: Time; readonly event: HandoffEvent }[] = [];
  #heard = () => {};

  readonly onEvents = (events: readonly HandoffEvent[], resumed_at: Time, pos?: number): void => {
    for (const event of events) this.told.push({ pos, resumed_at, event });
    this.#heard();
  };

  async until(pos: number): Promise<void> {
    while ((this.told.at(-1)?.pos ?? 0) < pos) {
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
  }
}

async function untilEnded(node: Node, id: string): Promise<Handoff | null> {
  for (;;) {
    const woken = node.engine.wakeups.wait(wakeKey.handoff(namespace, id), patience_ms);
    const handoff = await node.engine.get(namespace, id);
    if (handoff === null || hasEnded(handoff.status)) return handoff;
    await woken;
  }
}

async function passed(node: Node, ms: Time): Promise<void> {
  const until = node.engine.now() + ms;
  while (node.engine.now() < until) await node.engine.wakeups.wait("nothing", until - node.engine.now());
}
