/** Several processes of one agent, and a relay that comes back with nothing. */

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { toBase64url } from "@handfast/protocol";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { TestRelay } from "../../../relay/src/testing/test-relay.ts";
import type { Client } from "../client.ts";
import { connect } from "../connect.ts";
import { realSurroundings } from "../surroundings.ts";

let relay: TestRelay;
const clients: Client[] = [];

beforeEach(async () => {
  relay = await TestRelay.start();
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await relay.stop();
});

async function empty(): Promise<void> {
  await relay.pause();
  for (const name of await readdir(relay.directory)) await rm(join(relay.directory, name), { recursive: true });
  await relay.resume();
}

/** The relay is away for a moment, and this client notices. */
async function away(client: Client): Promise<void> {
  await relay.pause();
  const back = client.call("agents", {});
  await relay.resume();
  await back;
}

async function offered(client: Client): Promise<readonly string[]> {
  const { capabilities } = await client.call("agent", { params: { name: client.agent } });
  return capabilities.map(({ name }) => name);
}

describe.each(["http", "websocket"] as const)("over %s, an agent of two processes", (transport) => {
  async function openTwo(): Promise<readonly [Client, Client]> {
    const key = toBase64url(realSurroundings.randomBytes(32));
    const open = () => connect({ url: relay.url, agent: "ann", key, transport });
    const [worker, sender] = [await open(), await open()];
    clients.push(worker, sender);
    await worker.base.offer([{ name: "echo" }]);
    return [worker, sender];
  }

  test("offers what it did when its worker comes back first", async () => {
    const [worker, sender] = await openTwo();
    await empty();
    await worker.call("agents", {});
    await sender.call("agents", {});
    expect(await offered(sender)).toEqual(["echo"]);
  });

  test("offers what it did again soon after its worker, though the sender came back first", async () => {
    const [worker, sender] = await openTwo();
    await relay.pause();
    const back = worker.call("agents", {});
    for (const name of await readdir(relay.directory)) await rm(join(relay.directory, name), { recursive: true });
    await relay.resume();
    await sender.call("agents", {});
    await back;
    for (let looks = 1; (await offered(sender)).length === 0; looks++) {
      await sender.call("agents", {});
      // Where both registered at the same moment, and the sender's word came last, the worker sees it when it comes back the next time.
      if (looks % 200 === 0) await away(worker);
    }
    expect(await offered(sender)).toEqual(["echo"]);
  });

  test("is not registered anew by a sender that merely connects", async () => {
    const [, sender] = await openTwo();
    expect(await offered(sender)).toEqual(["echo"]);
  });

  test("registers once, however many workers offer the same, and again for anything else", async () => {
    const fetched = vi.spyOn(globalThis, "fetch");
    const [worker, other] = await openTwo();
    fetched.mockClear();
    const registrations = () =>
      fetched.mock.calls.filter(([url]) => String(url).endsWith("/v1/agents/challenge")).length;
    try {
      await other.base.offer([{ name: "echo" }]);
      await worker.base.offer([{ name: "echo" }]);
      expect(registrations()).toBe(0);
      const input_schema = { type: "string", minLength: 1 };
      await other.base.offer([{ name: "echo", input_schema }]);
      expect(registrations()).toBe(1);
      await worker.base.offer([{ input_schema: { minLength: 1, type: "string" }, name: "echo" }]);
      expect(registrations()).toBe(1);
      await worker.base.offer([]);
      expect(registrations()).toBe(2);
      expect(await offered(worker)).toEqual([]);
    } finally {
      fetched.mockRestore();
    }
  });
});
