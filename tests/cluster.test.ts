/** Several relays on one PostgreSQL: what docs/cluster.md tells a reader to type, and nodes that are replaced or killed under load. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { env, execPath } from "node:process";
import { type Client, connect } from "@handfast/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Cli } from "../packages/cli/src/testing/cli.ts";
import { startServer, type TestServer } from "../packages/store-postgres/src/testing/server.ts";
import { Balancer } from "./support/balancer.ts";
import { ClientLoad } from "./support/client-load.ts";
import { onFreePorts } from "./support/free-ports.ts";
import { differences, follow, readGuide } from "./support/guide.ts";
import { makeProject } from "./support/project.ts";
import { freePort, RelayProcess } from "./support/relay-process.ts";

let folder: string;
let server: TestServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "handfast-cluster-"));
  server = await startServer({ durable: true });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("three nodes are started, and work goes from one to another, as docs/cluster.md tells it", async () => {
  const place = join(folder, "guide");
  makeProject(place, {});
  const path = `${join(place, "node_modules/.bin")}:${dirname(execPath)}:${env["PATH"]}`;
  const free = await onFreePorts(readGuide(join(import.meta.dirname, "../docs/cluster.md")));
  const DATABASE_URL = server.url(await server.createDatabase());
  const told = await follow(free.guide, place, { PATH: path, HOME: place, NO_COLOR: "1", ...free.env, DATABASE_URL });
  expect(told.length).toBe(7);
  expect(told.flatMap((each) => differences({ ...each, printed: free.shown(each.printed) }))).toEqual([]);
}, 240_000);

test("three nodes are drained, ended and started again under load, one after the other: nobody notices", async () => {
  const database = server.url(await server.createDatabase());
  const [front, ...ports] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const settings = ["--store", database, "--public-url", [`http://127.0.0.1:${front}`, ...urls].join(","), "--dev"];
  const nodes: RelayProcess[] = [];
  try {
    for (const [nth, port] of ports.entries()) {
      const place = join(folder, `rolling-${nth}`);
      nodes.push(await RelayProcess.start([...settings, "--node", `n${nth}`], place, { port }));
    }
    const token = readFileSync(join(folder, "rolling-0", "operator-token"), "utf8").trim();
    await using balancer = await Balancer.start(() => urls, front ?? 0);
    await using load = await ClientLoad.start(balancer.url);
    const goesOn = async () => {
      const before = load.accepted;
      await expect.poll(() => load.accepted, { timeout: 60_000 }).toBeGreaterThan(before + 30);
    };
    const cli = await Cli.make({ HANDFAST_URL: balancer.url, HANDFAST_TOKEN: token });
    for (const [nth, node] of nodes.entries()) {
      await goesOn();
      const drained = await cli.run(["drain", `n${nth}`]);
      expect(drained).toMatchObject({ code: 0, stdout: expect.stringContaining("is drained") });
      const ready = await fetch(`${node.url}/readyz`);
      expect([ready.status, await ready.json()]).toMatchObject([503, { reasons: ["draining"] }]);
      await goesOn();
      expect(await node.end("SIGTERM")).toBe(0);
      await goesOn();
      await node.start();
    }
    await goesOn();
    await cli.stop();
    await load.drain();
    await load.check();
  } finally {
    await Promise.all(nodes.map((node) => node.end("SIGKILL")));
  }
}, 300_000);

const kills = 20;

test(`${kills} nodes are killed under load: nothing accepted is lost, nothing is completed twice`, async () => {
  const database = server.url(await server.createDatabase());
  const ports = [await freePort(), await freePort(), await freePort()];
  // What an agent signs at one node is good at every other.
  const public_urls = ports.map((port) => `http://127.0.0.1:${port}`).join(",");
  const settings = ["--store", database, "--public-url", public_urls, "--dev"];
  const nodes: RelayProcess[] = [];
  const clients: Client[] = [];
  const open = async (url: string, agent: string) => {
    const client = await connect({ url, agent, home: join(folder, "home"), patience: "3m", onConnection: () => {} });
    clients.push(client);
    return client;
  };
  try {
    for (const port of ports) {
      nodes.push(await RelayProcess.start(settings, join(folder, `node-${port}`), { port }));
    }
    for (const [nth, node] of nodes.entries()) {
      const worker = await open(node.url, `worker-${nth}`);
      await worker.serve({ double: (n: number) => n * 2 }, { signals: false });
    }
    const ids = new Set<string>();
    let killed = 0;
    const send = async (node: RelayProcess, nth: number) => {
      const sender = await open(node.url, `sender-${nth}`);
      for (let n = 0; killed < kills; n += 1) {
        const handle = await sender.send<number>("double", n, { timeout: "5m" });
        ids.add(handle.id);
        expect(await handle.result()).toBe(n * 2);
      }
    };
    const sent = Promise.all(nodes.map(send));
    for (; killed < kills; killed += 1) {
      const node = nodes[killed % nodes.length];
      await node?.end("SIGKILL");
      await node?.start();
    }
    await sent;
    expect(ids.size).toBeGreaterThan(kills * 3);
    const rows = await server.ask(
      new URL(database).pathname.slice(1),
      "SELECT handoff, json::json->>'type' AS type FROM handfast.event WHERE handoff <> ''",
    );
    const completed = rows.filter(({ type }) => type === "completed").map(({ handoff }) => handoff);
    expect(completed.length).toBe(ids.size);
    expect(new Set(completed)).toEqual(ids);
    expect(rows.filter(({ type }) => type === "failed" || type === "expired" || type === "rejected")).toEqual([]);
  } finally {
    await Promise.all(clients.map((client) => client.close()));
    await Promise.all(nodes.map((node) => node.end("SIGKILL")));
  }
}, 300_000);
