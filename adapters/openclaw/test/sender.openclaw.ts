/**
 * An OpenClaw agent hands work to others: what OpenClaw's own sessions_send and sessions_spawn do not give (a receipt that
 * tells queued from received, replies that come late, retries that end, ids that tell which answer is whose).
 */

import { Fail, type HandoffView, Retry } from "@handfast/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call } from "./support/fake-model.ts";
import { claw, handoffIn, handoffsIn, Stage, toldBy, until } from "./support/stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open({ capabilities: {} });
});
afterAll(() => stage?.close());

const text_schema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;

/** Asks the agent to do something in a session of its own, and answers what the first tool told it. */
async function turn(word: string): Promise<string> {
  return stage.gateway.turn(`agent:main:${word}`, `Do ${word}.`);
}

const resultsOf = (word: string) => stage.model.calls("sends", word).flatMap(({ results }) => results.map(toldBy));
const mentions = (word: string, id: string) =>
  stage.model.calls("sends", word).filter(({ news }) => news.includes(`"outcome_of":"${id}"`)).length;

async function viewOf(id: string): Promise<HandoffView> {
  return (await stage.operator()).handle(id).status();
}

test("finds agents by what they can do, with their schemas", async () => {
  const ann = await stage.connect("ann");
  const server = await ann.serve({
    translate: {
      description: "Translates text to German",
      input: text_schema,
      output: text_schema,
      handler: () => ({ text: "" }),
    },
  });
  stage.model.sends("lookup", ({ number }) =>
    number === 0 ? call("handfast_find", { words: "german" }) : { text: "found" },
  );
  expect(await turn("lookup")).toBe("found");
  expect(resultsOf("lookup")).toEqual([
    {
      found: [
        {
          capability: "translate",
          agent: "ann",
          ready: true,
          description: "Translates text to German",
          input_schema: text_schema,
          output_schema: text_schema,
        },
      ],
    },
  ]);
  await server.stop();
});

test("tells receipt and output, and takes the outcome once the session has it", async () => {
  const bob = await stage.connect("bob");
  const server = await bob.serve({ upper: ({ text }: { text: string }) => ({ text: text.toUpperCase() }) });
  stage.model.sends("shouting", ({ number }) =>
    number === 0 ? call("handfast_send", { capability: "upper", input: { text: "hello" } }) : { text: "done" },
  );
  expect(await turn("shouting")).toBe("done");
  const told = handoffIn(resultsOf("shouting")[0]);
  expect(told).toMatchObject({
    receipt: "acknowledged",
    status: "completed",
    code: 200,
    capability: "upper",
    attempts: 1,
    output: { text: "HELLO" },
  });
  const view = await until(async () => {
    const seen = await viewOf(told.handoff);
    return seen.taken_at !== null && seen;
  });
  expect(view).toMatchObject({ from: claw, evidence: "signed" });
  expect(mentions("shouting", told.handoff)).toBe(1);
  await server.stop();
});

test("a receipt tells accepted, delivered and acknowledged apart", async () => {
  const idle = await stage.relay.agent("idle", "slow_work");
  let asked = call("handfast_send", { capability: "slow_work", input: 1, wait_seconds: 0 });
  stage.model.sends("receipts", ({ results }) => (results.length === 0 ? asked : { text: "seen" }));
  const seen = async () => {
    await turn("receipts");
    return resultsOf("receipts").at(-1);
  };
  const sent = handoffIn(await seen());
  expect(sent).toMatchObject({ receipt: "accepted", status: "queued", code: 202 });
  asked = call("handfast_await", { handoffs: [sent.handoff], wait_seconds: 0 });
  const lease = await idle.claim();
  expect(handoffsIn(await seen())[0]).toMatchObject({ receipt: "delivered", status: "delivered", code: 210 });
  await idle.act(lease.id, "ack", { fence: lease.fence });
  expect(handoffsIn(await seen())[0]).toMatchObject({ receipt: "acknowledged", status: "working", code: 211 });
  await idle.act(lease.id, "complete", { fence: lease.fence, output: "done" });
  expect(handoffsIn(await seen())[0]).toMatchObject({ receipt: "acknowledged", status: "completed", output: "done" });
});

test("a reply that comes when nobody waits comes into the session, once, and is taken then", async () => {
  const cyd = await stage.connect("cyd");
  const { promise: release, resolve: go } = Promise.withResolvers<void>();
  const server = await cyd.serve({ research: async () => release.then(() => ({ report: "rust never sleeps" })) });
  stage.model.sends("patience", ({ number }) => {
    if (number === 0) return call("handfast_send", { capability: "research", input: {}, wait_seconds: 0 });
    return { text: number === 1 ? "I go on meanwhile" : "thanks" };
  });
  expect(await turn("patience")).toBe("I go on meanwhile");
  const sent = handoffIn(resultsOf("patience")[0]);
  expect(sent.outcome_of).toBeUndefined();
  go();
  await until(async () => (await viewOf(sent.handoff)).taken_at !== null);
  const calls = stage.model.calls("sends", "patience");
  expect(calls).toHaveLength(3);
  expect(calls[2]?.news).toContain("rust never sleeps");
  expect(mentions("patience", sent.handoff)).toBe(1);
  await server.stop();
});

test("retries are bounded, end in a dead letter, and what is redriven comes to the session too", async () => {
  const dan = await stage.connect("dan");
  let broken = true;
  let runs = 0;
  const server = await dan.serve({
    flaky: () => {
      runs += 1;
      if (broken) throw new Retry("no luck");
      return "mended";
    },
  });
  stage.model.sends("endurance", ({ number }) =>
    number === 0
      ? call("handfast_send", { capability: "flaky", input: {}, attempts: 2, wait_seconds: 60 })
      : { text: "ok" },
  );
  await turn("endurance");
  const told = handoffIn(resultsOf("endurance")[0]);
  expect(told).toMatchObject({ status: "failed", code: 500, attempts: 2, dead_letter: "open", retryable: true });
  expect(told.error?.message).toContain("no luck");
  expect(runs).toBe(2);
  broken = false;
  const operator = await stage.operator();
  const { redriven_as: id } = await operator.call("redrive", { params: { id: told.handoff }, body: {} });
  await until(() => mentions("endurance", id) > 0);
  expect(stage.model.calls("sends", "endurance").at(-1)?.news).toContain("mended");
  await server.stop();
});

test("ids tell which of many answers is whose", async () => {
  const eve = await stage.connect("eve");
  const server = await eve.serve({ square: (n: number) => n * n });
  const numbers = [2, 3, 4, 5, 6];
  const asked = numbers.map((input) => ({
    name: "handfast_send",
    args: { capability: "square", input, correlation: "squares", wait_seconds: 0 },
  }));
  stage.model.sends("squares", ({ number, results }) => {
    if (number === 0) return { calls: asked };
    if (number > 1) return { text: "all there" };
    return call("handfast_await", { handoffs: results.map((each) => handoffIn(toldBy(each)).handoff) });
  });
  await turn("squares");
  const results = resultsOf("squares");
  const sent = results.slice(0, numbers.length).map(handoffIn);
  const awaited = handoffsIn(results.at(-1));
  expect(awaited.map(({ output }) => output)).toEqual([4, 9, 16, 25, 36]);
  expect(awaited.map(({ handoff }) => handoff)).toEqual(sent.map(({ handoff }) => handoff));
  expect(new Set(awaited.map(({ correlation }) => correlation))).toEqual(new Set(["squares"]));
  await server.stop();
});

test("sent twice under one key, it is one handoff", async () => {
  const fay = await stage.connect("fay");
  let runs = 0;
  const server = await fay.serve({
    charge: () => {
      runs += 1;
      return runs;
    },
  });
  const pay = call("handfast_send", { capability: "charge", input: { euros: 5 }, key: "invoice 7" });
  stage.model.sends("payment", ({ number }) => (number < 2 ? pay : { text: "paid" }));
  await turn("payment");
  const [first, second] = resultsOf("payment").map(handoffIn);
  expect(second?.handoff).toBe(first?.handoff);
  expect([first?.output, second?.output, runs]).toEqual([1, 1, 1]);
  await server.stop();
});

test("a question comes back to the sender, who answers it", async () => {
  const gil = await stage.connect("gil");
  const server = await gil.serve({
    book: async (_, ctx) => `booked for ${await ctx.ask("Which day?", { schema: { type: "string" } })}`,
  });
  stage.model.sends("booking", ({ number, results }) => {
    if (number === 0) return call("handfast_send", { capability: "book", input: {}, wait_seconds: 60 });
    if (number === 1) {
      const { question } = handoffIn(toldBy(results[0]));
      return call("handfast_answer", { question: question?.id, answer: "Friday" });
    }
    if (number === 2)
      return call("handfast_await", { handoffs: [handoffIn(resultsOf("booking")[0]).handoff], wait_seconds: 60 });
    return { text: "booked" };
  });
  await turn("booking");
  const [sent, answered, done] = resultsOf("booking");
  expect(sent).toMatchObject({ status: "waiting", code: 213, question: { question: "Which day?" } });
  expect(answered).toMatchObject({ resolution: "answered" });
  expect(handoffsIn(done)[0]).toMatchObject({ status: "completed", output: "booked for Friday" });
  await server.stop();
});

test("a question that comes when nobody waits comes into the session", async () => {
  const hal = await stage.connect("hal");
  const server = await hal.serve({ paint: async (_, ctx) => `painted ${await ctx.ask("Which colour?")}` });
  stage.model.sends("painting", ({ number, news }) => {
    if (number === 0) return call("handfast_send", { capability: "paint", input: {}, wait_seconds: 0 });
    const asked = /"id":"([^"]+)","question":"Which colour\?"/.exec(news)?.[1];
    return asked === undefined ? { text: "ok" } : call("handfast_answer", { question: asked, answer: "blue" });
  });
  await turn("painting");
  const { handoff } = handoffIn(resultsOf("painting")[0]);
  await until(() => mentions("painting", handoff) > 0);
  expect(stage.model.calls("sends", "painting").at(-1)?.news).toContain("painted blue");
  await server.stop();
});

test("cancels", async () => {
  const ivy = await stage.connect("ivy");
  const { promise: canceled, resolve: hear } = Promise.withResolvers<unknown>();
  const server = await ivy.serve({
    dig: (_, ctx) =>
      new Promise((_resolve, reject) => {
        ctx.signal.addEventListener("abort", () => {
          hear(ctx.signal.reason);
          reject(ctx.signal.reason);
        });
      }),
  });
  stage.model.sends("digging", ({ number, results }) => {
    if (number === 0) return call("handfast_send", { capability: "dig", input: {}, wait_seconds: 0 });
    if (number === 1)
      return call("handfast_cancel", { handoff: handoffIn(toldBy(results[0])).handoff, reason: "rain" });
    return { text: "canceled" };
  });
  await turn("digging");
  expect(resultsOf("digging")[1]).toMatchObject({ status: "canceled", code: 410 });
  await canceled;
  await server.stop();
});

test("failures and refusals are told as values, with what to do", async () => {
  const joe = await stage.connect("joe");
  const server = await joe.serve({
    doomed: { input: text_schema, handler: () => Promise.reject(new Fail("cannot be done", { reason: "impossible" })) },
  });
  stage.model.sends("troubles", ({ number }) => {
    if (number === 0) return call("handfast_send", { capability: "doomed", input: { text: "x" } });
    if (number === 1) return call("handfast_send", { capability: "doomed", input: { wrong: true } });
    if (number === 2) return call("handfast_send", { capability: "nobody_does_this", input: {} });
    return { text: "so be it" };
  });
  await turn("troubles");
  const [failed, unfit, unknown] = resultsOf("troubles");
  expect(failed).toMatchObject({ status: "failed", code: 500, retryable: false, error: { reason: "impossible" } });
  expect(unfit).toMatchObject({ code: 422, error: { reason: "input_unfit" } });
  expect(unknown).toMatchObject({ code: 406 });
  await server.stop();
});

test("the tools of a worker are not there for others", async () => {
  stage.model.sends("tooling", () => ({ text: "seen" }));
  await turn("tooling");
  const [{ tools = [] } = {}] = stage.model.calls("sends", "tooling");
  expect(tools).toContain("handfast_send");
  expect(tools).not.toContain("handfast_ask");
});
