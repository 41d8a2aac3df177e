/** A model hands work off by a tool and waits for it in place. */

import { type Client, Fail } from "@handfast/client";
import { type FakeHandler, type TestRelay, testRelay } from "@handfast/client/testing";
import { generateText, isStepCount } from "ai";
import { afterEach, beforeEach, expect, test } from "vitest";
import { handoffTool, handoffTools } from "./mod.ts";
import { scriptedModel } from "./testing/scripted-model.ts";

let relay: TestRelay;
let hf: Client;
beforeEach(async () => {
  relay = await testRelay();
  hf = await relay.connect("asker");
});
afterEach(() => relay.stop());

const input = { type: "object", properties: { topic: { type: "string" } }, required: ["topic"] };

async function offer(handler: FakeHandler): Promise<void> {
  await relay.fake("research", handler, { description: "Finds out about a topic.", input }).ready();
}

test("the model is told of the capability as its manifest tells it, and gets the output", async () => {
  await offer(({ topic }: { topic: string }) => ({ about: topic }));
  const model = scriptedModel([["1", "research", { topic: "fsync" }]], "It is about fsync.");
  const tools = await handoffTools(hf, { capability: "research", timeout: "60s" });
  const { text, steps } = await relay.until(generateText({ model, tools, prompt: "Go.", stopWhen: isStepCount(3) }));
  expect(text).toBe("It is about fsync.");
  expect(model.doGenerateCalls[0]?.tools).toMatchObject([
    { name: "research", description: "Finds out about a topic.", inputSchema: input },
  ]);
  expect(steps[0]?.toolResults).toMatchObject([
    { output: { status: "completed", code: 200, output: { about: "fsync" } } },
  ]);
  expect(model.doGenerateCalls[1]?.prompt.at(-1)).toMatchObject({
    content: [{ toolCallId: "1", output: { type: "json", value: { about: "fsync" } } }],
  });
});

test("a failure is told to the model with its code and whether another try may help", async () => {
  await offer(() => {
    throw new Fail("There is no such topic.", { reason: "no_topic" });
  });
  const model = scriptedModel([["1", "research", { topic: "nonsense" }]], "I see.");
  const tools = { research: await handoffTool(hf, { capability: "research" }) };
  const { steps } = await relay.until(generateText({ model, tools, prompt: "Go.", stopWhen: isStepCount(3) }));
  expect(steps[0]?.toolResults).toMatchObject([
    { output: { status: "failed", code: 500, name: "agent_failed", retryable: false, error: { reason: "no_topic" } } },
  ]);
  expect(model.doGenerateCalls[1]?.prompt.at(-1)).toMatchObject({
    content: [
      { output: { type: "error-text", value: expect.stringMatching(/500 agent_failed \(no_topic\).*does not help/) } },
    ],
  });
});

test("a deadline that passes, and a refusal, are results too", async () => {
  await offer(() => new Promise(() => {}));
  const model = scriptedModel(
    [
      ["1", "slow", { topic: "fsync" }],
      ["2", "nobody", {}],
    ],
    "I see.",
  );
  const tools = {
    slow: await handoffTool(hf, { capability: "research", timeout: "5s" }),
    nobody: await handoffTool(hf, { capability: "dance", description: "Dances.", input: { type: "object" } }),
  };
  const { steps } = await relay.until(generateText({ model, tools, prompt: "Go.", stopWhen: isStepCount(3) }));
  const outputs = steps[0]?.toolResults.map(({ output }) => output as { status: string; code: number });
  expect(outputs).toMatchObject([
    { status: "expired", code: 408 },
    { status: "refused", code: 406, handoff: null },
  ]);
});

test("a mistake in the setup and a relay that is away are told with code and whether another try may help", async () => {
  await offer(() => "found");
  const model = scriptedModel([["1", "wrong", { topic: "fsync" }]], [["2", "research", { topic: "fsync" }]], "I see.");
  const away = await relay.connect("away");
  const tools = {
    wrong: await handoffTool(hf, { capability: "research", labels: { "": "no key" } }),
    research: await handoffTool(away, { capability: "research", timeout: "5s" }),
  };
  relay.disconnect(away);
  await relay.until(generateText({ model, tools, prompt: "Go.", stopWhen: isStepCount(3) }));
  const told = model.doGenerateCalls.at(-1)?.prompt.filter(({ role }) => role === "tool");
  const error = (text: RegExp) => ({ output: { type: "error-text", value: expect.stringMatching(text) } });
  expect(told).toMatchObject([
    { content: [error(/not be made: 400 malformed \(document_malformed\): .* does not help\.$/)] },
    { content: [error(/not be made: relay_unreachable: .*Trying again may help\.$/)] },
  ]);
});

test("a generation that is called off calls its handoff off", async () => {
  const { promise: reached, resolve: reach } = Promise.withResolvers<string>();
  await offer((_, ctx) => {
    reach(ctx.handoff.id);
    return new Promise(() => {});
  });
  const controller = new AbortController();
  const tools = { research: await handoffTool(hf, { capability: "research" }) };
  const model = scriptedModel([["1", "research", { topic: "fsync" }]]);
  const generating = generateText({
    model,
    tools,
    prompt: "Go.",
    abortSignal: controller.signal,
    stopWhen: isStepCount(3),
  });
  generating.catch(() => {});
  const id = await relay.until(reached);
  controller.abort();
  await relay.until(Promise.allSettled([generating]));
  expect(await relay.handoff(id)).toMatchObject({ state: "canceled", code: 410 });
});
