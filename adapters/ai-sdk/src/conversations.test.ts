/** Conversations that sleep while their calls are with other agents, and what is left of them after a crash. */

import { type Client, Fail } from "@handfast/client";
import { generateText, type ModelMessage, type ToolSet } from "ai";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Stage, sentBy, until } from "../../kit/src/testing/stage.ts";
import {
  type Conversations,
  handOffPending,
  type Lock,
  pausingHandoffTool,
  resumeConversations,
  type Woken,
} from "./mod.ts";
import { scriptedModel, type Word } from "./testing/scripted-model.ts";

let stage: Stage;
let hf: Client;
let finish: () => void;
/** What a user's database would keep: text. */
let kept: Map<string, string>;

beforeEach(async () => {
  stage = await Stage.open();
  hf = await stage.agent("asker");
  kept = new Map();
  const worker = await stage.agent("researcher");
  const { promise: finished, resolve } = Promise.withResolvers<void>();
  finish = resolve;
  const research = async ({ topic }: { topic: string }) => {
    await finished;
    if (topic === "nonsense") throw new Fail("There is no such topic.", { reason: "no_topic" });
    return `about ${topic}`;
  };
  const input = { type: "object", properties: { topic: { type: "string" } }, required: ["topic"] };
  await worker.serve({ research: { input, handler: research } as never }, { signals: false, grace: 0 });
});
afterEach(() => stage.close());

/** A chat as an application would write it, with a model that says these things. */
async function chat(...words: readonly Word[]) {
  const model = scriptedModel(...words);
  const tools: ToolSet = {
    research: await pausingHandoffTool(hf, { capability: "research", description: "Finds out.", timeout: "60s" }),
    dance: await pausingHandoffTool(hf, { capability: "dance", description: "Dances.", input: { type: "object" } }),
  };
  const speak = async (id: string, messages: readonly ModelMessage[]) => {
    const { response } = await generateText({ model, tools, messages: [...messages] });
    await conversations.save(id, [...messages, ...response.messages]);
    await handOffPending(hf, conversations, id);
  };
  const conversations: Conversations = {
    tools,
    load: async (id) => JSON.parse(kept.get(id) ?? "null"),
    save: async (id, messages) => void kept.set(id, JSON.stringify(messages)),
    go: speak,
  };
  const begin = () => speak("c", [{ role: "user", content: "Go." }]);
  return { model, conversations, begin };
}

function messages(): readonly ModelMessage[] {
  return JSON.parse(kept.get("c") ?? "[]");
}

function lastWord(): unknown {
  const last = messages().at(-1);
  return last?.role === "assistant" && typeof last.content !== "string" ? last.content.at(-1) : null;
}

test("the conversation sleeps until every call has its result, and the model goes on once", async () => {
  const { model, conversations, begin } = await chat(
    [
      ["1", "research", { topic: "fsync" }],
      ["2", "research", { topic: "nonsense" }],
    ],
    "Now I know.",
  );
  await begin();
  expect(messages()).toHaveLength(2);
  expect((await sentBy(hf)).map(({ labels }) => labels["ai-sdk.call"])).toEqual(["1", "2"]);
  const woken: Woken[] = [];
  const resumers = [1, 2].map(() => resumeConversations(hf, conversations, { onWoken: (each) => woken.push(each) }));
  for (const resumer of resumers) stage.atEnd(() => resumer.stop());
  finish();
  // One of them may find an outcome taken by the other before it looked.
  await until(() => new Set(woken.map(({ handoff }) => handoff)).size === 2);
  await Promise.all(resumers.map((resumer) => resumer.stop()));
  expect(lastWord()).toMatchObject({ text: "Now I know." });
  expect(model.doGenerateCalls).toHaveLength(2);
  const results = messages().flatMap((message) => (message.role === "tool" ? message.content : []));
  expect(
    results.toSorted((a, b) => ("toolCallId" in a && "toolCallId" in b && a.toolCallId < b.toolCallId ? -1 : 1)),
  ).toMatchObject([
    { toolCallId: "1", output: { type: "text", value: "about fsync" } },
    { toolCallId: "2", output: { type: "error-text", value: expect.stringContaining("500 agent_failed (no_topic)") } },
  ]);
});

test("what the relay refuses is the call's result at once, and the model goes on", async () => {
  const { begin } = await chat([["1", "dance", {}]], "Nobody dances.");
  await begin();
  expect(lastWord()).toMatchObject({ text: "Nobody dances." });
});

test("an outcome that comes while another call is refused is not lost below it", async () => {
  finish();
  const { conversations, begin } = await chat(
    [
      ["1", "research", { topic: "fsync" }],
      ["2", "dance", {}],
    ],
    "Now I know.",
  );
  const { lock, asked } = lineOfTests();
  const woken: Woken[] = [];
  const { save } = conversations;
  let saves = 0;
  const slow: Conversations["save"] = async (...all) => {
    saves += 1;
    // The first call has its outcome by now, and somebody wants to put it into the messages, or has.
    if (saves === 2) await until(() => asked() > 1 || woken.length > 0);
    await save(...all);
  };
  Object.assign(conversations, { lock, save: slow });
  const resumer = resumeConversations(hf, conversations, { onWoken: (each) => woken.push(each) });
  stage.atEnd(() => resumer.stop());
  await begin();
  await until(() => woken.length === 1);
  expect(lastWord()).toMatchObject({ text: "Now I know." });
  expect(messages().map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "assistant"]);
});

/** A lock, and how often it was asked for. */
function lineOfTests() {
  let asked = 0;
  let last: Promise<unknown> = Promise.resolve();
  const lock: Lock = (_, act) => {
    asked += 1;
    const turn = last.then(act, act);
    last = turn.catch(() => {});
    return turn;
  };
  return { lock, asked: () => asked };
}

test("a model that uses an id again in a later turn gets that turn's outcome", async () => {
  const { conversations, begin } = await chat(
    [["call_0", "research", { topic: "fsync" }]],
    [["call_0", "research", { topic: "epoll" }]],
    "Now I know.",
  );
  const resumer = resumeConversations(hf, conversations);
  stage.atEnd(() => resumer.stop());
  await begin();
  finish();
  await until(() => messages().length === 6);
  expect(lastWord()).toMatchObject({ text: "Now I know." });
  const results = messages().flatMap((message) => (message.role === "tool" ? message.content : []));
  expect(results).toMatchObject([{ output: { value: "about fsync" } }, { output: { value: "about epoll" } }]);
});

test("a process that ended after it kept its messages sends what it had not sent, and nothing twice", async () => {
  const { conversations, begin } = await chat([["1", "research", { topic: "fsync" }]], "Now I know.");
  await begin();
  for (const _ of [1, 2]) expect(await handOffPending(hf, conversations, "c")).toHaveLength(1);
  expect(await sentBy(hf)).toHaveLength(1);
});

test("a process that ended after the result was kept lets the model go on, and one that ended after that does not", async () => {
  const { model, conversations, begin } = await chat(
    [["1", "research", { topic: "fsync" }]],
    new Error("cut off"),
    "Now I know.",
  );
  await begin();
  finish();
  await until(async () => (await sentBy(hf)).every(({ ended_at }) => ended_at !== null));
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  await resumeConversations(hf, conversations, { follow: false, attempts: 1, onError }).stopped;
  expect(errors).toMatchObject([{ message: "cut off" }]);
  expect(messages().at(-1)).toMatchObject({ role: "tool" });

  // Its last moment is when the model has spoken, and the relay was not yet told.
  const lock: Lock = async (_, run) => {
    await run();
    throw new Error("cut off again");
  };
  await resumeConversations(hf, { ...conversations, lock }, { follow: false, attempts: 1, onError }).stopped;
  expect(lastWord()).toMatchObject({ text: "Now I know." });
  expect(errors).toHaveLength(2);

  const woken: Woken[] = [];
  await resumeConversations(hf, conversations, { follow: false, onWoken: (each) => woken.push(each) }).stopped;
  expect(woken).toMatchObject([{ how: "not_waiting" }]);
  expect(model.doGenerateCalls).toHaveLength(3);
});

test("a conversation that is unknown keeps its outcome at the relay", async () => {
  const { conversations, begin } = await chat([["1", "research", { topic: "fsync" }]]);
  await begin();
  finish();
  kept.clear();
  await until(async () => (await sentBy(hf)).every(({ ended_at }) => ended_at !== null));
  const errors: unknown[] = [];
  await resumeConversations(hf, conversations, { follow: false, attempts: 1, onError: (error) => errors.push(error) })
    .stopped;
  expect(errors).toMatchObject([{ reason: "unknown_conversation" }]);
  expect((await sentBy(hf)).map(({ taken_at }) => taken_at)).toEqual([null]);
});
