/** Heartbeats from a thread of their own. The relay is another process, so that a blocked event loop blocks only the worker. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { Worker } from "node:worker_threads";
import { toBase64url } from "@handfast/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RelayProcess } from "../../../relay/src/testing/relay-process.ts";
import type { Warning } from "../base.ts";
import { type ConnectOptions, connect } from "../connect.ts";
import { aborted, gate } from "./testing/stage.ts";

let directory: string;
let relay: RelayProcess;
let url: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "handfast-beats-"));
  relay = new RelayProcess("--port", "0", "--data", directory, "--dev");
  url = await relay.url();
});
afterAll(async () => {
  await relay.stop();
  await rm(directory, { recursive: true });
});

const agent = (name: string, options: ConnectOptions = {}) =>
  connect({ url, agent: name, key: toBase64url(crypto.getRandomValues(new Uint8Array(32))), ...options });

function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe.each(["websocket", "http"] as const)("over %s", (transport) => {
  test("a handler that blocks the event loop for longer than its lease keeps it", async () => {
    await using worker = await agent(`worker-${transport}`, { transport });
    await using sender = await agent(`sender-${transport}`, { transport });
    const name = `spin-${transport}`;
    await worker.serve({
      [name]: (_input: unknown, ctx: { attempt: number }) => {
        block(5_000);
        return ctx.attempt;
      },
    });
    const handle = await sender.send(name, null, { lease: "2s" });
    expect(await handle.result()).toBe(1);
    const view = await handle.status();
    expect(view).toMatchObject({ attempts: 1, fence: 1, failures: [] });
  });
});

test("a lease that is over is told by the thread", async () => {
  await using worker = await agent("told");
  await using sender = await agent("teller");
  const over = gate<unknown>();
  const server = await worker.serve({
    work: async (_input: unknown, ctx) => {
      const { id, fence } = ctx.handoff;
      if (fence > 1) return "again";
      await worker.call("release", { params: { id }, body: { fence, worker: server.worker } });
      over.resolve(await aborted(ctx.signal));
      return null;
    },
  });
  const handle = await sender.send("work", null, { lease: "2s" });
  expect(await over.promise).toMatchObject({ code: 412, reason: "lease_lost" });
  expect(await handle.result()).toBe("again");
});

test("an agent with only a token is kept alive by the thread too", async () => {
  const made = await fetch(`${url}/v1/tokens`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ agent: "bearer", capabilities: [] }),
  });
  const { token } = (await made.json()) as { token: string };
  await using worker = await connect({ url, token });
  await using sender = await agent("asker");
  await worker.serve({
    "spin-token": () => {
      block(3_500);
      return "held";
    },
  });
  const handle = await sender.send("spin-token", null, { lease: "2s", attempts: 1 });
  expect(await handle.result()).toBe("held");
});

test("a thread that dies is noticed, and heartbeats go on from here", async () => {
  const warnings: Warning[] = [];
  const lost = gate();
  const onWarning = (warning: Warning) => {
    warnings.push(warning);
    lost.resolve();
  };
  const thread = gate<Worker>();
  process.once("worker", thread.resolve);
  await using worker = await agent("threadless", { onWarning });
  await using sender = await agent("patient");
  const slow = gate();
  await worker.serve({
    outlive: async () => {
      await slow.promise;
      return "kept";
    },
  });
  const handle = await sender.send("outlive", null, { lease: "2s", attempts: 1 });
  await handle.acknowledged();
  await (await thread.promise).terminate();
  await lost.promise;
  expect(warnings.map(({ reason }) => reason)).toEqual(["heartbeat_thread_lost"]);
  const beatAt = async () => (await handle.status()).lease?.beat_at ?? 0;
  const before = await beatAt();
  await expect.poll(beatAt, { timeout: 10_000 }).toBeGreaterThan(before + 2_000);
  slow.resolve();
  expect(await handle.result()).toBe("kept");
});
