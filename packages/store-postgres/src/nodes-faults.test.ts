/** Several nodes while their database restarts, is lost, or cannot be reached. */

import { type Handoff, hasEnded } from "@handfast/core";
import { EngineFault } from "@handfast/engine";
import { afterEach, expect, test } from "vitest";
import { startProxy } from "./testing/cutting-proxy.ts";
import { Node, namespace } from "./testing/nodes.ts";
import { PostgresPair } from "./testing/pair.ts";
import { startServer } from "./testing/server.ts";

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
}, 120_000);

const total = 150;
const terms = { lease_ms: 60_000, ack_ms: 30_000, deadline_ms: 600_000, queue_ms: 600_000, max_attempts: 9 } as const;

/** Work through the nodes until all of it is done; what was not confirmed is said again. */
class Load {
  readonly accepted = new Set<string>();
  readonly done = new Set<string>();
  readonly #nodes: readonly Node[];
  faults = 0;

  constructor(nodes: readonly Node[]) {
    this.#nodes = nodes;
  }

  async run(): Promise<void> {
    const senders = this.#nodes.map((node, nth) => this.#send(node, nth));
    const workers = this.#nodes.flatMap((node, nth) => [0, 1].map((n) => this.#work(node, `bob-${nth}-${n}`)));
    await Promise.all([...senders, ...workers]);
  }

  async #send(node: Node, nth: number): Promise<void> {
    for (let n = 0; n < total / this.#nodes.length; n += 1) {
      const idempotency_key = `${nth} ${n}`;
      const ordering_key = n % 3 === 0 ? `lane ${n % 2}` : null;
      const { accepted } = await this.#insist(() => node.submit({ idempotency_key, ordering_key, terms }));
      this.accepted.add(accepted.id);
    }
  }

  async #work(node: Node, worker: string): Promise<void> {
    while (this.done.size < total) {
      const leased = await this.#insist(() => node.claim(worker, { wait_ms: 500, slots: 2 }));
      for (const handoff of leased) await this.#do(node, handoff);
    }
  }

  async #do(node: Node, leased: Handoff): Promise<void> {
    await this.#insist(() => node.ack(leased));
    const { refusal } = await this.#insist(() => node.complete(leased));
    if (refusal === null) this.done.add(leased.accepted.id);
  }

  /** Only what the relay says may be said again, is. */
  async #insist<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof EngineFault) || error.code < 429) throw error;
        this.faults += 1;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }
}

async function checkEverything(node: Node, load: Load): Promise<void> {
  const { handoffs } = await node.store.list({ namespace, order: "oldest", limit: 1_000 });
  expect(handoffs.length).toBe(total);
  expect(new Set(handoffs.map(({ accepted }) => accepted.id))).toEqual(load.accepted);
  expect(new Set(handoffs.map(({ status }) => status.state))).toEqual(new Set(["completed"]));
  expect(handoffs.every(({ status }) => hasEnded(status))).toBe(true);
  const { events } = await node.store.events({ namespace, after_pos: 0, limit: 100_000 });
  const ends = events.filter(({ json }) => JSON.parse(json).type === "completed");
  expect(ends.length).toBe(total);
  expect(events.map(({ pos }) => pos)).toEqual(events.map((_, nth) => nth + 1));
}

async function startNodes(urls: readonly string[]): Promise<readonly Node[]> {
  const nodes: Node[] = [];
  for (const url of urls) nodes.push(await Node.start(url));
  opened.push(async () => void (await Promise.all(nodes.map((node) => node.stop()))));
  return nodes;
}

test("a database that restarts again and again under load loses nothing, and the nodes go on by themselves", async () => {
  const server = await startServer({ durable: true });
  opened.push(() => server.stop());
  const url = server.url(await server.createDatabase());
  const nodes = await startNodes([url, url, url]);
  const load = new Load(nodes);
  const running = load.run();
  for (let restarts = 0; restarts < 4 && load.done.size < total; restarts += 1) {
    await new Promise((resolve) => setTimeout(resolve, 700));
    await server.kill();
    await server.start();
  }
  await running;
  expect(nodes.flatMap(({ recoveries }) => recoveries).every((recovered) => recovered)).toBe(true);
  const [first] = nodes;
  if (first !== undefined) await checkEverything(first, load);
}, 180_000);

test("the primary is lost and its synchronous standby takes over, five times under load: nothing confirmed is lost", async () => {
  const pair = await PostgresPair.start();
  opened.push(() => pair.stop());
  await pair.ask("postgres", "CREATE DATABASE handoffs");
  const url = pair.url("handoffs");
  const nodes = await startNodes([url, url, url]);
  const load = new Load(nodes);
  const running = load.run();
  for (let failovers = 0; failovers < 5; failovers += 1) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    await pair.failOver();
  }
  await running;
  const [first] = nodes;
  if (first !== undefined) await checkEverything(first, load);
  expect(load.faults).toBeGreaterThan(0);
}, 300_000);

test("a node that is cut off from the database does not hold up the others, and comes back", async () => {
  const server = await startServer();
  opened.push(() => server.stop());
  const url = server.url(await server.createDatabase());
  const proxy = await startProxy(server.port);
  opened.push(() => proxy.close());
  const through = url.replace(`:${server.port}`, `:${proxy.port}`);
  const nodes = await startNodes([url, url, through]);
  const load = new Load(nodes);
  const running = load.run();
  for (let cuts = 0; cuts < 4; cuts += 1) {
    await new Promise((resolve) => setTimeout(resolve, 400));
    proxy.cut();
    await new Promise((resolve) => setTimeout(resolve, 600));
    proxy.mend();
  }
  await running;
  const [first] = nodes;
  if (first !== undefined) await checkEverything(first, load);
}, 180_000);
