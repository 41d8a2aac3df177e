/** Failures that are hard to tell: whatever a handler throws or says beside it, the end of its work is reported, once. */

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Client } from "../client.ts";
import { Fail, Reject, Retry } from "../errors.ts";
import { realSurroundings, type Surroundings } from "../surroundings.ts";
import type { Context } from "./mod.ts";
import { Stage } from "./testing/stage.ts";

let stage: Stage;
let sender: Client;
beforeEach(async () => {
  stage = await Stage.open();
  sender = await stage.agent("sender");
});
afterEach(() => stage.close());

async function run(handler: (ctx: Context) => unknown, given: { fetch?: typeof fetch; attempts?: number } = {}) {
  const { fetch, attempts = 3 } = given;
  let runs = 0;
  const worker = await stage.agent("worker", fetch === undefined ? {} : { fetch, transport: "http" });
  const work = (_input: unknown, ctx: Context) => {
    runs += 1;
    return handler(ctx);
  };
  await worker.serve({ work }, { signals: false });
  const view = await (await sender.send("work", null, { attempts })).outcome();
  return { view, error: view.outcome?.error, runs };
}

function nested(levels: number): unknown {
  let value: unknown = "core";
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

describe("the detail of a failure", () => {
  test.each<[string, unknown, unknown]>([
    ["half a surrogate pair", { cut: "a\ud83d" }, { cut: "a\ufffd" }],
    ["a number beyond 2^53", { n: 2 ** 60 }, { n: "1152921504606847000" }],
    ["a BigInt and what is no number", [10n, Number.NaN], ["10", "NaN"]],
    ["a forbidden name", JSON.parse('{"__proto__":1,"kept":2}'), { kept: 2 }],
    ["a function", { f: () => 1, kept: 2 }, { kept: 2 }],
  ])("with %s is made to fit, and the failure is final", async (_what, detail, kept) => {
    const { error, runs } = await run(() => {
      throw new Fail("no", { reason: "broken", detail });
    });
    expect(error).toEqual({ reason: "broken", message: "no", detail: kept });
    expect(runs).toBe(1);
  });

  test("one that contains itself twice, which doubles at every level, is too much and left out", async () => {
    const loop: unknown[] = [];
    loop.push(loop, loop);
    const { error, runs } = await run(() => {
      throw new Fail("no", { detail: loop });
    });
    expect(error).toMatchObject({ reason: "failed", message: "no" });
    expect(runs).toBe(1);
  });

  test("too deep, or one that contains itself, is cut", async () => {
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    const { error, runs } = await run(() => {
      throw new Fail("no", { detail: [nested(100), loop] });
    });
    expect(error).toMatchObject({ reason: "failed", message: "no" });
    expect(JSON.stringify(error?.detail)).toContain("…");
    expect(runs).toBe(1);
  });
});

test("a pause longer than any is the longest there is", async () => {
  const { error } = await run(
    () => {
      throw new Retry("much later", { after: "400d" });
    },
    { attempts: 1 },
  );
  expect(error).toMatchObject({ reason: "retry", message: "much later" });
});

test("a usage that is no amount keeps no failure and no output back", async () => {
  const { view, error, runs } = await run((ctx) => {
    ctx.use({ cost: 1e300, tokens: Number.NaN });
    throw new Fail("the real reason");
  });
  expect(error?.message).toBe("the real reason");
  expect(view.outcome?.usage).toMatchObject({ cost: Number.MAX_SAFE_INTEGER, tokens: 0 });
  expect(runs).toBe(1);
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

test.each<[string, () => unknown, RegExp]>([
  ["an error whose message is an object", () => Object.assign(new Error("x"), { message: { code: 7 } }), /"code":7/],
  ["an object without a prototype", () => Object.create(null), /cannot be shown/],
  ["a proxy that was revoked", revoked, /cannot be shown/],
  ["a promise", () => Promise.resolve(1), /Promise/],
  ["nothing", () => undefined, /undefined/],
  ["a symbol", () => Symbol("odd"), /odd/],
])("%s that is thrown is a failure like any other", async (_what, make, says) => {
  const { view, error } = await run(
    () => {
      throw make();
    },
    { attempts: 1 },
  );
  expect(view).toMatchObject({ state: "failed", code: 500 });
  expect(error?.reason).toBe("handler_error");
  expect(error?.message).toMatch(says);
  expect(stage.warnings("worker").map(({ reason }) => reason)).toEqual(["handler_error"]);
});

test("a verdict whose reason and message are no strings is still that verdict", async () => {
  const { error, runs } = await run(() => {
    throw new Fail(Object(5) as string, { reason: 5 as unknown as string });
  });
  expect(error).toMatchObject({ reason: "failed", message: "5" });
  expect(runs).toBe(1);
});

/** The first calls to this path are refused with this problem; the relay never hears of them. */
function refusing(path: string, code: number, reason: string, times = 1): typeof fetch {
  let refused = 0;
  return async (input, init) => {
    if (refused >= times || !String(input).endsWith(path)) return fetch(input, init);
    refused += 1;
    const problem = { code, reason, detail: "It does not fit.", retryable: false };
    return Response.json(problem, { status: code, headers: { "content-type": "application/problem+json" } });
  };
}

describe("what the relay refuses", () => {
  test.each([
    ["/fail", 400, () => new Fail("final", { detail: { a: 1 } }), "failed"],
    ["/reject", 413, () => new Reject("not mine"), "rejected"],
  ] as const)("of %s is said again in its plainest form", async (path, code, make, state) => {
    const fetch = refusing(path, code, "document_malformed");
    const { view, error, runs } = await run(
      (ctx) => {
        ctx.use({ cost: 1 });
        throw make();
      },
      { fetch },
    );
    expect(view.state).toBe(state);
    expect(error).not.toHaveProperty("detail");
    expect(error?.message).toBe(make().message);
    expect(runs).toBe(1);
    expect((await stage.warned("worker", "failure_shortened")).message).toContain("does not fit");
  });

  test("of an output is a failure that says why", async () => {
    const { error, runs } = await run(() => "fine", { fetch: refusing("/complete", 400, "payload_differs") });
    expect(error).toMatchObject({ reason: "output_refused", message: /does not fit/ });
    expect(runs).toBe(1);
  });

  describe("for want of space", () => {
    /** Pauses of seconds are over in a moment. */
    const surroundings: Surroundings = {
      ...realSurroundings,
      after: (ms, run, holds) => realSurroundings.after(ms / 100, run, holds),
    };
    const serveFull = async (path: string, times: number, handler: () => unknown) => {
      const fetch = refusing(path, 507, "out_of_space", times);
      const worker = await stage.agent("worker", { fetch, transport: "http", surroundings });
      let runs = 0;
      const work = () => {
        runs += 1;
        return handler();
      };
      await worker.serve({ work }, { signals: false });
      // With six seconds to go there is no time for many pauses of five.
      const handle = await sender.send("work", null, { attempts: 1, timeout: "6s" });
      return { view: await handle.outcome(), runs };
    };

    test("is told again, and the work is not done again", async () => {
      const { view, runs } = await serveFull("/complete", 3, () => "fine");
      expect(view).toMatchObject({ state: "completed", outcome: { output: "fine" } });
      expect(runs).toBe(1);
      expect((await stage.warned("worker", "out_of_space")).message).toContain("no room");
    });

    test("is a failure that may be tried again, when time runs short", async () => {
      const { view, runs } = await serveFull("/complete", Number.POSITIVE_INFINITY, () => "fine");
      expect(view).toMatchObject({
        state: "failed",
        retryable: true,
        outcome: { error: { reason: "output_refused" } },
      });
      expect(runs).toBe(1);
    });

    test("of a failure is said at once in its plainest form", async () => {
      const { view } = await serveFull("/fail", 1, () => {
        throw new Fail("final", { detail: "x".repeat(5_000) });
      });
      expect(view.outcome?.error).toEqual({ reason: "failed", message: "final" });
    });
  });

  test("for the connection's sake says nothing of the output: it is not told as a failure", async () => {
    const worker = await stage.agent("worker", {
      fetch: refusing("/complete", 413, "frame_too_large"),
      transport: "http",
    });
    await worker.serve({ work: () => "fine" }, { signals: false });
    const handle = await sender.send("work", null, { lease: "2s" });
    expect(await handle.result()).toBe("fine");
    expect((await stage.warned("worker", "outcome_lost")).handoff).toBe(handle.id);
  });
});
