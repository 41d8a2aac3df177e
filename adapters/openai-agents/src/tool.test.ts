/** An agent hands work off by a tool and waits for it in place. */

import { type Client, Fail } from "@handfast/client";
import { type FakeHandler, type TestRelay, testRelay } from "@handfast/client/testing";
import { Agent, run } from "@openai/agents";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { handoffTool } from "./mod.ts";

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

function call(callId: string, tool: string, args: object) {
  return [functionCall(tool, args as never, { callId })];
}

/** What the tool answered, as the model was told. */
function answers(model: ScriptedModel): readonly unknown[] {
  const told = model.calls.at(-1)?.request.input;
  return (typeof told === "string" ? [] : (told ?? [])).flatMap((item) =>
    item.type === "function_call_result" ? [item.output] : [],
  );
}

test("the agent is told of the capability as its manifest tells it, and gets the output", async () => {
  await offer(({ topic }: { topic: string }) => ({ about: topic }));
  const model = new ScriptedModel([
    call("1", "research", { topic: "fsync" }),
    [assistantMessage("It is about fsync.")],
  ]);
  const tools = [await handoffTool(hf, { capability: "research", timeout: "60s" })];
  const result = await relay.until(run(new Agent({ name: "asker", model, tools }), "Go."));
  expect(result.finalOutput).toBe("It is about fsync.");
  expect(model.calls[0]?.request.tools).toMatchObject([
    { name: "research", description: "Finds out about a topic.", parameters: input, strict: false },
  ]);
  expect(answers(model)).toMatchObject([{ text: '{"about":"fsync"}' }]);
});

test("a failure, a deadline that passes and a refusal are told with code and whether another try may help", async () => {
  await offer(({ topic }: { topic: string }) => {
    if (topic === "slow") return new Promise(() => {});
    throw new Fail("There is no such topic.", { reason: "no_topic" });
  });
  const model = new ScriptedModel([
    call("1", "research", { topic: "nonsense" }),
    call("2", "research", { topic: "slow" }),
    call("3", "dance", {}),
    [assistantMessage("I see.")],
  ]);
  const tools = [
    await handoffTool(hf, { capability: "research", timeout: "5s" }),
    await handoffTool(hf, { capability: "dance", description: "Dances.", input: { type: "object" } }),
  ];
  await relay.until(run(new Agent({ name: "asker", model, tools }), "Go."));
  expect(answers(model)).toMatchObject([
    {
      text: expect.stringMatching(/failed: 500 agent_failed \(no_topic\): There is no such topic\. .*does not help\.$/),
    },
    { text: expect.stringMatching(/expired: 408 deadline_passed/) },
    { text: expect.stringMatching(/refused: 406 nobody_offers/) },
  ]);
});

test("a mistake in the setup and a relay that is away are told with code and whether another try may help", async () => {
  await offer(() => "found");
  const model = new ScriptedModel([
    call("1", "wrong", { topic: "fsync" }),
    call("2", "research", { topic: "fsync" }),
    [assistantMessage("I see.")],
  ]);
  const away = await relay.connect("away");
  const tools = [
    await handoffTool(hf, { capability: "research", name: "wrong", labels: { "": "no key" } }),
    await handoffTool(away, { capability: "research", timeout: "5s" }),
  ];
  relay.disconnect(away);
  await relay.until(run(new Agent({ name: "asker", model, tools }), "Go."));
  expect(answers(model)).toMatchObject([
    { text: expect.stringMatching(/not be made: 400 malformed \(document_malformed\): .* does not help\.$/) },
    { text: expect.stringMatching(/not be made: relay_unreachable: .*Trying again may help\.$/) },
  ]);
});

test("a run that is called off calls its handoff off", async () => {
  const { promise: reached, resolve: reach } = Promise.withResolvers<string>();
  await offer((_, ctx) => {
    reach(ctx.handoff.id);
    return new Promise(() => {});
  });
  const controller = new AbortController();
  const model = new ScriptedModel([call("1", "research", { topic: "fsync" })]);
  const tools = [await handoffTool(hf, { capability: "research" })];
  const running = run(new Agent({ name: "asker", model, tools }), "Go.", { signal: controller.signal });
  running.catch(() => {});
  const id = await relay.until(reached);
  controller.abort();
  await relay.until(Promise.allSettled([running]));
  await relay.settle();
  expect(await relay.handoff(id)).toMatchObject({ state: "canceled" });
});
