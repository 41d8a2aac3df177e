/** Runs that sleep while their calls are with other agents, and what is left of them after a crash. */

import { type Client, Fail } from "@handfast/client";
import { Agent, run } from "@openai/agents";
import {
  assistantMessage,
  functionCall,
  modelError,
  ScriptedModel,
  type ScriptedModelInput,
} from "@openai/agents/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Stage, sentBy, until } from "../../kit/src/testing/stage.ts";
import { handOffPending, type Lock, pausingHandoffTool, type Runs, resumeRuns, type Woken } from "./mod.ts";

let stage: Stage;
let hf: Client;
let finish: () => void;
/** What a user's database would keep. */
let kept: Map<string, { readonly state: string; readonly output: unknown }>;

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

type Calls = readonly (readonly [callId: string, tool: string, args: object])[];

async function prepare(calls: Calls, ...more: readonly ScriptedModelInput[]) {
  const model = new ScriptedModel([
    calls.map(([callId, tool, args]) => functionCall(tool, args as never, { callId })),
    ...more,
  ]);
  const tools = [
    await pausingHandoffTool(hf, { capability: "research", description: "Finds out.", timeout: "60s" }),
    await pausingHandoffTool(hf, { capability: "dance", description: "Dances.", input: { type: "object" } }),
  ];
  const agent = new Agent({ name: "asker", model, tools });
  const runs: Runs = {
    agent,
    load: async (id) => kept.get(id)?.state ?? null,
    save: async (id, state, output) => void kept.set(id, { state, output }),
  };
  return { model, runs };
}

async function begin(calls: Calls, ...more: readonly ScriptedModelInput[]) {
  const { model, runs } = await prepare(calls, ...more);
  return { model, runs, sent: await handOffPending(hf, runs, "r", await run(runs.agent, "Go.")) };
}

function results(model: ScriptedModel): Record<string, unknown> {
  const told = model.calls.at(-1)?.request.input;
  const items = typeof told === "string" ? [] : (told ?? []);
  return Object.fromEntries(
    items.flatMap((item) => (item.type === "function_call_result" ? [[item.callId, item.output]] : [])),
  );
}

async function allEnded(): Promise<void> {
  await until(async () => (await sentBy(hf)).every(({ ended_at }) => ended_at !== null));
}

test("the run sleeps until the outcomes are there, and goes on once with all of them", async () => {
  const calls: Calls = [
    ["1", "research", { topic: "fsync" }],
    ["2", "research", { topic: "nonsense" }],
  ];
  const { model, runs, sent } = await begin(calls, [assistantMessage("Now I know.")]);
  expect(sent).toHaveLength(2);
  expect(model.calls).toHaveLength(1);
  const woken: Woken[] = [];
  const resumers = [1, 2].map(() => resumeRuns(hf, runs, { onWoken: (each) => woken.push(each) }));
  for (const resumer of resumers) stage.atEnd(() => resumer.stop());
  finish();
  // One of them may find an outcome taken by the other before it looked.
  await until(() => new Set(woken.map(({ handoff }) => handoff)).size === 2);
  await Promise.all(resumers.map((resumer) => resumer.stop()));
  expect(kept.get("r")?.output).toBe("Now I know.");
  expect(model.calls).toHaveLength(2);
  expect(results(model)).toMatchObject({
    1: { text: "about fsync" },
    2: { text: expect.stringContaining("500 agent_failed (no_topic)") },
  });
  expect(woken.filter(({ how }) => how !== "not_waiting").map(({ how }) => how)).toEqual(["resumed", "resumed"]);
});

test("what the relay refuses is the call's result at once", async () => {
  const { sent } = await begin([["1", "dance", {}]], [assistantMessage("Nobody dances.")]);
  expect(sent).toEqual([]);
  expect(kept.get("r")?.output).toBe("Nobody dances.");
});

test("a run that calls again sleeps again", async () => {
  const again = [functionCall("research", { topic: "epoll" } as never, { callId: "2" })];
  const { runs } = await begin([["1", "research", { topic: "fsync" }]], again, [assistantMessage("Now I know.")]);
  const resumer = resumeRuns(hf, runs);
  stage.atEnd(() => resumer.stop());
  finish();
  await until(() => kept.get("r")?.output !== undefined);
  expect(kept.get("r")?.output).toBe("Now I know.");
  expect(await sentBy(hf)).toHaveLength(2);
});

test("an outcome that comes while another call is refused is not lost below it", async () => {
  finish();
  const calls: Calls = [
    ["1", "research", { topic: "fsync" }],
    ["2", "dance", {}],
  ];
  const { runs, model } = await prepare(calls, [assistantMessage("Now I know.")]);
  const { lock, asked } = lineOfTests();
  const woken: Woken[] = [];
  let saves = 0;
  const save: Runs["save"] = async (...all) => {
    saves += 1;
    // The first call has its outcome by now, and somebody wants to wake the run with it, or has.
    if (saves === 2) await until(() => asked() > 1 || woken.length > 0);
    await runs.save(...all);
  };
  const guarded = { ...runs, lock, save };
  const resumer = resumeRuns(hf, guarded, { onWoken: (each) => woken.push(each) });
  stage.atEnd(() => resumer.stop());
  await handOffPending(hf, guarded, "r", await run(runs.agent, "Go."));
  await until(() => woken.length === 1);
  expect(kept.get("r")?.output).toBe("Now I know.");
  expect(results(model)).toMatchObject({ 1: { text: "about fsync" }, 2: { text: expect.stringContaining("406") } });
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

test("a process that ended before it had sent what it called sends it at the next start, and nothing twice", async () => {
  const { runs } = await begin([["1", "research", { topic: "fsync" }]]);
  for (const _ of [1, 2]) expect(await handOffPending(hf, runs, "r")).toHaveLength(1);
  expect(await sentBy(hf)).toHaveLength(1);
});

test("a process that ended after the run was kept, and before the relay was told, does not let it go on again", async () => {
  const { model, runs } = await begin([["1", "research", { topic: "fsync" }]], [assistantMessage("Now I know.")]);
  finish();
  await allEnded();
  const lock: Lock = async (_, wake) => {
    await wake();
    throw new Error("cut off");
  };
  await resumeRuns(hf, { ...runs, lock }, { follow: false, attempts: 1, onError: () => {} }).stopped;
  expect(kept.get("r")?.output).toBe("Now I know.");
  const woken: Woken[] = [];
  await resumeRuns(hf, runs, { follow: false, onWoken: (each) => woken.push(each) }).stopped;
  expect(woken).toMatchObject([{ how: "not_waiting" }]);
  expect(model.calls).toHaveLength(2);
});

test("a run whose model fails keeps its outcome at the relay, and goes on at the next start", async () => {
  const { runs } = await begin([["1", "research", { topic: "fsync" }]], modelError(new Error("no line")), [
    assistantMessage("Now I know."),
  ]);
  finish();
  await allEnded();
  const errors: unknown[] = [];
  await resumeRuns(hf, runs, { follow: false, attempts: 1, onError: (error) => errors.push(error) }).stopped;
  expect(errors).toMatchObject([{ message: "no line" }]);
  expect((await sentBy(hf)).map(({ taken_at }) => taken_at)).toEqual([null]);
  await resumeRuns(hf, runs, { follow: false }).stopped;
  expect(kept.get("r")?.output).toBe("Now I know.");
});
