/** How a worker ends: in order, in a hurry, by a signal, or not at all in order. */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { toBase64url } from "@handfast/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Client } from "../client.ts";
import { crashServer } from "./mod.ts";
import { aborted, gate, Stage } from "./testing/stage.ts";

let stage: Stage;
let sender: Client;
let worker: Client;
beforeEach(async () => {
  stage = await Stage.open();
  [sender, worker] = await Promise.all([stage.agent("sender"), stage.agent("worker")]);
});
afterEach(() => stage.close());

/** How the relay shows it in discovery. */
async function liveness(agent: string) {
  const { hits } = await sender.find({ capability: agent });
  return hits.map((hit) => hit.liveness.state)[0];
}

describe("discovery", () => {
  const soon = { timeout: 15_000, interval: 100 };

  test.each<[string, "http" | "websocket"]>([
    ["a WebSocket", "websocket"],
    ["HTTP", "http"],
  ])(
    "tells within seconds of a worker on %s that it stopped in order",
    async (_, transport) => {
      const one = await stage.agent("one", { transport });
      const server = await one.serve({ one: () => "done" });
      await (await sender.send("one", null)).result();
      expect(await liveness("one")).toBe("live");
      await server.stop();
      await expect.poll(() => liveness("one"), soon).toBe("idle");
      // Whoever asks for work again is there again.
      await one.serve({ one: () => "done" });
      await expect.poll(() => liveness("one"), soon).toBe("live");
    },
    20_000,
  );

  test("tells it of one whose only slot was taken when it was told to stop, and not while it still works", async () => {
    const go = gate();
    const server = await worker.serve({ worker: () => go.promise }, { concurrency: 1 });
    const handle = await sender.send("worker", null);
    await handle.acknowledged();
    const stopped = server.stop();
    expect(await liveness("worker")).toBe("live");
    go.resolve();
    await handle.result();
    await stopped;
    await worker.close();
    await expect.poll(() => liveness("worker"), soon).toBe("idle");
  }, 20_000);

  test("tells it of one that gave back what it held", async () => {
    const server = await worker.serve({ worker: () => gate().promise }, { concurrency: 1 });
    await (await sender.send("worker", null)).acknowledged();
    await server.stop({ grace: 0 });
    await expect.poll(() => liveness("worker"), soon).toBe("idle");
  }, 20_000);
});

describe("stop", () => {
  test("lets running handlers end within the grace, and takes nothing more", async () => {
    const working = gate();
    const go = gate();
    const server = await worker.serve({
      hold: async () => {
        working.resolve();
        await go.promise;
        return "done";
      },
    });
    const handle = await sender.send("hold", null);
    await working.promise;
    const stopped = server.stop();
    const second = await sender.send("hold", null);
    go.resolve();
    await stopped;
    expect((await handle.status()).outcome?.output).toBe("done");
    expect(await second.status()).toMatchObject({ state: "queued", deliveries: 0 });
    expect(server.active).toBe(0);
  });

  test("after the grace tells the handler, which keeps a last checkpoint, and gives the lease back uncounted", async () => {
    const reason = gate<unknown>();
    const server = await worker.serve({
      long: async (_input: unknown, ctx) => {
        ctx.progress(0.1);
        reason.resolve(await aborted(ctx.signal));
        await ctx.checkpoint({ half: "done" });
        throw new Error("stopped");
      },
    });
    const handle = await sender.send("long", null);
    await handle.acknowledged();
    await server.stop({ grace: 0 });
    expect(await reason.promise).toMatchObject({ reason: "worker_stopping" });
    expect(await handle.status()).toMatchObject({ state: "queued", attempts: 0, deliveries: 0, failures: [] });
    await worker.serve({ long: (_input: unknown, ctx) => ctx.previous.checkpoint });
    expect(await handle.result()).toEqual({ half: "done" });
    expect(stage.warnings("worker")).toEqual([]);
  });

  test("gives back what a handler that does not listen holds, and ignores what it returns", async () => {
    const go = gate();
    const ended = gate();
    const server = await worker.serve({
      deaf: async () => {
        await go.promise;
        ended.resolve();
        return "unheard";
      },
    });
    const handle = await sender.send("deaf", null);
    await handle.acknowledged();
    await server.stop({ grace: 0 });
    go.resolve();
    await ended.promise;
    expect(await handle.status()).toMatchObject({ state: "queued", attempts: 0, late: [] });
  });

  test("a second stop may shorten the grace of the first", async () => {
    const server = await worker.serve({ deaf: () => new Promise(() => {}) });
    const handle = await sender.send("deaf", null);
    await handle.acknowledged();
    const slowly = server.stop({ grace: "1h" });
    await server.stop({ grace: 0 });
    await slowly;
    expect((await handle.status()).state).toBe("queued");
  });

  test("loses no lease that was on its way", async () => {
    const first = await worker.serve({ count: ({ n }: { n: number }) => n }, { concurrency: 8 });
    const tasks = Array.from({ length: 120 }, (_, n) => ({ capability: "count", input: { n } }));
    const scatter = sender.scatter<number>(tasks);
    const [some] = await scatter.handles();
    await some?.result();
    await first.stop();
    await worker.serve({ count: ({ n }: { n: number }) => n }, { concurrency: 8 });
    expect(await scatter.all()).toEqual(tasks.map(({ input }) => input.n));
    const views = await Promise.all((await scatter.handles()).map((handle) => handle.status()));
    expect(views.filter(({ attempts, deliveries }) => attempts !== 1 || deliveries !== 0)).toEqual([]);
  });

  test("closing the client stops its servers", async () => {
    const server = await worker.serve({ idle: () => null });
    await worker.close();
    await server.stopped;
    expect(server.active).toBe(0);
  });
});

describe("signals", () => {
  const count = () => process.listenerCount("SIGTERM") + process.listenerCount("SIGINT");

  test("are listened to once for all servers, and no more after the last stopped", async () => {
    const before = count();
    const servers = [await worker.serve({ one: () => 1 }), await worker.serve({ two: () => 2 })];
    expect(count()).toBe(before + 2);
    for (const server of servers) await server.stop();
    expect(count()).toBe(before);
  });

  test("are left alone where the worker is told so", async () => {
    const before = count();
    await worker.serve({ one: () => 1 }, { signals: false });
    expect(count()).toBe(before);
  });
});

describe("a process", () => {
  const program = fileURLToPath(new URL("./testing/worker-process.ts", import.meta.url));
  let child: ChildProcessWithoutNullStreams;
  afterEach(() => {
    child.kill("SIGKILL");
  });

  async function start(...flags: readonly string[]): Promise<void> {
    const key = toBase64url(crypto.getRandomValues(new Uint8Array(32)));
    const env = { ...process.env, HANDFAST_URL: stage.relay.url, HANDFAST_AGENT: "child", HANDFAST_KEY: key };
    child = spawn(process.execPath, [program, ...flags], { env });
    await said("ready");
  }

  async function said(word: string): Promise<void> {
    for await (const [chunk] of on(child.stdout)) if (String(chunk).includes(word)) return;
  }

  async function* on(stream: NodeJS.ReadableStream): AsyncGenerator<unknown[]> {
    for (;;) yield await once(stream, "data");
  }

  test("ends with 0 after SIGTERM, once its handlers have ended", async () => {
    await start();
    const working = said("working");
    const handle = await sender.send("obliging", null);
    await working;
    child.kill("SIGTERM");
    child.stdin.write("go\n");
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
    expect(await handle.result()).toBe("done");
  });

  test("gives back what does not end in time, and ends with 0", async () => {
    await start("short");
    const working = said("working");
    const handle = await sender.send("deaf", null);
    await working;
    child.kill("SIGTERM");
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
    expect(await handle.status()).toMatchObject({ state: "queued", attempts: 0, failures: [] });
  });

  test("ends at once at a second signal", async () => {
    await start();
    const working = said("working");
    await sender.send("deaf", null);
    await working;
    const ended = once(child, "exit");
    // Two that come together may count as one.
    await expect.poll(() => child.kill("SIGTERM") && child.signalCode, { timeout: 20_000 }).not.toBe(null);
    expect((await ended)[1]).toBe("SIGTERM");
  });
});

describe("a crash", () => {
  test("gives nothing back and says nothing more: the lease runs out, and another attempt does it", async () => {
    const working = gate();
    const go = gate();
    const ended = gate();
    const server = await worker.serve({
      work: async () => {
        working.resolve();
        await go.promise;
        ended.resolve();
        return "from the grave";
      },
    });
    const handle = await sender.send("work", null, { lease: "2s" });
    await working.promise;
    crashServer(server);
    await server.stopped;
    go.resolve();
    await ended.promise;
    expect((await handle.status()).state).toBe("working");
    const heir = await stage.agent("heir");
    await heir.serve({ work: (_input: unknown, ctx) => ctx.attempt });
    expect(await handle.result()).toBe(2);
    expect((await handle.status()).late).toEqual([]);
  });
});
