/** An agent as a worker: what it is told, what a redelivery finds, and what becomes of an agent that fails. */

import type { Client, Context } from "@handfast/client";
import { type TestRelay, testRelay } from "@handfast/client/testing";
import { Agent, tool } from "@openai/agents";
import { assistantMessage, functionCall, modelError, modelResponder, ScriptedModel } from "@openai/agents/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { handoffTool, serveAgent } from "./mod.ts";

let relay: TestRelay;
let sender: Client;
beforeEach(async () => {
  relay = await testRelay();
  sender = await relay.connect("alice");
});
afterEach(() => relay.stop());

type Script = NonNullable<ConstructorParameters<typeof ScriptedModel>[0]>;
type Tools = NonNullable<ConstructorParameters<typeof Agent>[0]["tools"]>;

async function serving(script: Script, tools: Tools = [], more: Parameters<typeof serveAgent>[3] = {}) {
  const worker = await relay.connect("writer", { onWarning: () => {} });
  const model = new ScriptedModel(script);
  const agent = new Agent({ name: "writer", instructions: "You write.", model, tools });
  const server = await serveAgent(worker, "write", agent, more, { signals: false, grace: 0 });
  return { worker, model, server };
}

function call(callId: string, name: string, args: object = {}) {
  return [functionCall(name, args as never, { callId })];
}

const silent = modelResponder(() => new Promise(() => {}));

/** As the SDK's own models do it: the request is given up, and the stream just ends. */
const untilAborted = modelResponder(
  ({ request: { signal } }) =>
    new Promise((_, reject) => {
      signal?.addEventListener("abort", () => reject(new DOMException("Request was aborted.", "AbortError")));
    }),
);

test("an agent does the work of a handoff", async () => {
  const { model } = await serving([[assistantMessage("It is about fsync.")]], [], { description: "Writes." });
  const handoff = await sender.send("write", { topic: "fsync" });
  expect(await relay.until(handoff.result())).toBe("It is about fsync.");
  expect(model.calls[0]?.request).toMatchObject({
    systemInstructions: "You write.",
    input: [{ role: "user", content: '{"topic":"fsync"}' }],
  });
});

test("after a crash another worker goes on with what was said, and no tool runs twice", async () => {
  let looked = 0;
  const look = () =>
    tool({
      name: "look",
      description: "Looks.",
      parameters: z.object({}),
      execute: () => {
        looked += 1;
        return "seen";
      },
    });
  const { worker } = await serving([call("1", "look"), silent], [look()]);
  const handoff = await sender.send("write", "fsync");
  await relay.settle();
  expect(looked).toBe(1);
  await relay.crash(worker);
  const { model } = await serving([[assistantMessage("I saw it.")]], [look()]);
  expect(await relay.until(handoff.result())).toBe("I saw it.");
  expect(looked).toBe(1);
  expect(model.calls[0]?.request.input).toMatchObject([
    { role: "user" },
    { type: "function_call" },
    { output: { text: "seen" } },
  ]);
});

test("what needs an approval is asked of the sender", async () => {
  let shots = 0;
  const shoot = tool({
    name: "shoot",
    description: "Shoots.",
    parameters: z.object({}),
    needsApproval: true,
    execute: () => {
      shots += 1;
      return "hit";
    },
  });
  await serving([call("1", "shoot"), call("2", "shoot"), [assistantMessage("Done.")]], [shoot]);
  const handoff = await sender.send("write", "fsync");
  const questions = sender.questions()[Symbol.asyncIterator]();
  for (const answer of [true, false]) {
    const { value: question } = await relay.until(questions.next());
    expect(question).toMatchObject({ question: { approve: "shoot", arguments: "{}" } });
    await sender.answer(question, answer);
  }
  expect(await relay.until(handoff.result())).toBe("Done.");
  expect(shots).toBe(1);
});

async function researching(work: () => Promise<string>) {
  const research = relay.fake("research", work, { input: { type: "object" } });
  await research.ready();
  const tools = [await handoffTool(await relay.connect("writer"), { capability: "research" })];
  return { research, tools };
}

test("what its tools hand off is a child of its handoff, sent once in all attempts", async () => {
  const { research, tools } = await researching(async () => "found");
  await serving([call("1", "research"), modelError(new Error("no line")), [assistantMessage("Done.")]], tools);
  const handoff = await sender.send("write", "fsync");
  expect(await relay.until(handoff.result())).toBe("Done.");
  expect(research.received).toHaveLength(1);
  expect(await relay.handoff(research.received[0]?.id ?? "")).toMatchObject({ causation: { id: handoff.id } });
});

test.each(["stop", "crash"] as const)(
  "after a %s while a tool waits the model is asked again, calls by another id, and nothing is sent twice",
  async (how) => {
    const { promise: finished, resolve: finish } = Promise.withResolvers<string>();
    const { research, tools } = await researching(() => finished);
    const topic = { topic: "fsync", pages: 3 };
    const { worker, server } = await serving([call("made up", "research", topic), silent], tools);
    const handoff = await sender.send("write", "fsync");
    await relay.settle();
    if (how === "stop") await relay.until(server.stop({ grace: 0 }));
    else await relay.crash(worker);
    const again = call("made up anew", "research", { pages: 3, topic: "fsync" });
    const { model } = await serving([again, [assistantMessage("Done.")]], tools);
    await relay.settle();
    finish("found");
    expect(await relay.until(handoff.result())).toBe("Done.");
    expect(research.received).toHaveLength(1);
    // A tool that was cut off has answered nothing.
    expect(model.calls[0]?.request.input).toMatchObject([{ role: "user" }]);
    expect(model.calls[1]?.request.input).toMatchObject([{}, {}, { output: { text: "found" } }]);
  },
);

test("what the model calls for twice is sent twice, also where a crash lies between", async () => {
  const { research, tools } = await researching(async () => "found");
  const { worker } = await serving([call("1", "research"), silent], tools);
  const handoff = await sender.send("write", "fsync");
  await relay.settle();
  await relay.crash(worker);
  await serving([call("2", "research"), [assistantMessage("Done.")]], tools);
  expect(await relay.until(handoff.result())).toBe("Done.");
  expect(research.received).toHaveLength(2);
});

test("a worker that is stopped while its model thinks gives the handoff back, and no output", async () => {
  const { server } = await serving([untilAborted]);
  const handoff = await sender.send("write", "fsync");
  await relay.settle();
  await relay.until(server.stop({ grace: 0 }));
  expect(await relay.handoff(handoff)).toMatchObject({ state: "queued", outcome: null });
  await serving([[assistantMessage("Done.")]]);
  expect(await relay.until(handoff.result())).toBe("Done.");
});

test("what a worker of another kind kept is not taken for its own", async () => {
  const first = await relay.connect("writer");
  const handler = async (_: unknown, ctx: Context) => {
    await ctx.checkpoint({ said: "hello", state: "half of it" });
    await new Promise(() => {});
  };
  await first.serve({ write: { handler } }, { signals: false });
  const handoff = await sender.send("write", "fsync");
  await relay.settle();
  await relay.crash(first);
  await serving([[assistantMessage("Done.")]]);
  expect(await relay.until(handoff.result())).toBe("Done.");
});

test("an error of the model is tried again, and tells its class and message only", async () => {
  await serving([modelError(new TypeError("no line\n  at /secret")), [assistantMessage("Done.")]]);
  const handoff = await sender.send("write", "fsync");
  expect(await relay.until(handoff.result())).toBe("Done.");
  expect((await relay.handoff(handoff)).failures.map(({ error }) => error.message)).toEqual(["TypeError: no line"]);
});

test("an agent that never comes to an end is a failure that is not tried again", async () => {
  const look = tool({ name: "look", description: "Looks.", parameters: z.object({}), execute: () => "seen" });
  await serving([call("1", "look"), call("2", "look"), call("3", "look")], [look], { options: { maxTurns: 2 } });
  const handoff = await sender.send("write", "fsync");
  expect(await relay.until(handoff.outcome())).toMatchObject({
    attempts: 1,
    outcome: {
      error: { reason: "agent_error", message: expect.stringContaining("MaxTurnsExceededError: Max turns (2)") },
    },
  });
});

test("a model that is silent does not keep its sender, and is told when the deadline has passed", async () => {
  const { model } = await serving([silent]);
  const handoff = await sender.send("write", "fsync", { timeout: "60s" });
  expect(await relay.until(handoff.outcome())).toMatchObject({ code: 408 });
  await relay.settle();
  expect(model.calls[0]?.request.signal?.aborted).toBe(true);
});

test("output that does not fit the capability's schema is never passed on", async () => {
  await serving(
    ["a", "b", "c"].map((text) => [assistantMessage(text)]),
    [],
    { output: { type: "object" } },
  );
  const handoff = await sender.send("write", "fsync");
  expect(await relay.until(handoff.outcome())).toMatchObject({
    state: "failed",
    outcome: { error: { reason: "output_unfit" } },
  });
});
