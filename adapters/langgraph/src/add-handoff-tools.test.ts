/** Tools that hand off, called by a model: in place, and with the thread asleep meanwhile. */

import { type Client, Fail } from "@handfast/client";
import { AIMessage, type BaseMessage, HumanMessage, type ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { Stage, sentBy, until } from "../../kit/src/testing/stage.ts";
import { addHandoffTools, handoffTool, resumeOutcomes, type Woken } from "./mod.ts";
import { onThread } from "./testing/planner.ts";
import { sqliteSaver } from "./testing/sqlite-saver.ts";

let stage: Stage;
let hf: Client;
/** Lets the worker finish. */
let finish: () => void;
beforeEach(async () => {
  stage = await Stage.open();
  hf = await stage.agent("asker");
  const worker = await stage.agent("researcher");
  const { promise: finished, resolve } = Promise.withResolvers<void>();
  finish = resolve;
  const input = z.object({ topic: z.string().describe("What about.") });
  await worker.serve(
    {
      research: {
        description: "Finds out about a topic.",
        input,
        handler: async ({ topic }) => {
          await finished;
          if (topic === "nonsense") throw new Fail("There is no such topic.", { reason: "no_topic" });
          return { about: topic };
        },
      },
      "shout.loudly": { input: { type: "string" }, handler: (text) => String(text).toUpperCase() },
    },
    { signals: false, grace: 0 },
  );
});
afterEach(() => stage.close());

/** A model that says these things one after the other. */
function saying(...messages: readonly AIMessage[]) {
  const left = [...messages];
  return () => ({ messages: [left.shift() ?? new AIMessage("I have nothing more to say.")] });
}

function calling(...calls: readonly (readonly [id: string, name: string, args: Record<string, unknown>])[]): AIMessage {
  return new AIMessage({
    content: "",
    tool_calls: calls.map(([id, name, args]) => ({ id, name, args, type: "tool_call" })),
  });
}

function answers(messages: readonly BaseMessage[]) {
  return messages
    .filter((message): message is ToolMessage => message.getType() === "tool")
    .map(({ tool_call_id, content, status }) => [tool_call_id, content, status]);
}

test("a tool has the name, description and arguments of the manifest", async () => {
  const research = await handoffTool(hf, { capability: "research" });
  expect(research).toMatchObject({ name: "research", description: "Finds out about a topic." });
  expect(research.schema).toMatchObject({
    type: "object",
    properties: { topic: { type: "string", description: "What about." } },
    required: ["topic"],
  });
  const shout = await handoffTool(hf, { capability: "shout.loudly", description: "Shouts." });
  expect(shout).toMatchObject({ name: "shout_loudly", description: "Shouts." });
  expect(await shout.invoke({ input: "hello" })).toBe("HELLO");
  await expect(handoffTool(hf, { capability: "dance" })).rejects.toThrow("No agent offers dance");
});

test("in a ToolNode the call and the thread may have ids of any length", async () => {
  finish();
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("tools", new ToolNode([await handoffTool(hf, { capability: "research" })]))
    .addEdge(START, "tools")
    .compile({ checkpointer: sqliteSaver(":memory:") });
  const call = `call-${"x".repeat(300)}`;
  const wish = calling([call, "research", { topic: "fsync" }]);
  const { messages } = await graph.invoke({ messages: [wish] }, onThread("t".repeat(1_000)));
  expect(answers(messages)).toEqual([[call, '{"about":"fsync"}', "success"]]);
});

test("in a ToolNode it waits in place, and failures are told with their code", async () => {
  finish();
  const graph = new StateGraph(MessagesAnnotation)
    .addNode(
      "model",
      saying(
        calling(["1", "research", { topic: "fsync" }], ["2", "research", { topic: "nonsense" }]),
        new AIMessage("Done."),
      ),
    )
    .addNode("tools", new ToolNode([await handoffTool(hf, { capability: "research" })]))
    .addEdge(START, "model")
    .addConditionalEdges("model", toolsCondition)
    .addEdge("tools", "model")
    .compile({ checkpointer: sqliteSaver(":memory:") });
  const { messages } = await graph.invoke({ messages: [new HumanMessage("Go.")] }, onThread("t"));
  const failure =
    "The handoff ended as failed: 500 agent_failed (no_topic): There is no such topic. Trying the same again does not help.";
  expect(answers(messages)).toEqual([
    ["1", '{"about":"fsync"}', "success"],
    ["2", failure, "error"],
  ]);
});

test("6: tools called in parallel sleep each for itself, and each gets its own outcome", async () => {
  const clock = tool(() => "noon", { name: "clock", description: "Tells the time.", schema: z.object({}) });
  const shout = await handoffTool(hf, { capability: "shout.loudly", description: "Shouts." });
  const research = await handoffTool(hf, { capability: "research", timeout: "60s" });
  const model = saying(
    calling(
      ["a", "research", { topic: "fsync" }],
      ["b", "research", { topic: "nonsense" }],
      ["c", "research", { topic: "epoll" }],
      ["d", "clock", {}],
      ["e", "dance", {}],
    ),
    calling(["f", "shout_loudly", { input: "done" }]),
    new AIMessage("That is all."),
  );
  let spoken = 0;
  const graph = addHandoffTools(
    new StateGraph(MessagesAnnotation).addNode("model", () => {
      spoken += 1;
      return model();
    }),
    "tools",
    { tools: [research, shout, clock], next: "model" },
  )
    .addEdge(START, "model")
    .addConditionalEdges("model", toolsCondition, ["tools", END])
    .compile({ checkpointer: sqliteSaver(":memory:") });
  const paused = await graph.invoke({ messages: [new HumanMessage("Go.")] }, onThread("t"));
  const interrupts = (paused as unknown as { __interrupt__: { id: string }[] }).__interrupt__;
  expect(new Set(interrupts.map(({ id }) => id)).size).toBe(3);

  const woken: Woken[] = [];
  const resumer = resumeOutcomes(hf, graph, { onWoken: (each) => woken.push(each) });
  stage.atEnd(() => resumer.stop());
  finish();
  const messages = await until(async () => {
    const { values, next } = await graph.getState(onThread("t"));
    return next.length === 0 && woken.length === 4 ? (values["messages"] as BaseMessage[]) : null;
  });
  expect(Object.fromEntries(answers(messages).map(([id, content]) => [id, content]))).toEqual({
    a: '{"about":"fsync"}',
    b: expect.stringContaining("500 agent_failed (no_topic)"),
    c: '{"about":"epoll"}',
    d: "noon",
    e: expect.stringContaining('"dance" not found'),
    f: "DONE",
  });
  expect(messages.at(-1)?.content).toBe("That is all.");
  expect(spoken).toBe(3);
  expect(await sentBy(hf)).toHaveLength(4);
});
