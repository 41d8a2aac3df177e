/** A graph that hands off: it sleeps, and whatever becomes of the handoff is a value in its state. */

import { Fail } from "@handfast/client";
import { Annotation, END, MemorySaver, Send, START, StateGraph } from "@langchain/langgraph";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Stage, sentBy, until } from "../../kit/src/testing/stage.ts";
import { addHandoff, type Outcome, resumeOutcomes, type Woken } from "./mod.ts";
import { onThread, planner } from "./testing/planner.ts";
import { sqliteSaver } from "./testing/sqlite-saver.ts";

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.open();
});
afterEach(() => stage.close());

/** Runs one thread to its end, with a resumer, and tells what the graph's text came to. */
async function textAfter(options: Parameters<typeof planner>[0]["options"] = {}): Promise<string> {
  const hf = await stage.agent("planner");
  const graph = planner({ hf, saver: sqliteSaver(":memory:"), options });
  const woken: Woken[] = [];
  const resumer = resumeOutcomes(hf, graph, { onWoken: (each) => woken.push(each) });
  stage.atEnd(() => resumer.stop());
  await graph.invoke({ topic: "fsync" }, onThread("t"));
  const text = await until(async () => (await graph.getState(onThread("t"))).values["text"] as string | undefined);
  for (const { id } of await sentBy(hf)) await until(async () => (await hf.handle(id).status()).taken_at);
  return text;
}

test("the graph sleeps until the outcome is there, and goes on with it", async () => {
  const hf = await stage.agent("planner");
  const worker = await stage.agent("researcher");
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  await worker.serve({ research: async (input) => finished.then(() => ({ of: input })) }, { signals: false });
  const ran: string[] = [];
  const graph = planner({ hf, saver: sqliteSaver(":memory:"), ran: (node) => ran.push(node) });

  const paused = await graph.invoke({ topic: " fsync " }, onThread("t"));
  const [sent] = await sentBy(hf);
  expect(paused).toMatchObject({ __interrupt__: [{ value: { handfast: { handoff: sent?.id } } }] });
  expect(sent?.labels).toEqual({ "langgraph.graph": "graph", "langgraph.thread": "t", "langgraph.node": "research" });
  expect(ran).toEqual(["plan"]);

  const { promise: woken, resolve: wake } = Promise.withResolvers<Woken>();
  const resumer = resumeOutcomes(hf, graph, { onWoken: wake });
  finish();
  expect(await woken).toEqual({ handoff: sent?.id, key: "langgraph/graph/t", how: "resumed" });
  await resumer.stop();
  const { values, next } = await graph.getState(onThread("t"));
  expect(next).toEqual([]);
  expect(values["report"]).toEqual({
    handoff: sent?.id,
    status: "completed",
    code: 200,
    name: "completed",
    output: { of: { topic: "fsync" } },
    retryable: false,
  });
  expect(ran).toEqual(["plan", "note", "write"]);
  expect((await hf.handle(sent?.id ?? "").status()).taken_at).not.toBeNull();
});

test("a failure is a value", async () => {
  const worker = await stage.agent("researcher");
  await worker.serve(
    { research: () => Promise.reject(new Fail("No such topic.", { reason: "no_topic" })) },
    { signals: false },
  );
  expect(await textAfter()).toBe("500 no_topic");
});

test("a deadline that passes is a value", async () => {
  const worker = await stage.agent("researcher");
  await worker.serve({ research: () => new Promise(() => {}) }, { signals: false, grace: 0 });
  expect(await textAfter({ timeout: "300ms" })).toBe("408 deadline_passed");
});

test("what the relay refuses is a value, and nobody waits for it", async () => {
  expect(await textAfter()).toBe("406 nobody_offers");
});

test("what fits no schema is a value too: the relay has looked before anybody worked on it", async () => {
  const worker = await stage.agent("researcher");
  const input = { type: "object", required: ["question"] };
  await worker.serve({ research: { input, handler: () => "never" } }, { signals: false });
  expect(await textAfter()).toBe("422 input_unfit");
});

test("a handoff that ends while its graph is still about to wait does not pause it", async () => {
  const worker = await stage.agent("researcher");
  await worker.serve({ research: () => "at once" }, { signals: false });
  expect(await textAfter()).toBe('"at once"');
});

test("a run from an earlier state, whose outcome was taken long ago, has that outcome again", async () => {
  const hf = await stage.agent("planner");
  const worker = await stage.agent("researcher");
  await worker.serve({ research: () => "found" }, { signals: false });
  const graph = planner({ hf, saver: sqliteSaver(":memory:") });
  const resumer = resumeOutcomes(hf, graph);
  await graph.invoke({ topic: "fsync" }, onThread("t"));
  const [sent] = await sentBy(hf);
  await until(async () => (await hf.handle(sent?.id ?? "").status()).taken_at);
  await resumer.stop();

  const before = await until(async () => {
    for await (const state of graph.getStateHistory(onThread("t")))
      if (state.next[0] === "research_outcome") return state;
    return null;
  });
  const again = await graph.invoke(null, { ...before.config, durability: "sync" });
  expect(again).toMatchObject({ text: '"found"' });
  expect(await sentBy(hf)).toHaveLength(1);
});

test("many branches of one node each hand off, and each gets its own outcome", async () => {
  const hf = await stage.agent("planner");
  const worker = await stage.agent("researcher");
  await worker.serve({ research: (topic) => `about ${topic}` }, { signals: false });
  const State = Annotation.Root({
    topics: Annotation<string[]>,
    topic: Annotation<string>,
    reports: Annotation<Outcome[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
    joined: Annotation<number>,
  });
  let joins = 0;
  const graph = addHandoff(new StateGraph(State), "research", {
    hf,
    capability: "research",
    input: ({ topic }) => topic,
    output: (outcome) => ({ reports: [outcome] }),
  })
    .addNode("join", ({ reports }) => {
      joins += 1;
      return { joined: reports.length };
    })
    .addConditionalEdges(START, ({ topics }) => topics.map((topic) => new Send("research", { topic })), ["research"])
    .addEdge("research_outcome", "join")
    .addEdge("join", END)
    .compile({ checkpointer: sqliteSaver(":memory:") });
  const resumer = resumeOutcomes(hf, graph);
  stage.atEnd(() => resumer.stop());
  const topics = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
  await graph.invoke({ topics }, onThread("t"));
  const reports = await until(async () => {
    const { values } = await graph.getState(onThread("t"));
    return values["joined"] === undefined ? null : (values["reports"] as Outcome[]);
  });
  expect(reports.map((each) => each.status === "completed" && each.output).sort()).toEqual(
    topics.map((t) => `about ${t}`),
  );
  expect(joins).toBe(1);
  expect(await sentBy(hf)).toHaveLength(10);
});

test("a handoff within a graph within the graph is resumed as well", async () => {
  const hf = await stage.agent("planner");
  const worker = await stage.agent("researcher");
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  await worker.serve({ research: async (topic) => finished.then(() => `about ${topic}`) }, { signals: false });
  const Inner = Annotation.Root({ topic: Annotation<string>, report: Annotation<Outcome>, other: Annotation<Outcome> });
  const options = { hf, capability: "research", input: ({ topic }: typeof Inner.State) => topic, next: END };
  const inner = addHandoff(addHandoff(new StateGraph(Inner), "one", { ...options, output: "report" }), "two", {
    ...options,
    output: "other",
  })
    .addEdge(START, "one")
    .addEdge(START, "two")
    .compile();
  let ended = 0;
  const graph = new StateGraph(Inner)
    .addNode("inner", inner)
    .addNode("end", () => {
      ended += 1;
      return {};
    })
    .addEdge(START, "inner")
    .addEdge("inner", "end")
    .addEdge("end", END)
    .compile({ checkpointer: sqliteSaver(":memory:") });
  await graph.invoke({ topic: "fsync" }, onThread("t"));
  const woken: Woken[] = [];
  const resumer = resumeOutcomes(hf, graph, { onWoken: (each) => woken.push(each) });
  stage.atEnd(() => resumer.stop());
  finish();
  await until(() => woken.length === 2);
  const { values, next } = await graph.getState(onThread("t"));
  expect(next).toEqual([]);
  expect([values["report"], values["other"]]).toMatchObject([{ output: "about fsync" }, { output: "about fsync" }]);
  expect(ended).toBe(1);
});

test("a graph without a checkpointer is told so, not left asleep", async () => {
  const hf = await stage.agent("planner");
  const graph = planner({ hf, saver: undefined as never });
  await expect(graph.invoke({ topic: "fsync" }, onThread("t"))).rejects.toThrow("The graph has no checkpointer");
  expect(() => resumeOutcomes(hf, graph)).toThrow("The graph has no checkpointer");
  expect(await sentBy(hf)).toEqual([]);
});

test("a thread that this checkpointer does not have keeps its outcome at the relay", async () => {
  const hf = await stage.agent("planner");
  const worker = await stage.agent("researcher");
  await worker.serve({ research: () => "found" }, { signals: false });
  await planner({ hf, saver: new MemorySaver() }).invoke({ topic: "fsync" }, onThread("t"));
  const { promise: told, resolve: tell } = Promise.withResolvers<unknown>();
  const other = planner({ hf, saver: new MemorySaver() });
  const resumer = resumeOutcomes(hf, other, { onError: tell, attempts: 1 });
  expect(await told).toMatchObject({ reason: "unknown_thread" });
  await resumer.stop();
  const [sent] = await sentBy(hf);
  expect(sent?.taken_at).toBeNull();
});

test("outcomes of other graphs, and of handoffs of no graph, are left alone", async () => {
  const hf = await stage.agent("planner");
  const worker = await stage.agent("researcher");
  await worker.serve({ research: () => "found" }, { signals: false });
  await hf.send("research", "by hand");
  const other = planner({ hf, saver: new MemorySaver(), options: { graph: "other" } });
  await other.invoke({ topic: "fsync" }, onThread("t"));
  await until(async () => (await sentBy(hf)).every(({ ended_at }) => ended_at !== null));
  const resumer = resumeOutcomes(hf, planner({ hf, saver: new MemorySaver() }), { follow: false });
  await resumer.stopped;
  expect((await sentBy(hf)).map(({ taken_at }) => taken_at)).toEqual([null, null]);
});

test("an outcome for a key that no state has is told when the graph is made", () => {
  const State = Annotation.Root({ topic: Annotation<string>, report: Annotation<Outcome> });
  const hand_off = (output: string) => () =>
    addHandoff(new StateGraph(State), "research", { capability: "x", input: () => null, output: output as "report" });
  expect(hand_off("zzz")).toThrow(/"zzz", and the graph's state has no such key/);
  expect(hand_off("report")).not.toThrow();
});

test("a thread id that no label can carry is refused by its name", async () => {
  const graph = planner({ hf: await stage.agent("planner"), saver: new MemorySaver() });
  await expect(graph.invoke({ topic: "fsync" }, onThread("a\nb"))).rejects.toThrow('The thread id is "a\\nb".');
  await expect(graph.invoke({ topic: "fsync" }, onThread("t".repeat(201)))).rejects.toThrow("has 201 characters");
});
