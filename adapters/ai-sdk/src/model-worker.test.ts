/** A model as a worker: what it is told, what a redelivery finds, and what becomes of a model that fails. */

import type { Client, Context } from "@handfast/client";
import { type TestRelay, testRelay } from "@handfast/client/testing";
import { APICallError, jsonSchema, Output, tool } from "ai";
import { afterEach, beforeEach, expect, test } from "vitest";
import { handoffTool, type ModelWorkerOptions, type ServeModelOptions, serveModel } from "./mod.ts";
import { scriptedModel, silentModel, type Word } from "./testing/scripted-model.ts";

let relay: TestRelay;
let sender: Client;
beforeEach(async () => {
  relay = await testRelay();
  sender = await relay.connect("alice");
});
afterEach(() => relay.stop());

async function serving(options: ModelWorkerOptions, definition: ServeModelOptions = {}): Promise<Client> {
  const worker = await relay.connect("writer", { onWarning: () => {} });
  await serveModel(worker, "write", { maxRetries: 0, ...options }, definition, { signals: false, grace: 0 });
  return worker;
}

test("a model does the work of a handoff", async () => {
  const model = scriptedModel("It is about fsync.");
  await serving({ model, instructions: "You write." }, { description: "Writes." });
  const handoff = await sender.send("write", { topic: "fsync" });
  expect(await relay.until(handoff.result())).toBe("It is about fsync.");
  expect(model.doGenerateCalls[0]?.prompt).toMatchObject([
    { role: "system", content: "You write." },
    { role: "user", content: [{ text: '{"topic":"fsync"}' }] },
  ]);
  expect(await relay.handoff(handoff)).toMatchObject({ outcome: { usage: { tokens: 7 } } });
});

test("structured output is the handoff's output", async () => {
  const schema = jsonSchema<{ pages: number }>({
    type: "object",
    properties: { pages: { type: "number" } },
    required: ["pages"],
  });
  await serving({ model: scriptedModel('{"pages": 3}'), output: Output.object({ schema }) as never });
  const handoff = await sender.send("write", "fsync");
  expect(await relay.until(handoff.result())).toEqual({ pages: 3 });
});

test("after a crash another worker goes on with what was said, and no tool runs twice", async () => {
  let looked = 0;
  const tools = {
    look: tool({
      inputSchema: jsonSchema<object>({ type: "object" }),
      execute: () => {
        looked += 1;
        return "seen";
      },
    }),
  };
  const worker = await serving({ model: silentAfter([["1", "look", {}]]), tools });
  const handoff = await sender.send("write", "fsync");
  await relay.settle();
  expect(looked).toBe(1);
  await relay.crash(worker);
  const model = scriptedModel("I saw it.");
  await serving({ model, tools });
  expect(await relay.until(handoff.result())).toBe("I saw it.");
  expect(looked).toBe(1);
  expect(model.doGenerateCalls[0]?.prompt.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
});

/** Says one thing, and then nothing any more. */
function silentAfter(word: Word) {
  const first = scriptedModel(word);
  const model = silentModel();
  const { doGenerate } = model;
  model.doGenerate = (options) =>
    first.doGenerateCalls.length === 0 ? first.doGenerate(options) : doGenerate(options);
  return model;
}

test("what its tools hand off is a child of its handoff", async () => {
  const research = relay.fake("research", () => "found", { input: { type: "object" } });
  await research.ready();
  const tools = { research: await handoffTool(await relay.connect("writer"), { capability: "research" }) };
  await serving({ model: scriptedModel([["1", "research", {}]], "Done."), tools });
  const handoff = await sender.send("write", "fsync");
  expect(await relay.until(handoff.result())).toBe("Done.");
  const [{ id } = { id: "" }] = research.received;
  expect(await relay.handoff(id)).toMatchObject({ causation: { id: handoff.id }, state: "completed" });
});

/** A worker whose tool hands off, cut off while it waits: in order, or by a crash. Then another, whose model is given. */
async function cutOffWhileItWaits(how: "stop" | "crash", ...words: readonly Word[]) {
  const { promise: finished, resolve: finish } = Promise.withResolvers<string>();
  const research = relay.fake("research", () => finished, { input: { type: "object" } });
  await research.ready();
  const tools = { research: await handoffTool(await relay.connect("writer"), { capability: "research" }) };
  const first = await relay.connect("writer", { onWarning: () => {} });
  const call = [["made up", "research", { topic: "fsync", pages: 3 }]] as const;
  const server = await serveModel(first, "write", { model: scriptedModel(call), tools }, {}, { signals: false });
  const handoff = await sender.send("write", "fsync");
  await relay.settle();
  if (how === "stop") await relay.until(server.stop({ grace: 0 }));
  else await relay.crash(first);
  const model = scriptedModel(...words);
  await serving({ model, tools });
  await relay.settle();
  finish("found");
  return { model, research, output: await relay.until(handoff.result()) };
}

test.each(["stop", "crash"] as const)(
  "after a %s the model is asked again, calls by another id, and nothing is sent twice",
  async (how) => {
    const again = [["made up anew", "research", { pages: 3, topic: "fsync" }]] as const;
    const { model, research, output } = await cutOffWhileItWaits(how, again, "Done.");
    expect(output).toBe("Done.");
    expect(research.received).toHaveLength(1);
    // A tool that was cut off has answered nothing.
    expect(model.doGenerateCalls[0]?.prompt.map(({ role }) => role)).toEqual(["user"]);
    expect(model.doGenerateCalls[1]?.prompt.at(-1)).toMatchObject({ content: [{ output: { value: "found" } }] });
  },
);

test("what the model calls for twice is sent twice, also where a crash lies between", async () => {
  const research = relay.fake("research", () => "found", { input: { type: "object" } });
  await research.ready();
  const tools = { research: await handoffTool(await relay.connect("writer"), { capability: "research" }) };
  const call = [["1", "research", { topic: "fsync" }]] as const;
  const worker = await serving({ model: silentAfter(call), tools });
  const handoff = await sender.send("write", "fsync");
  await relay.settle();
  await relay.crash(worker);
  await serving({ model: scriptedModel(call, "Done."), tools });
  expect(await relay.until(handoff.result())).toBe("Done.");
  expect(research.received).toHaveLength(2);
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
  await serving({ model: scriptedModel("Done.") });
  expect(await relay.until(handoff.result())).toBe("Done.");
});

test("an error of the provider is tried again or not as the provider says, and tells nothing of the request", async () => {
  const secret = { url: "https://models.test/v1", requestBodyValues: { key: "sk-secret" }, responseBody: "sk-secret" };
  const busy = new APICallError({ message: "Busy.", statusCode: 503, ...secret });
  await serving({ model: scriptedModel(busy, "At last.") });
  const again = await sender.send("write", "fsync");
  expect(await relay.until(again.result())).toBe("At last.");
  const view = await relay.handoff(again);
  expect(view.failures.map(({ error }) => error.message)).toEqual(["AI_APICallError: Busy."]);
  expect(JSON.stringify(view)).not.toContain("secret");
});

test.each([
  [
    "a key that is refused",
    new APICallError({ message: "No.", statusCode: 401, url: "", requestBodyValues: {} }),
    "model_error",
  ],
  ["text that was cut off", { text: "It is ab", ends: "length" }, "model_length"],
  ["text that was filtered", { text: "", ends: "content-filter" }, "model_content_filter"],
] as const)("%s is a failure that is not tried again", async (_, word, reason) => {
  await serving({ model: scriptedModel(word) });
  const handoff = await sender.send("write", "fsync");
  expect(await relay.until(handoff.outcome())).toMatchObject({
    state: "failed",
    attempts: 1,
    outcome: { error: { reason } },
  });
});

test("a model that is silent does not keep its sender, and is told when the deadline has passed", async () => {
  const model = silentModel();
  await serving({ model });
  const handoff = await sender.send("write", "fsync", { timeout: "60s" });
  expect(await relay.until(handoff.outcome())).toMatchObject({ code: 408 });
  await relay.settle();
  expect(model.doGenerateCalls[0]?.abortSignal?.aborted).toBe(true);
});

test("text that does not fit the capability's schema is never passed on", async () => {
  await serving({ model: scriptedModel("a", "b", "c") }, { output: { type: "object" } });
  const handoff = await sender.send("write", "fsync");
  expect(await relay.until(handoff.outcome())).toMatchObject({
    state: "failed",
    outcome: { error: { reason: "output_unfit" } },
  });
});
