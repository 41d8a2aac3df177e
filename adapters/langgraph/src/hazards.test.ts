/**
 * What was measured of LangGraph and could let a thread get the wrong outcome, or one twice, or none: what LangGraph does,
 * and what the adapter makes of it. The sixth, parallel tools, is in add-handoff-tools.test.ts. The seventh, a resume
 * payload that is taken for a map of ids by its keys, is in JavaScript a matter of hexadecimal keys only; that an empty
 * payload is taken for one too is Python's alone.
 */

import type { Client } from "@handfast/client";
import {
  Annotation,
  type BaseCheckpointSaver,
  Command,
  END,
  type Interrupt,
  interrupt,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Stage, sentBy, until } from "../../kit/src/testing/stage.ts";
import { addHandoff, type Outcome, resumeOutcomes, type Woken } from "./mod.ts";
import { onThread, planner } from "./testing/planner.ts";
import { sqliteSaver } from "./testing/sqlite-saver.ts";
import { lookAt } from "./thread-state.ts";

let stage: Stage;
let hf: Client;
/** Lets the worker finish what it was given under this name. */
let finish: (topic: string, output?: unknown) => void;

beforeEach(async () => {
  stage = await Stage.open();
  hf = await stage.agent("planner");
  const gates = new Map<string, PromiseWithResolvers<unknown>>();
  const gate = (topic: string) => {
    const found = gates.get(topic) ?? Promise.withResolvers<unknown>();
    gates.set(topic, found);
    return found;
  };
  finish = (topic, output = `about ${topic}`) => gate(topic).resolve(output);
  const worker = await stage.agent("researcher");
  const research = ({ topic }: { topic: string }) => gate(topic).promise;
  await worker.serve({ research }, { signals: false, grace: 0 });
});
afterEach(() => stage.close());

/** Two handoffs side by side, and what follows when both have ended. */
function twoAtOnce(saver: BaseCheckpointSaver, joined: () => void = () => {}) {
  const State = Annotation.Root({ left: Annotation<Outcome>, right: Annotation<Outcome> });
  const options = { hf, capability: "research", timeout: "60s" } as const;
  const one = addHandoff(new StateGraph(State), "go_left", {
    ...options,
    input: () => ({ topic: "left" }),
    output: "left",
  });
  return addHandoff(one, "go_right", { ...options, input: () => ({ topic: "right" }), output: "right" })
    .addNode("join", () => {
      joined();
      return {};
    })
    .addEdge(START, "go_left")
    .addEdge(START, "go_right")
    .addEdge(["go_left_outcome", "go_right_outcome"], "join")
    .addEdge("join", END)
    .compile({ checkpointer: saver });
}

function resuming(graph: ReturnType<typeof twoAtOnce> | ReturnType<typeof planner>): readonly Woken[] {
  const woken: Woken[] = [];
  const resumer = resumeOutcomes(hf, graph as never, { onWoken: (each) => woken.push(each) });
  stage.atEnd(() => resumer.stop());
  return woken;
}

test("1: a resume that names no interrupt goes to both that wait, and neither takes it for its outcome", async () => {
  const graph = twoAtOnce(sqliteSaver(":memory:"));
  await graph.invoke({}, onThread("t"));
  await graph.invoke(new Command({ resume: { handfast: { handoff: "another", outcome: "wrong" } } }), onThread("t"));
  await graph.invoke(new Command({ resume: "yes" }), onThread("t"));
  // LangGraph now says that nothing is left to do.
  const { values, next } = await graph.getState(onThread("t"));
  expect([values, next]).toEqual([{}, []]);
  for (const { id } of await sentBy(hf)) expect(await lookAt(graph, "t", [id])).toMatchObject({ kind: "waiting" });

  const woken = resuming(graph);
  finish("left");
  finish("right");
  await until(() => woken.length === 2);
  const after = await graph.getState(onThread("t"));
  expect(after.values).toMatchObject({ left: { output: "about left" }, right: { output: "about right" } });
});

test("1: another node's question, beside the handoff, does not get its outcome", async () => {
  const State = Annotation.Root({ report: Annotation<Outcome>, approved: Annotation<unknown> });
  const handing = { hf, capability: "research", input: () => ({ topic: "fsync" }), output: "report" } as const;
  const graph = addHandoff(new StateGraph(State), "go", handing)
    .addNode("pause", () => ({}))
    .addNode("approve", () => ({ approved: interrupt("May it be published?") }))
    // A step later, so that both wait at the same time.
    .addEdge(START, "go")
    .addEdge(START, "pause")
    .addEdge("pause", "approve")
    .compile({ checkpointer: sqliteSaver(":memory:") });
  const paused = await graph.invoke({}, onThread("t"));
  expect(paused).toMatchObject({ __interrupt__: [{}, {}] });
  const woken = resuming(graph as never);
  finish("fsync");
  await until(() => woken.length === 1);
  const { values } = await graph.getState(onThread("t"));
  expect(values).not.toHaveProperty("approved");
  const [question] = (paused as unknown as { __interrupt__: readonly Interrupt[] }).__interrupt__.filter(
    ({ value }) => value === "May it be published?",
  );
  const answered = await graph.invoke(new Command({ resume: { [question?.id ?? ""]: "yes" } }), onThread("t"));
  expect(answered).toMatchObject({ report: { output: "about fsync" }, approved: "yes" });
});

test("2: a resume with an id that is wrong or stale is ignored without a word, and the thread goes on waiting", async () => {
  const graph = planner({ hf, saver: sqliteSaver(":memory:") });
  await graph.invoke({ topic: "fsync" }, onThread("t"));
  const stale = { ["0123456789abcdef".repeat(2)]: { handfast: { handoff: "x", outcome: {} } } };
  await graph.invoke(new Command({ resume: stale }), onThread("t"));
  expect((await graph.getState(onThread("t"))).next).toEqual(["research_outcome"]);
  const woken = resuming(graph);
  finish("fsync");
  await until(() => woken.length === 1);
  expect((await graph.getState(onThread("t"))).values).toMatchObject({ text: '"about fsync"' });
});

test("2: a resume that LangGraph ignored is not taken for one that was heard", async () => {
  const graph = planner({ hf, saver: sqliteSaver(":memory:") });
  await graph.invoke({ topic: "fsync" }, onThread("t"));
  finish("fsync");
  const { promise: told, resolve: tell } = Promise.withResolvers<unknown>();
  const deaf = Object.create(graph, { invoke: { value: async () => ({}) } });
  const resumer = resumeOutcomes(hf, deaf, { attempts: 1, onError: tell, onWoken: tell });
  expect(await told).toMatchObject({ reason: "not_heard" });
  await resumer.stop();
  const [sent] = await sentBy(hf);
  expect(sent?.taken_at).toBeNull();
});

test("3: two resumers at once run what follows once", async () => {
  const saver = sqliteSaver(":memory:");
  const ran: string[] = [];
  const graphs = [0, 1].map(() => planner({ hf, saver, ran: (node) => void ran.push(node) }));
  const [graph] = graphs;
  await graph?.invoke({ topic: "fsync" }, onThread("t"));
  // What they look at takes so long that without turns both would find the thread asleep.
  const getTuple = saver.getTuple.bind(saver);
  saver.getTuple = async (config) => {
    const tuple = await getTuple(config);
    await new Promise((resolve) => setTimeout(resolve, 50));
    return tuple;
  };
  finish("fsync");
  await until(async () => (await sentBy(hf)).every(({ ended_at }) => ended_at !== null));
  const woken = graphs.map((each) => resuming(each));
  await until(() => woken.every(({ length }) => length === 1));
  expect(ran).toEqual(["plan", "note", "write"]);
  expect(
    woken
      .flat()
      .map(({ how }) => how)
      .toSorted(),
  ).toEqual(["not_waiting", "resumed"]);
});

test("3: what a user runs on the thread meanwhile is waited for", async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const ran: string[] = [];
  const graph = planner({
    hf,
    saver: sqliteSaver(":memory:"),
    ran: async (node, { topic }) => {
      ran.push(`${topic} ${node}`);
      if (`${topic} ${node}` === "users note") await gate;
    },
  });
  await graph.invoke({ topic: "other" }, onThread("other"));
  await graph.invoke({ topic: "users" }, onThread("users"));
  finish("users");
  await until(async () => (await sentBy(hf)).some(({ ended_at }) => ended_at !== null));
  const running = graph.invoke(null, onThread("users"));
  await until(() => ran.includes("users note"));
  const woken = resuming(graph);
  finish("other");
  // Had the first not been waited for, it would have been dealt with by now.
  await until(() => woken.length === 1);
  expect(woken).toMatchObject([{ key: "langgraph/graph/other" }]);
  open();
  await running;
  await until(() => woken.length === 2);
  expect(ran.filter((each) => each.startsWith("users"))).toEqual(["users plan", "users note", "users write"]);
});

test("4: a node runs again from its top when it is resumed, and nothing is sent again", async () => {
  const inputs: unknown[] = [];
  const input = ({ topic }: { topic: string }) => {
    inputs.push(topic);
    return { topic };
  };
  const graph = planner({ hf, saver: sqliteSaver(":memory:"), options: { input } });
  await graph.invoke({ topic: "fsync" }, onThread("t"));
  await graph.invoke(null, onThread("t"));
  const woken = resuming(graph);
  finish("fsync");
  await until(() => woken.length === 1);
  expect(inputs).toEqual(["fsync"]);
  expect(await sentBy(hf)).toHaveLength(1);
});

test("5: one of two that was answered is still listed as waiting, and is not answered again", async () => {
  let joins = 0;
  const graph = twoAtOnce(sqliteSaver(":memory:"), () => {
    joins += 1;
  });
  await graph.invoke({}, onThread("t"));
  const woken = resuming(graph);
  finish("left");
  await until(() => woken.length === 1);

  const { tasks } = await graph.getState(onThread("t"));
  expect(tasks.flatMap(({ interrupts }) => interrupts)).toHaveLength(2);
  const handoffs = (await sentBy(hf)).map(({ id, state }) => ({ id, state }));
  const idOf = (wanted: string) => handoffs.find(({ state }) => state === wanted)?.id ?? "";
  expect(await lookAt(graph, "t", [idOf("completed")])).toEqual({ kind: "settled" });
  expect(await lookAt(graph, "t", [idOf("working")])).toMatchObject({ kind: "waiting" });

  finish("right");
  await until(() => woken.length === 2);
  const { values } = await graph.getState(onThread("t"));
  expect(values).toMatchObject({ left: { output: "about left" }, right: { output: "about right" } });
  expect(joins).toBe(1);
});

test("7: an output whose keys look like ids of interrupts arrives as it is", async () => {
  const graph = planner({ hf, saver: sqliteSaver(":memory:") });
  await graph.invoke({ topic: "fsync" }, onThread("t"));
  const woken = resuming(graph);
  const output = { "0123456789abcdef0123456789abcdef": "kept" };
  finish("fsync", output);
  await until(() => woken.length === 1);
  expect((await graph.getState(onThread("t"))).values).toMatchObject({ report: { output } });
});

test("8: where nothing is kept until the end, a handoff is refused before it is sent", async () => {
  const graph = planner({ hf, saver: sqliteSaver(":memory:") });
  for (const options of [{ durability: "exit" }, { checkpointDuring: false }] as const) {
    const run = graph.invoke({ topic: "fsync" }, { configurable: { thread_id: "t" }, ...options });
    await expect(run).rejects.toMatchObject({
      reason: "not_kept",
      message: expect.stringContaining("could be sent twice"),
    });
  }
  expect(await sentBy(hf)).toEqual([]);
});

test("8: where the state is kept in the background, a handoff is sent when it is kept", async () => {
  const saver = sqliteSaver(":memory:");
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const put = saver.put.bind(saver);
  saver.put = async (...given: Parameters<typeof put>) => {
    await gate;
    return put(...given);
  };
  const graph = planner({ hf, saver });
  const running = graph.invoke({ topic: "fsync" }, { configurable: { thread_id: "t" }, durability: "async" });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await sentBy(hf)).toEqual([]);
  open();
  await running;
  expect(await sentBy(hf)).toHaveLength(1);
});
