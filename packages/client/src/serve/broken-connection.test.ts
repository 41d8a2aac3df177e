/** Connections that break at the worst moment: the fetch given to the client loses answers, the relay is a real one. */

import { afterEach, beforeEach, expect, test } from "vitest";
import type { Client } from "../client.ts";
import type { Handle } from "../send/mod.ts";
import type { Context } from "./mod.ts";
import { Stage } from "./testing/stage.ts";

let stage: Stage;
let sender: Client;
beforeEach(async () => {
  stage = await Stage.open();
  sender = await stage.agent("sender");
});
afterEach(() => stage.close());

/** Calls whose path ends so reach the relay, and the first answer that has something in it is lost on its way back. */
function losing(path: string): typeof fetch {
  let is_lost = false;
  return async (input, init) => {
    const response = await fetch(input, init);
    if (is_lost || !String(input).endsWith(path)) return response;
    const text = await response.clone().text();
    if (text === '{"leases":[]}') return response;
    is_lost = true;
    throw new TypeError("the connection broke");
  };
}

test.each(["/v1/claims", "/ack", "/complete"])("an answer to %s that is lost is asked for again", async (path) => {
  const worker = await stage.agent("worker", { fetch: losing(path) });
  const ran: string[] = [];
  await worker.serve({
    work: (_input: unknown, ctx) => {
      ran.push(ctx.handoff.id);
      return "once";
    },
  });
  const handle = await sender.send("work", null);
  expect(await handle.result()).toBe("once");
  expect(ran).toEqual([handle.id]);
  expect(await handle.status()).toMatchObject({ fence: 1, attempts: 1, deliveries: 0, late: [] });
});

test("a handoff that is canceled before its ack never starts, and nobody is bothered", async () => {
  const worker = await stage.agent("worker", {
    fetch: async (input, init) => {
      const [, id] = /handoffs\/(.+)\/ack$/.exec(String(input)) ?? [];
      if (id !== undefined && id === first?.id) await first.cancel();
      return fetch(input, init);
    },
  });
  const ran: unknown[] = [];
  let first: Handle | null = null;
  // Accepted before the worker is there, so that its id is known when it is delivered.
  await worker.serve({ other: () => null });
  first = await sender.send("work", "first", { queueIfAbsent: true });
  await worker.serve({ work: (input) => ran.push(input) });
  expect((await first.outcome()).state).toBe("canceled");
  await (await sender.send("work", "second")).result();
  expect(ran).toEqual(["second"]);
  expect(stage.warnings("worker")).toEqual([]);
});

/** So many calls to such a path find nobody there. */
function away(path: RegExp, times: number): typeof fetch {
  let left = times;
  return async (input, init) => {
    if (path.test(String(input)) && (init?.method ?? "GET") !== "GET" && left-- > 0)
      throw new TypeError("nobody is there");
    return fetch(input, init);
  };
}

test.each<[string, RegExp, (ctx: Context) => Promise<unknown>]>([
  ["send", /\/v1\/handoffs$/, (ctx) => ctx.send("other", null)],
  ["notify", /\/v1\/handoffs$/, (ctx) => ctx.notify("other", null)],
  ["scatter", /\/handoffs\/batch$|\/batch/, (ctx) => ctx.scatter([{ capability: "other", input: null }]).handles()],
  ["checkpoint", /\/checkpoint/, (ctx) => ctx.checkpoint(1)],
  ["write", /\/chunks/, (ctx) => ctx.write("text")],
  [
    "ask",
    /\/ask$/,
    (ctx) => ctx.ask("Who?", { within: "1ms" }).catch(({ reason }) => expect(reason).toBe("unanswered")),
  ],
  ["its outcome", /\/complete$/, async () => {}],
])(
  "a relay that is away for longer than the client is patient does not fail a handler by %s",
  async (_what, path, act) => {
    const worker = await stage.agent("worker", { fetch: away(path, 4), patience: "50ms" });
    let runs = 0;
    await worker.serve({
      other: () => null,
      work: async (_input: unknown, ctx) => {
        runs += 1;
        await act(ctx);
        return "done";
      },
    });
    const handle = await sender.send("work", null);
    expect(await handle.result()).toBe("done");
    expect(runs).toBe(1);
    expect(stage.warnings("worker").filter(({ reason }) => reason !== "relay_away")).toEqual([]);
  },
);
