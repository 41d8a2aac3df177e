/** A provider that claims more than it keeps, on a whole relay: measured, named for it, and out of the way of the work. */

import { join } from "node:path";
import { type Client, connect, Fail } from "@handfast/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Cli } from "../packages/cli/src/testing/cli.ts";
import { RelayProcess } from "./support/relay-process.ts";

const claim = 0.95;
/** Enough for both to be judged, whoever gets how much of it. */
const judged = 200;

let relay: RelayProcess;
let cli: Cli;
let sender: Client;
const providers = new Map<string, Client>();
const begun = new Map<string, number>();

/** One that claims 0.95, and fails every so many; 0: none. */
async function provide(agent: string, fails_every: number): Promise<void> {
  const client = await connect({ url: relay.url, agent, home: join(cli.folder, agent) });
  const summarize = () => {
    const nth = (begun.get(agent) ?? 0) + 1;
    begun.set(agent, nth);
    if (fails_every > 0 && nth % fails_every === 0) throw new Fail("one in so many");
    return agent;
  };
  const capabilities = { summarize: { handler: summarize, version: "1.0.0", reliability: claim } };
  await client.serve(capabilities, { signals: false, concurrency: 4 });
  providers.set(agent, client);
}

/** A few at a time: those that it all goes to are never all busy. */
async function handOver(count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const handles = await Promise.all([1, 2, 3, 4].map((input) => sender.send("summarize", input)));
    await Promise.all(handles.map((handle) => handle.result().catch(() => {})));
    ids.push(...handles.map(({ id }) => id));
  }
  return ids;
}

const measured = async (name: string) => (await sender.call("reliability", { params: { name } })).capabilities[0];

beforeAll(async () => {
  relay = await RelayProcess.start();
  cli = await Cli.make({ HANDFAST_URL: relay.url, HANDFAST_AGENT: "asker" });
  sender = await connect({ url: relay.url, agent: "sender", home: join(cli.folder, "home") });
  await provide("shaky", 5);
  await provide("steady", 0);
});
afterAll(async () => {
  for (const client of [...providers.values(), sender]) await client.close();
  await cli.stop();
  await relay.dispose();
});

test("a provider that claims 0.95 and fails one in five ends breached, and work goes to the other", async () => {
  await handOver(judged);
  expect(begun.get("shaky")).toBeGreaterThanOrEqual(10);
  expect(await measured("shaky")).toMatchObject({ claim, status: "breached" });
  expect((await measured("shaky"))?.measured.upper).toBeLessThan(claim);
  expect(await measured("steady")).toMatchObject({ claim, status: "verified" });

  const before = begun.get("shaky");
  for (const id of await handOver(60)) {
    const view = await sender.call("get", { params: { id } });
    expect(view).toMatchObject({ state: "completed", outcome: { agent: "steady" }, attempts: 1 });
  }
  expect(begun.get("shaky")).toBe(before);
});

test("the command tells who keeps its claim and who does not, the one that does first", async () => {
  const found = await cli.run(["find", "--capability", "summarize"]);
  expect(found.stdout).toMatch(/^steady +summarize 1\.0\.0 +live +verified 0\.95 \(0\.9\d+–1, n=\d+\)/m);
  expect(found.stdout).toMatch(/^shaky +summarize 1\.0\.0 +live +breached 0\.95 \(0\.\d+–0\.\d+, n=\d+\)/m);
  expect(found.stdout.indexOf("steady")).toBeLessThan(found.stdout.indexOf("shaky"));
  const { stdout } = await cli.run(["agents", "show", "shaky"]);
  expect(stdout).toMatch(/^ +keeps +breached 0\.95 \(0\.\d+–0\.\d+, n=\d+\)$/m);
});

test("it gets work again only where no other provider lives, and the handoff says so", async () => {
  await providers.get("steady")?.close();
  const handle = await sender.send("summarize", 1);
  await handle.result().catch(() => {});
  const view = await sender.call("get", { params: { id: handle.id } });
  expect(view.why).toEqual({ rule: "no_other", among: 1 });
  const { stdout } = await cli.run(["show", handle.id], { env: { HANDFAST_AGENT: "sender" } });
  expect(stdout).toMatch(
    /^ +routed +it is breached or ejected, and no other agent that could have it was there and free in time$/m,
  );
});
