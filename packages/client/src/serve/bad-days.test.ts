/** A worker's bad days: handlers that misbehave, leases that are lost, relays that come and go. */

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Client } from "../client.ts";
import { HandoffError } from "../errors.ts";
import type { Context } from "./context.ts";
import { aborted, gate, Stage } from "./testing/stage.ts";

let stage: Stage;
let sender: Client;
let worker: Client;
beforeEach(async () => {
  stage = await Stage.open();
  [sender, worker] = await Promise.all([stage.agent("sender"), stage.agent("worker")]);
});
afterEach(() => stage.close());

describe("a handler returns", () => {
  const number = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;

  test("what does not fit the output schema: the sender learns the path, and the people here too", async () => {
    await worker.serve({ count: { output: number, handler: () => ({ n: "many" }) as unknown as { n: number } } });
    const handle = await sender.send("count", null, { attempts: 1 });
    await expect(handle.result()).rejects.toMatchObject({ code: 500, reason: "output_unfit", message: /\/n/ });
    expect((await stage.warned("worker", "output_unfit")).message).toContain("/n");
  });

  test("what does not fit the sender's expectation", async () => {
    await worker.serve({ count: () => ({ n: "many" }) });
    const handle = await sender.send("count", null, { attempts: 1, expects: number });
    await expect(handle.result()).rejects.toMatchObject({ reason: "output_unfit" });
  });

  test.each([
    ["a BigInt", { total: 10n }, /BigInt/],
    ["a map", { found: new Map() }, /Map/],
    ["what is not a number", [Number.NaN], /NaN/],
  ])("%s: it fails at once and says where", async (_what, output, says) => {
    await worker.serve({ odd: () => output });
    const handle = await sender.send("odd", null);
    await expect(handle.result()).rejects.toMatchObject({ reason: "output_not_json", message: says });
    expect((await handle.status()).attempts).toBe(1);
  });

  test("an object that contains itself: it fails at once", async () => {
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    await worker.serve({ odd: () => loop });
    const handle = await sender.send("odd", null);
    await expect(handle.result()).rejects.toMatchObject({ reason: "output_not_json", message: /contains itself/ });
  });

  test("after the cancel: the result is kept as late and nothing breaks", async () => {
    const working = gate<AbortSignal>();
    const late = gate();
    await worker.serve({
      slow: async (_input: unknown, ctx) => {
        working.resolve(ctx.signal);
        await late.promise;
        return "too late";
      },
    });
    // Heartbeats are far apart: only the relay's own word can tell in time.
    const handle = await sender.send("slow", null, { lease: "1h" });
    const signal = await working.promise;
    await handle.cancel("changed my mind");
    expect(await aborted(signal)).toMatchObject({ code: 410, reason: "canceled" });
    late.resolve();
    for (;;) {
      const view = await handle.status();
      if (view.late.length === 0) continue;
      expect(view.state).toBe("canceled");
      expect(view.late[0]?.outcome.output).toBe("too late");
      break;
    }
    expect(stage.warnings("worker")).toEqual([]);
  });
});

describe("a handler hangs", () => {
  test("past the attempt clock: its signal is aborted, it is named, and it keeps its slot until it ends", async () => {
    const first = gate<AbortSignal>();
    const free = gate();
    const server = await worker.serve(
      {
        hang: async (_input: unknown, ctx) => {
          if (ctx.attempt > 1) return "second attempt";
          first.resolve(ctx.signal);
          await free.promise;
          return "never wanted";
        },
      },
      { concurrency: 2 },
    );
    const handle = await sender.send("hang", null, { attempt: "500ms", lease: "1h" });
    expect(await aborted(await first.promise)).toBeInstanceOf(HandoffError);
    expect(await handle.result()).toBe("second attempt");
    expect((await stage.warned("worker", "handler_ignores_signal")).message).toContain("hang");
    expect(server.active).toBe(1);
    free.resolve();
  });
});

describe("the sender is not to be trusted", () => {
  test("what does not pass the check is rejected and never runs", async () => {
    const ran: unknown[] = [];
    const careful = await stage.agent("careful", { requireSigned: true });
    await careful.serve({ obey: (input) => ran.push(input) });
    const stranger = await stage.relay.agent("stranger");
    const id = await stranger.submit({ capability: "obey", input: null });
    const { body } = await stranger.get(`/v1/handoffs/${id}?until=ended`, { prefer: "wait=10" });
    expect(body).toMatchObject({ state: "rejected", outcome: { error: { reason: "unsigned" } } });
    expect(ran).toEqual([]);
    expect((await stage.warned("careful", "unsigned")).handoff).toBe(id);
  });
});

describe("a lease is lost", () => {
  test("the signal says so by the next heartbeat, and the result under the new fence stands", async () => {
    const reasons: unknown[] = [];
    const server = await worker.serve({
      once: async (_input: unknown, ctx) => {
        const { id, fence } = ctx.handoff;
        if (fence > 1) return "second";
        // Given back behind the handler's back: for it this is the same as a lease that ran out.
        await worker.call("release", { params: { id }, body: { fence, worker: server.worker } });
        reasons.push(await aborted(ctx.signal));
        return "first";
      },
    });
    const handle = await sender.send("once", null, { lease: "2s" });
    expect(await handle.result()).toBe("second");
    expect((await stage.warned("worker", "outcome_late")).handoff).toBe(handle.id);
    expect(reasons).toMatchObject([{ code: 412, reason: "lease_lost" }]);
    expect((await handle.status()).outcome?.output).toBe("second");
  });
});

describe("a lease is lost, and a call under it is the first to hear so", () => {
  test.each<[string, (ctx: Context) => Promise<unknown>]>([
    ["a checkpoint", (ctx) => ctx.checkpoint(1)],
    ["a question", (ctx) => ctx.ask("Which?")],
    ["a child", (ctx) => ctx.send("other", null)],
    ["a notice", (ctx) => ctx.notify("other", null)],
    ["a scatter", (ctx) => ctx.scatter([{ capability: "other", input: null }]).handles()],
  ])("%s: the handler that throws it is told of nobody as broken", async (_what, call) => {
    await worker.serve({ other: () => null });
    const refused = gate<unknown>();
    const losing = await stage.agent("losing");
    const server = await losing.serve({
      once: async (_input: unknown, ctx) => {
        const { id, fence } = ctx.handoff;
        if (fence > 1) return "second";
        await losing.call("release", { params: { id }, body: { fence, worker: server.worker } });
        return call(ctx).catch((error: unknown) => {
          refused.resolve(error);
          throw error;
        });
      },
    });
    const handle = await sender.send("once", null, { lease: "1h" });
    expect(await refused.promise).toMatchObject({ code: 412, reason: "lease_lost" });
    expect(await handle.result()).toBe("second");
    expect(stage.warnings("losing")).toEqual([]);
  });
});

describe("a checkpoint that is never answered", () => {
  test("ends with the lease, so that the handler holds no slot for it", async () => {
    const deaf: typeof fetch = (input, init) => {
      if (!String(input).endsWith("/checkpoint")) return fetch(input, init);
      return aborted(init?.signal ?? AbortSignal.abort()).then((reason) => Promise.reject(reason));
    };
    const waiting = await stage.agent("waiting", { transport: "http", fetch: deaf });
    const over = gate<unknown>();
    await waiting.serve({ slow: async (_input: unknown, ctx) => ctx.checkpoint(1).catch(over.resolve) });
    const handle = await sender.send("slow", null, { lease: "2s" });
    await handle.acknowledged();
    await handle.cancel();
    expect(await over.promise).toMatchObject({ code: 410, reason: "canceled" });
  });
});

describe("a worker that cannot be told", () => {
  test("learns of a cancel by its next heartbeat", async () => {
    const polling = await stage.agent("polling", { transport: "http" });
    const over = gate<unknown>();
    await polling.serve({ slow: async (_input: unknown, ctx) => over.resolve(await aborted(ctx.signal)) });
    const handle = await sender.send("slow", null, { lease: "2s" });
    await handle.acknowledged();
    await handle.cancel();
    expect(await over.promise).toMatchObject({ code: 410, reason: "canceled" });
  });
});

describe("the relay", () => {
  async function forgetEverything(): Promise<void> {
    const { directory } = stage.relay;
    await stage.relay.pause();
    for (const name of await readdir(directory)) await rm(join(directory, name), { recursive: true });
    await stage.relay.resume();
  }

  test("restarts in mid-work: the work ends under the same fence, once", async () => {
    const working = gate<number>();
    const go = gate();
    let runs = 0;
    await worker.serve({
      long: async (_input: unknown, ctx) => {
        runs += 1;
        working.resolve(ctx.handoff.fence);
        await go.promise;
        return "done";
      },
    });
    const handle = await sender.send("long", null);
    const fence = await working.promise;
    await stage.relay.pause();
    go.resolve();
    await stage.relay.resume();
    expect(await handle.result()).toBe("done");
    const view = await handle.status();
    expect(view).toMatchObject({ state: "completed", attempts: 1, fence });
    expect(runs).toBe(1);
  });

  test("comes back empty: the worker is known again and serves what comes", async () => {
    await worker.serve({ echo: (input) => input });
    expect(await (await sender.send("echo", 1)).result()).toBe(1);
    await forgetEverything();
    const handle = await sender.send("echo", 2, { queueIfAbsent: true });
    expect(await handle.result()).toBe(2);
  });

  test("comes back empty in mid-work: the handler is told that nobody knows its handoff any more", async () => {
    const threaded = await stage.agent("threaded", { heartbeats: "thread" });
    const over = gate<unknown>();
    await threaded.serve({ orphan: async (_input: unknown, ctx) => over.resolve(await aborted(ctx.signal)) });
    const handle = await sender.send("orphan", null, { lease: "2s" });
    await handle.acknowledged();
    await forgetEverything();
    expect(await over.promise).toMatchObject({ code: 404 });
    expect(stage.warnings("threaded").map(({ reason }) => reason)).not.toContain("heartbeat_thread_lost");
  });

  test("restarts while text is streamed: the text is whole again", async () => {
    const first = gate();
    const second = gate();
    const read = gate();
    await worker.serve({
      talk: async (_input: unknown, ctx) => {
        await ctx.write("once ");
        ctx.progress(0.5);
        await first.promise;
        await ctx.write("upon a time");
        second.resolve();
        await read.promise;
      },
    });
    const handle = await sender.send("talk", null);
    const chunks = (offset: number) =>
      sender.call("read_chunks", { params: { id: handle.id }, query: { offset } }, { wait_ms: 10_000 });
    expect((await chunks(0)).text).toBe("once ");
    await stage.relay.pause();
    await stage.relay.resume();
    first.resolve();
    await second.promise;
    await expect.poll(async () => (await chunks(0)).text).toBe("once upon a time");
    read.resolve();
    await handle.result();
  });
});
