/** An OpenClaw agent takes handoffs of others: each is a turn in a session of its own, and the reply is the output. */

import { HandoffError } from "@handfast/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call } from "./support/fake-model.ts";
import { guide_config } from "./support/guide.ts";
import { claw, handoffIn, memberOf, Stage, toldBy, until } from "./support/stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open({
    capabilities: {
      ...guide_config.capabilities,
      chat: { agent: "worker" },
    },
  });
});
afterAll(() => stage?.close());

test("replies with JSON that fits, signed by the gateway's agent", async () => {
  const ann = await stage.connect("ann");
  stage.model.works("haiku", () => ({ text: '{"summary":"Old pond."}' }));
  const handle = await ann.send("summarize", { text: "haiku old pond" }, { timeout: "3m", evidence: "signed" });
  expect(await handle.result()).toEqual({ summary: "Old pond." });
  const { receipts } = await handle.proofs();
  const kinds = receipts.map(({ kind, by, evidence }) => `${kind} by ${by}: ${evidence}`);
  expect(kinds).toEqual(["handoff by ann: signed", `ack by ${claw}: signed`, `outcome by ${claw}: signed`]);
  const [first] = stage.model.calls("works", "haiku");
  expect(first?.news).toContain(`Handoff ${handle.id} from agent ann`);
  expect(first?.news).toContain("Two sentences at most.");
  expect(first?.tools).toEqual(
    expect.arrayContaining(["handfast_ask", "handfast_progress", "handfast_fail", "read", "exec"]),
  );
});

test("is found by what it offers", async () => {
  const ann = await stage.connect("ann");
  const { agents } = await ann.call("agents", { query: { capability: "summarize" } });
  expect(agents.map(({ name }) => name)).toEqual([claw]);
  expect(agents[0]?.capabilities.find(({ name }) => name === "summarize")).toMatchObject({
    description: "Summarizes a text",
    output_schema: guide_config.capabilities["summarize"]?.["output"],
  });
});

test("without a schema the reply is the output as it is", async () => {
  const ann = await stage.connect("ann");
  stage.model.works("greeting", () => ({ text: "Good morning." }));
  const handle = await ann.send("chat", "a greeting please", { timeout: "3m" });
  expect(await handle.result()).toBe("Good morning.");
});

test("a reply that does not fit is given back with the reason, and mended", async () => {
  const ann = await stage.connect("ann");
  const replies = ["Here you are!", '{"summary":7}', '```json\n{"summary":"Ode."}\n```'];
  stage.model.works("limerick", ({ number }) => ({ text: replies[number] ?? "?" }));
  const handle = await ann.send("summarize", { text: "limerick" }, { timeout: "3m" });
  expect(await handle.result()).toEqual({ summary: "Ode." });
  const calls = stage.model.calls("works", "limerick");
  expect(calls).toHaveLength(3);
  expect(calls[1]?.news).toContain("it is not JSON");
  expect(calls[2]?.news).toContain("summary");
});

test("a reply that never fits ends as failed after three corrections, with the reason", async () => {
  const ann = await stage.connect("ann");
  stage.model.works("gibberish", () => ({ text: '{"title":"?"}' }));
  const handle = await ann.send("summarize", { text: "gibberish" }, { timeout: "3m", attempts: 1 });
  const { code, outcome, attempts } = await handle.outcome();
  expect({ code, attempts, reason: outcome?.error?.reason }).toEqual({
    code: 500,
    attempts: 1,
    reason: "output_unfit",
  });
  expect(outcome?.error?.message).toContain("summary");
  expect(stage.model.calls("works", "gibberish")).toHaveLength(4);
});

test("streams its text, and reports progress", async () => {
  const ann = await stage.connect("ann");
  const { promise: seen, resolve: go } = Promise.withResolvers<void>();
  stage.model.works("slowly", async ({ number }) => {
    if (number === 0) return call("handfast_progress", { fraction: 0.5, note: "half way" });
    await seen;
    return { text: "at last" };
  });
  const handle = await ann.send("chat", "slowly", { timeout: "3m" });
  const streamed = handle.chunks().text();
  for await (const event of handle.events()) {
    if (event.type === "progress" && "fraction" in event && event.note === "half way") {
      expect(event.fraction).toBe(0.5);
      go();
    }
  }
  expect(await handle.result()).toBe("at last");
  expect(await streamed).toBe("at last");
});

test("asks the sender, and goes on with the answer", async () => {
  const ann = await stage.connect("ann");
  stage.model.works("riddle", ({ number, results }) =>
    number === 0
      ? call("handfast_ask", { question: "Which one?" })
      : { text: `It is ${memberOf(toldBy(results[0]), "answer")}.` },
  );
  const handle = await ann.send("chat", "riddle", { timeout: "3m" });
  for await (const question of ann.questions()) {
    expect(question.question).toBe("Which one?");
    await ann.answer(question, "the egg");
    break;
  }
  expect(await handle.result()).toBe("It is the egg.");
});

test("the agent can fail a handoff, and says why", async () => {
  const ann = await stage.connect("ann");
  stage.model.works("moonshot", ({ number }) =>
    number === 0 ? call("handfast_fail", { message: "no rocket" }) : { text: "sorry" },
  );
  const handle = await ann.send("chat", "moonshot", { timeout: "3m" });
  const failed = await handle.result().catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(HandoffError);
  expect(failed).toMatchObject({ code: 500, reason: "agent_declined", retryable: false });
});

test("a cancel stops the run, and the agent is free again", async () => {
  const ann = await stage.connect("ann");
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  stage.model.works("endless", ({ signal }) => {
    signal.addEventListener("abort", () => stop());
    return { hangs: true };
  });
  const handle = await ann.send("chat", "endless", { timeout: "3m" });
  await until(() => stage.model.calls("works", "endless").length > 0);
  expect(await handle.cancel("enough")).toMatchObject({ state: "canceled", code: 410 });
  await stopped;
  expect((await handle.status()).late).toEqual([]);
});

test("the relay holds the deadline of an agent that hangs, and the run is stopped", async () => {
  const ann = await stage.connect("ann");
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  stage.model.works("forever", ({ signal }) => {
    signal.addEventListener("abort", () => stop());
    return { hangs: true };
  });
  const handle = await ann.send("chat", "forever", { timeout: "8s" });
  expect(await handle.outcome()).toMatchObject({ state: "expired", code: 408, dead_letter: { status: "open" } });
  await stopped;
});

test("a model that fails is tried again, in the same session", async () => {
  const ann = await stage.connect("ann");
  let healthy = false;
  stage.model.works("fever", () => (healthy ? { text: "well again" } : { status: 400 }));
  const handle = await ann.send("chat", "fever", { timeout: "3m", attempts: 2 });
  for await (const event of handle.events()) {
    if (event.type === "requeued") healthy = true;
  }
  expect(await handle.outcome()).toMatchObject({ state: "completed", attempts: 2 });
});

test("two agents of one gateway hand work to each other", async () => {
  stage.model.sends("relayed", ({ number, results }) =>
    number === 0
      ? call("handfast_send", { capability: "summarize", input: { text: "relayed" }, wait_seconds: 60 })
      : { text: `${memberOf(handoffIn(toldBy(results[0])).output, "summary")}!` },
  );
  stage.model.works("relayed", () => ({ text: '{"summary":"Baton"}' }));
  expect(await stage.gateway.turn("agent:main:pair", "relayed")).toBe("Baton!");
});

test("what is sent while working belongs to that work, and is not sent twice", async () => {
  const ann = await stage.connect("ann");
  const bob = await stage.connect("bob");
  const server = await bob.serve({ lend: (thing: string) => `a ${thing}` });
  const lend = call("handfast_send", { capability: "lend", input: "ladder" });
  stage.model.works("borrowing", ({ number, results }) =>
    number < 2 ? lend : { text: `I have ${handoffIn(toldBy(results[0])).output}.` },
  );
  const handle = await ann.send("chat", "borrowing", { timeout: "3m" });
  expect(await handle.result()).toBe("I have a ladder.");
  const { tree } = await (await stage.operator()).call("correlation", { params: { id: handle.id } });
  expect(tree[0]?.children.map(({ handoff }) => handoff.capability)).toEqual(["lend"]);
  await server.stop();
});
