/** A worker at work: what handlers are given, and what becomes of what they return. */

import { createHash } from "node:crypto";
import { toBase64url } from "@handfast/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import type { Client } from "../client.ts";
import { Fail, Reject, Retry } from "../errors.ts";
import type { Context } from "./mod.ts";
import { gate, Stage } from "./testing/stage.ts";

let stage: Stage;
let sender: Client;
let worker: Client;
beforeEach(async () => {
  stage = await Stage.open();
  [sender, worker] = await Promise.all([stage.agent("sender"), stage.agent("worker")]);
});
afterEach(() => stage.close());

describe("output", () => {
  test("a handler's return value is the handoff's output", async () => {
    await worker.serve({ double: (n: number) => n * 2 });
    expect(await (await sender.send("double", 21)).result()).toBe(42);
  });

  test("a handler that returns nothing completes with null", async () => {
    await worker.serve({ nothing: () => undefined });
    expect(await (await sender.send("nothing", null)).result()).toBe(null);
  });

  test("a text capability is given text and answers with text", async () => {
    await worker.serve({ upper: { text: true, handler: (text: string) => text.toUpperCase() } });
    const view = await (await sender.send("upper", "hello", { text: true })).outcome();
    expect(view.outcome?.text).toBe("HELLO");
  });

  test("what the handler used and attached stands in the outcome", async () => {
    const body = new TextEncoder().encode("a picture");
    const sha256 = createHash("sha256").update(body).digest("hex");
    await worker.serve({
      draw: async (_input: unknown, ctx) => {
        ctx.use({ tokens: 100 });
        ctx.use({ tokens: 50, cost: 7 });
        await worker.call("put_artifact", { params: { sha256 }, body });
        ctx.attach({ sha256, size: body.length, media_type: "application/octet-stream" });
      },
    });
    const { outcome } = await (await sender.send("draw", null)).outcome();
    expect(outcome).toMatchObject({ usage: { cost: 7, tokens: 150 }, artifacts: [sha256] });
  });
});

describe("input", () => {
  test("a schema's defaults and transforms are applied before the handler", async () => {
    const input = z.object({ at: z.string().transform((text) => new Date(text)), times: z.number().default(3) });
    const output = z.object({ year: z.number(), times: z.number() });
    await worker.serve({
      when: { input, output, handler: ({ at, times }) => ({ year: at.getUTCFullYear(), times }) },
    });
    expect(await (await sender.send("when", { at: "2026-01-02T00:00:00Z" })).result()).toEqual({
      year: 2026,
      times: 3,
    });
  });

  test("what JSON Schema cannot say is checked by the schema itself, and not tried again", async () => {
    const input = z
      .object({ word: z.string() })
      .refine(({ word }) => word === [...word].reverse().join(""), "no palindrome");
    await worker.serve({ mirror: { input, handler: ({ word }) => word } });
    const handle = await sender.send("mirror", { word: "abc" });
    await expect(handle.result()).rejects.toMatchObject({ reason: "input_unfit", message: /no palindrome/ });
    expect((await handle.status()).attempts).toBe(1);
  });

  test("the relay refuses input that does not fit the manifest made from the schema", async () => {
    await worker.serve({ count: { input: z.object({ n: z.int() }), handler: ({ n }) => n } });
    await expect(sender.send("count", { n: "one" })).rejects.toMatchObject({ code: 422 });
  });

  test("a handoff that names only the agent goes to its only handler", async () => {
    await worker.serve({ echo: (input) => input });
    expect(await (await sender.send({ to: "worker" }, "you")).result()).toBe("you");
  });

  test("a handoff that names only an agent with several handlers is rejected with their names", async () => {
    await worker.serve({ one: () => 1, two: () => 2 });
    const handle = await sender.send({ to: "worker" }, null);
    await expect(handle.result()).rejects.toMatchObject({ code: 501, reason: "no_handler", message: /one, two/ });
  });
});

describe("what a handler throws", () => {
  test("an error is tried again, and the next attempt knows of it", async () => {
    await worker.serve({
      unsteady: (_input: unknown, ctx) => {
        if (ctx.attempt === 1) throw new Error("the first time never works");
        return { attempt: ctx.attempt, before: ctx.previous.failures.map(({ error }) => error.message) };
      },
    });
    const handle = await sender.send("unsteady", null);
    expect(await handle.result()).toEqual({ attempt: 2, before: ["the first time never works"] });
    expect((await stage.warned("worker", "handler_error")).message).toContain("serve.test.ts");
  });

  test("Fail ends the handoff at once, with its reason and message", async () => {
    await worker.serve({
      no: () => {
        throw new Fail("there is no such page", { reason: "page_missing", detail: { page: 7 } });
      },
    });
    const handle = await sender.send("no", null);
    await expect(handle.result()).rejects.toMatchObject({ code: 500, reason: "page_missing" });
    expect((await handle.status()).attempts).toBe(1);
  });

  test("Retry waits as long as it says before the next attempt", async () => {
    await worker.serve({
      later: (_input: unknown, ctx) => {
        if (ctx.attempt === 1) throw new Retry("the tool is busy", { after: "2s" });
        return "done";
      },
    });
    const handle = await sender.send("later", null);
    expect(await handle.result()).toBe("done");
    const [lost] = (await handle.status()).failures;
    const events = [];
    for await (const event of handle.events()) events.push(event);
    const again = events.filter(({ type }) => type === "delivered").at(-1);
    expect((again?.at ?? 0) - (lost?.at ?? 0)).toBeGreaterThanOrEqual(2_000);
  });

  test("Reject leaves it to another agent", async () => {
    const other = await stage.agent("other");
    await other.serve({ work: () => "by other" }, { concurrency: 1 });
    await worker.serve({
      work: () => {
        throw new Reject("not my language", { reason: "language" });
      },
    });
    const handle = await sender.send("work", null);
    expect(await handle.result()).toBe("by other");
    expect((await handle.status()).failures).toMatchObject([
      { agent: "worker", code: 501, error: { reason: "language" } },
    ]);
  });

  test("Reject where nobody else is left ends the handoff", async () => {
    await worker.serve({
      work: () => {
        throw new Reject("not my language");
      },
    });
    await expect((await sender.send("work", null)).result()).rejects.toMatchObject({ code: 501, reason: "rejected" });
  });
});

describe("while it works", () => {
  test("progress reaches the sender, the last one always", async () => {
    const seen = gate();
    await worker.serve({
      steps: async (_input: unknown, ctx) => {
        for (let step = 0; step <= 50; step++) ctx.progress(step / 50, `step ${step}`);
        await seen.promise;
      },
    });
    const handle = await sender.send("steps", null);
    let last: unknown;
    for await (const event of handle.events()) {
      if (event.type !== "progress" || !("note" in event) || event.note !== "step 50") continue;
      last = event;
      seen.resolve();
    }
    expect(last).toMatchObject({ fraction: 1, note: "step 50" });
  });

  test("text written without waiting arrives whole and in order", async () => {
    const text = Array.from({ length: 2_000 }, (_, index) => `${index} 🎈 `);
    await worker.serve({
      talk: async (_input: unknown, ctx) => {
        // As a callback: halves of a balloon come apart, as tokens do.
        for (const piece of text.join("").match(/[\s\S]{1,7}/g) ?? []) void ctx.write(piece);
      },
    });
    const handle = await sender.send("talk", null);
    expect(await handle.chunks().text()).toBe(text.join(""));
  });

  test("a checkpoint reaches the next attempt", async () => {
    await worker.serve({
      count: async (_input: unknown, ctx) => {
        const before = (ctx.previous.checkpoint as { n: number } | null)?.n ?? 0;
        await ctx.checkpoint({ n: before + 1 });
        if (before < 1) throw new Retry("not yet");
        return before;
      },
    });
    expect(await (await sender.send("count", null)).result()).toBe(1);
  });

  test("the idempotency key is the same in every attempt", async () => {
    const keys: string[] = [];
    await worker.serve({
      pay: (_input: unknown, ctx) => {
        keys.push(ctx.idempotencyKey);
        if (ctx.attempt === 1) throw new Retry("again");
      },
    });
    await (await sender.send("pay", null, { idempotencyKey: "order 7" })).result();
    expect(keys).toEqual(["order 7", "order 7"]);
  });

  test("what a handler sends names its handoff as the cause and never outlives it", async () => {
    await worker.serve({ leaf: (input) => input });
    const middle = await stage.agent("middle");
    await middle.serve({ branch: async (input: unknown, ctx) => (await ctx.send("leaf", input)).result() });
    const handle = await sender.send("branch", "down", { timeout: "30s" });
    expect(await handle.result()).toBe("down");
    const page = await sender.call("correlation", { params: { id: handle.id } }).catch(() => null);
    expect(page?.tree[0]?.handoff.id).toBe(handle.id);
    const all = await stage.relay.get(`/v1/handoffs?causation_id=${handle.id}`, "operator-token-for-tests-only");
    const [child] = all.body.handoffs;
    expect(child).toMatchObject({ correlation_id: handle.id, from: "middle", capability: "leaf" });
    expect(child.deadline_at).toBeLessThanOrEqual((await handle.status()).deadline_at);
  });

  test("a notice is over with its ack, and its handler still runs", async () => {
    const heard = gate<unknown>();
    await worker.serve({ news: (input) => heard.resolve(input) });
    await sender.notify("news", { text: "hello" });
    expect(await heard.promise).toEqual({ text: "hello" });
  });
});

describe("slots", () => {
  test("never more handoffs at once than the concurrency allows", async () => {
    const open = gate();
    let running = 0;
    let most = 0;
    const third = gate();
    await worker.serve(
      {
        hold: async () => {
          running += 1;
          most = Math.max(most, running);
          if (running === 3) third.resolve();
          await open.promise;
          running -= 1;
        },
      },
      { concurrency: 3 },
    );
    const scatter = sender.scatter(Array.from({ length: 12 }, () => ({ capability: "hold", input: null })));
    await third.promise;
    const summary = await stage.relay.get("/v1/handoffs?state=queued", "operator-token-for-tests-only");
    expect(summary.body.handoffs).toHaveLength(9);
    open.resolve();
    await scatter.all();
    expect(most).toBe(3);
  });

  test("two workers of one agent share the work, and nothing runs twice", async () => {
    const ran: string[] = [];
    const handler = async ({ n }: { n: number }, ctx: Context) => {
      ran.push(`${n}`);
      await ctx.checkpoint(n);
      return n;
    };
    const [first, second] = await Promise.all([
      worker.serve({ share: handler }, { worker: "worker-1", concurrency: 4 }),
      worker.serve({ share: handler }, { worker: "worker-2", concurrency: 4 }),
    ]);
    expect(first?.worker).not.toBe(second?.worker);
    const tasks = Array.from({ length: 60 }, (_, n) => ({ capability: "share", input: { n } }));
    const scatter = sender.scatter<number>(tasks);
    expect(await scatter.all()).toEqual(tasks.map(({ input }) => input.n));
    expect(ran.length).toBe(60);
    expect(new Set(ran).size).toBe(60);
  });
});

describe("serving several times", () => {
  test("from one client offers everything, until one of them stops", async () => {
    await worker.serve({ one: () => 1 });
    const second = await worker.serve({ two: () => 2 });
    expect(await (await sender.send("one", null)).result()).toBe(1);
    expect(await (await sender.send("two", null)).result()).toBe(2);
    await second.stop();
    await expect.poll(() => sender.send("two", null).catch(({ code }) => code)).toBe(406);
    expect(await (await sender.send("one", null)).result()).toBe(1);
  });

  test("from two processes with different capabilities: what one does not know is left to the other", async () => {
    const key = toBase64url(crypto.getRandomValues(new Uint8Array(32)));
    const [older, newer] = [await stage.agent("grown", { key }), await stage.agent("grown", { key })];
    await older.serve({ old: () => "old" });
    await newer.serve({ old: () => "old", fresh: () => "fresh" });
    const tasks = Array.from({ length: 6 }, () => ({ capability: "fresh", input: null, ack: 500 }));
    expect(await sender.scatter(tasks).all()).toEqual(tasks.map(() => "fresh"));
  });

  test("a misspelt option is refused", async () => {
    await expect(worker.serve({ one: () => 1 }, { concurency: 3 } as object)).rejects.toThrow(/"concurency"/);
  });
});
