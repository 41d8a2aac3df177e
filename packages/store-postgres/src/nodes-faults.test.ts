/** Several nodes while their database restarts, is lost, or cannot be reached; a network that delays, cuts, swallows. */

import { afterEach, expect, test } from "vitest";
import { type CuttingProxy, startProxy } from "./testing/cutting-proxy.ts";
import { NodeLoad, storyOf, workers_of_a_node } from "./testing/node-load.ts";
import { Node, namespace } from "./testing/nodes.ts";
import { PostgresPair } from "./testing/pair.ts";
import { startServer, type TestServer } from "./testing/server.ts";

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
}, 120_000);

/** All that was accepted is completed, once; nothing else is there; the log has no gap. */
async function checkEverything([node]: readonly Node[], load: NodeLoad): Promise<void> {
  if (node === undefined) throw new Error("there is no node");
  const { ids, states, completed, positions } = await storyOf(node);
  expect(ids).toEqual(load.accepted);
  expect(states).toEqual(new Set(["completed"]));
  expect(completed.length).toBe(load.accepted.size);
  expect(new Set(completed)).toEqual(load.accepted);
  expect(positions).toEqual(positions.map((_, nth) => nth + 1));
}

async function startNodes(urls: readonly string[]): Promise<readonly Node[]> {
  const nodes: Node[] = [];
  for (const url of urls) nodes.push(await Node.start(url));
  opened.push(async () => void (await Promise.all(nodes.map((node) => node.stop()))));
  return nodes;
}

/** Nothing but recoveries that went well, and no mistakes. */
function expectNoFailure(nodes: readonly Node[]): void {
  expect(nodes.flatMap(({ recoveries }) => recoveries).every((recovered) => recovered)).toBe(true);
  expect(nodes.map(({ engine }) => engine.state)).toEqual(nodes.map(() => "running"));
}

test("a database that restarts again and again under load loses nothing, and the nodes go on by themselves", async () => {
  const server = await startServer({ durable: true });
  opened.push(() => server.stop());
  const url = server.url(await server.createDatabase());
  const nodes = await startNodes([url, url, url]);
  const load = new NodeLoad(nodes);
  load.start();
  for (let restarts = 0; restarts < 4; restarts += 1) {
    let killed: Promise<void> | null = null;
    await load.whenBusy(restarts % 3, 10, () => {
      killed = server.kill();
    });
    await killed;
    await server.start();
  }
  await load.whenDone(10);
  await load.finish();
  expect(load.faults).toBeGreaterThan(0);
  // Each node noticed each restart: what it had open was gone.
  expect(nodes.every(({ recoveries }) => recoveries.length > 0)).toBe(true);
  expectNoFailure(nodes);
  await checkEverything(nodes, load);
}, 180_000);

test("the primary is lost and its synchronous standby takes over, five times under load: nothing confirmed is lost", async () => {
  const pair = await PostgresPair.start();
  opened.push(() => pair.stop());
  await pair.ask("postgres", "CREATE DATABASE handoffs");
  const url = pair.url("handoffs");
  const nodes = await startNodes([url, url, url]);
  const load = new NodeLoad(nodes);
  load.start();
  for (let failovers = 0; failovers < 5; failovers += 1) {
    let lost: Promise<void> | null = null;
    const faults = load.faults;
    await load.whenBusy(failovers % 3, 10, () => {
      lost = pair.failOver();
    });
    await lost;
    // What was under way was not confirmed: whoever asked was told so.
    await load.when(() => load.faults > faults);
  }
  await load.whenDone(10);
  await load.finish();
  expectNoFailure(nodes);
  await checkEverything(nodes, load);
}, 300_000);

/** Three nodes, of which the last reaches the database by a network that can fail. */
async function startBehindProxy(limits?: ConstructorParameters<typeof NodeLoad>[1]) {
  const server: TestServer = await startServer();
  opened.push(() => server.stop());
  const url = server.url(await server.createDatabase());
  const proxy: CuttingProxy = await startProxy(server.port);
  opened.push(() => proxy.close());
  const nodes = await startNodes([url, url, url.replace(`:${server.port}`, `:${proxy.port}`)]);
  const load = new NodeLoad(nodes, limits);
  load.start();
  return { proxy, nodes, load, there: 2 };
}

async function statesAt(node: Node | undefined, ids: ReadonlySet<string>): Promise<ReadonlySet<string | undefined>> {
  const found = await node?.store.load(namespace, [...ids]);
  return new Set(found?.map((handoff) => handoff?.status.state));
}

/** The others go on; then the network is mended, and the node works again by itself. */
async function comesBack({ proxy, nodes, load, there }: Awaited<ReturnType<typeof startBehindProxy>>): Promise<void> {
  await load.whenDone(5);
  proxy.mend();
  await load.when(() => nodes[there]?.engine.state === "running" && load.at(there).held.size > 0);
}

test("a node that is cut off from the database does not hold up the others, and comes back", async () => {
  const { proxy, nodes, load, there } = await startBehindProxy();
  for (let cuts = 0; cuts < 4; cuts += 1) {
    const faults = load.at(there).faults.length;
    await load.whenBusy(there, 5, () => proxy.cut());
    // The cut met what was under way there, and the others go on.
    await load.when(() => load.at(there).faults.length > faults);
    await comesBack({ proxy, nodes, load, there });
  }
  await load.finish();
  expectNoFailure(nodes);
  await checkEverything(nodes, load);
}, 180_000);

test("a network that swallows everything: the others take over what the node held, it says so in time, and comes back", async () => {
  const { proxy, nodes, load, there } = await startBehindProxy({ lease_ms: 4_000, ack_ms: 4_000 });
  for (const from of ["a moment", "an open transaction"] as const) {
    let held: ReadonlySet<string> = new Set();
    let [under_way, faults] = [0, 0];
    const note = () => {
      const at = load.at(there);
      held = new Set(at.held);
      [under_way, faults] = [at.asking, at.faults.length];
    };
    if (from === "a moment") {
      await load.whenBusy(there, 5, () => {
        proxy.swallow();
        note();
      });
    } else {
      let swallowed: Promise<void> | null = null;
      const swallow = () => {
        swallowed = proxy.swallowNextTransaction();
        load.workOnlyAt(null);
      };
      // What the others leave brings its workers more than one each.
      load.workOnlyAt(there);
      await load.whenBusy(there, 5, swallow, workers_of_a_node + 1);
      await swallowed;
      note();
    }
    expect(held.size).toBeGreaterThan(0);
    // Its leases run out; what it had locked is given free by the server, and others do the work. What its workers completed at the
    // last moment they do not know of themselves, so the store is asked.
    await expect.poll(() => statesAt(nodes[0], held), { timeout: 60_000 }).toEqual(new Set(["completed"]));
    // Nobody there waits for good: first the calls under way, then those that come while it looks for the database.
    expect(under_way).toBeGreaterThan(0);
    const told = () => load.at(there).faults.slice(faults);
    await load.when(() => told().length >= under_way && told().some(({ reason }) => reason === "store_away"));
    await comesBack({ proxy, nodes, load, there });
  }
  await load.finish();
  expectNoFailure(nodes);
  await checkEverything(nodes, load);
}, 240_000);

test("a network that takes 200 ms each way: the node works, and its connection is not given up", async () => {
  const { proxy, nodes, load, there } = await startBehindProxy();
  await load.whenBusy(there, 5, () => {
    proxy.delay(200);
    // Nearer ones would take nearly all of it.
    load.workOnlyAt(there);
  });
  const held = new Set<string>();
  // What it leases from now on goes to and fro by the slow way, and ends.
  await load.when(() => {
    for (const id of load.at(there).held) held.add(id);
    return held.size >= 4;
  });
  await load.when(() => [...held].every((id) => load.done.has(id)));
  await load.finish();
  // Where faster nodes change the same lane again and again it may be told to ask again.
  const others = load.at(there).faults.filter(({ reason }) => reason !== "conflict");
  expect(others).toEqual([]);
  expect(nodes.flatMap(({ recoveries }) => recoveries)).toEqual([]);
  await checkEverything(nodes, load);
}, 180_000);

test("commits whose answer, or which themselves, are lost on the way: the node says that it does not know, and each is done once", async () => {
  const { proxy, nodes, load, there } = await startBehindProxy();
  for (let n = 0; n < 6; n += 1) {
    let lost: Promise<void> | null = null;
    const faults = load.at(there).faults.length;
    await load.whenBusy(there, 3, () => {
      lost = proxy.cutNextCommit(n % 2 === 0 ? "answer" : "commit");
    });
    await lost;
    await load.when(() =>
      load
        .at(there)
        .faults.slice(faults)
        .some(({ reason }) => reason === "commit_unknown"),
    );
  }
  await load.finish();
  expect(nodes[there]?.recoveries.length).toBeGreaterThanOrEqual(6);
  expectNoFailure(nodes);
  await checkEverything(nodes, load);
}, 180_000);
