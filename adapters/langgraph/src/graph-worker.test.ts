/** A graph as a worker: what a redelivery finds, and what becomes of a graph that throws, hangs or answers nonsense. */

import { type Client, Fail, type Handler } from "@handfast/client";
import { type TestRelay, testRelay } from "@handfast/client/testing";
import { Annotation, END, interrupt, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";
import { afterEach, beforeEach, expect, test } from "vitest";
import { addHandoff, graphWorker, handoffOf, type Outcome, serveGraph } from "./mod.ts";
import { sqliteSaver } from "./testing/sqlite-saver.ts";

const State = Annotation.Root({ topic: Annotation<string>, notes: Annotation<string>, text: Annotation<string> });
type NodeRun = (node: "gather" | "write", config: LangGraphRunnableConfig) => unknown;

let relay: TestRelay;
let sender: Client;
let saver: ReturnType<typeof sqliteSaver>;
beforeEach(async () => {
  relay = await testRelay();
  sender = await relay.connect("alice");
  saver = sqliteSaver(":memory:");
});
afterEach(() => relay.stop());

/** START → gather → write → END. */
function writer(ran: NodeRun = () => {}) {
  return new StateGraph(State)
    .addNode("gather", async ({ topic }, config) => {
      await ran("gather", config);
      return { notes: `notes on ${topic}` };
    })
    .addNode("write", async ({ notes }, config) => {
      const said = await ran("write", config);
      return { text: typeof said === "string" ? said : `text from ${notes}` };
    })
    .addEdge(START, "gather")
    .addEdge("gather", "write")
    .addEdge("write", END)
    .compile({ checkpointer: saver });
}

async function serving(graph: ReturnType<typeof writer>, more: Parameters<typeof serveGraph>[3] = {}): Promise<Client> {
  const worker = await relay.connect("writer", { onWarning: () => {} });
  await serveGraph(worker, "write", graph, { graphOutput: "text", ...more }, { signals: false, grace: 0 });
  return worker;
}

test("a graph does the work of a handoff, on a thread with the handoff's id", async () => {
  const graph = writer((_, config) => handoffOf(config)?.progress(0.5, "half way"));
  await serving(graph, { description: "Writes.", input: { type: "object", required: ["topic"] } });
  const handoff = await sender.send("write", { topic: "fsync" });
  expect(await relay.until(handoff.result())).toBe("text from notes on fsync");
  expect((await graph.getState({ configurable: { thread_id: handoff.id } })).values).toMatchObject({ topic: "fsync" });
  const { agents } = await sender.call("agents", { query: { capability: "write" } });
  expect(agents[0]?.capabilities).toMatchObject([{ name: "write", description: "Writes." }]);
});

test("cut off between a step that was done and the next, it goes on, and is not taken for finished", async () => {
  const ran: string[] = [];
  const graph = writer((node) => void ran.push(node));
  const put = saver.put.bind(saver);
  saver.put = async (config, checkpoint, metadata) => {
    // The writes of "gather" are kept; the state that follows from them is not.
    if (ran.length === 1) {
      saver.put = put;
      throw new Error("the disk was away");
    }
    return put(config, checkpoint, metadata);
  };
  await serving(graph);
  const handoff = await sender.send("write", { topic: "fsync" });
  expect(await relay.until(handoff.result())).toBe("text from notes on fsync");
  expect(ran).toEqual(["gather", "write"]);
});

test("after a crash another worker goes on where the first one stopped", async () => {
  const ran: string[] = [];
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const worker = await serving(
    writer((node) => {
      ran.push(`first ${node}`);
      if (node === "gather") return;
      reach();
      return new Promise(() => {});
    }),
  );
  const handoff = await sender.send("write", { topic: "fsync" });
  await relay.until(reached);
  await relay.crash(worker);
  await serving(writer((node) => void ran.push(`second ${node}`)));
  expect(await relay.until(handoff.result())).toBe("text from notes on fsync");
  expect(ran).toEqual(["first gather", "first write", "second write"]);
});

test("one that had ended and whose outcome was lost is not run again", async () => {
  const ran: string[] = [];
  const worker = await serving(
    writer((node) => {
      ran.push(node);
      if (node === "write") relay.disconnect(worker);
    }),
  );
  const handoff = await sender.send("write", { topic: "fsync" });
  await relay.settle();
  await relay.crash(worker);
  await serving(writer((node) => void ran.push(`again ${node}`)));
  expect(await relay.until(handoff.result())).toBe("text from notes on fsync");
  expect(ran).toEqual(["gather", "write"]);
});

test("what a redelivery finds of a graph that had ended is its output, and nothing private of its state", async () => {
  const Output = Annotation.Root({ text: Annotation<string> });
  const graph = new StateGraph(State, { output: Output })
    .addNode("write", () => ({ notes: "private", text: "public" }))
    .addEdge(START, "write")
    .compile({ checkpointer: saver });
  let is_lost = false;
  const worker = await relay.connect("writer");
  const run = graphWorker(worker, graph as never);
  const handler: Handler = async (input, ctx) => {
    const output = await run(input, ctx);
    if (is_lost) return output;
    is_lost = true;
    throw new Error("The process died after the run, and before anybody heard of it.");
  };
  const output = { type: "object", properties: { text: { type: "string" } }, additionalProperties: false };
  await worker.serve({ write: { output, handler } as never }, { signals: false, grace: 0 });
  const handoff = await sender.send("write", { topic: "fsync" });
  expect(await relay.until(handoff.result())).toEqual({ text: "public" });
  expect(is_lost).toBe(true);
});

const breakpoints = [{ interruptBefore: ["write"] }, { interruptAfter: ["gather"] }, { interruptAfter: "*" }] as const;

test.each(breakpoints)("a graph that stops at its own breakpoint has not completed: %j", async (where) => {
  const ran: string[] = [];
  await serving(
    Object.assign(
      writer((node) => void ran.push(node)),
      where,
    ),
  );
  const handoff = await sender.send("write", { topic: "fsync" });
  expect(await relay.until(handoff.outcome())).toMatchObject({
    ...{ state: "failed", attempts: 1 },
    outcome: { error: { reason: "graph_paused", message: expect.stringContaining("before write") } },
  });
  expect(ran).toEqual(["gather"]);
});

test.each(breakpoints)("a redelivery does not lead a graph past its breakpoint: %j", async (where) => {
  const ran: string[] = [];
  const graph = Object.assign(
    writer((node) => void ran.push(node)),
    where,
  );
  await serving(graph, {
    graphInput: async (input, ctx) => {
      // The first attempt: the graph has stopped, and nobody heard of it.
      await graph.invoke(input as never, { configurable: { thread_id: ctx.handoff.id } });
      throw new Error("cut off");
    },
  });
  const handoff = await sender.send("write", { topic: "fsync" });
  expect(await relay.until(handoff.outcome())).toMatchObject({
    attempts: 2,
    outcome: { error: { reason: "graph_paused" } },
  });
  expect(ran).toEqual(["gather"]);
});

test("a graph with a breakpoint that it has not reached goes on after a failure", async () => {
  let runs = 0;
  const graph = writer((node) => {
    runs += 1;
    if (node === "gather" && runs === 1) throw new Error("away");
  });
  await serving(Object.assign(graph, { interruptAfter: ["never"] }));
  const handoff = await sender.send("write", { topic: "fsync" });
  expect(await relay.until(handoff.result())).toBe("text from notes on fsync");
});

test("breakpoints without a checkpointer are refused at once", () => {
  const graph = Object.assign(writer(), { checkpointer: undefined, interruptBefore: ["write"] });
  expect(() => graphWorker(sender, graph as never)).toThrow("has breakpoints and no checkpointer");
});

test("a graph that throws is tried again from the node that threw, and the failure tells its class and message only", async () => {
  const ran: string[] = [];
  await serving(
    writer((node) => {
      ran.push(node);
      if (node === "write") throw new TypeError("no ink\n    at /secret/place.ts:1:1");
    }),
  );
  const handoff = await sender.send("write", { topic: "fsync" });
  const view = await relay.until(handoff.outcome());
  expect(ran).toEqual(["gather", "write", "write", "write"]);
  expect(view).toMatchObject({ state: "failed", code: 500, attempts: 3 });
  expect(view.failures.map(({ error }) => error.message)).toEqual(Array(3).fill("TypeError: no ink"));
  expect(JSON.stringify(view)).not.toContain("secret");
});

test("a verdict of a node is taken as it is, and a graph that is wrong in itself is not tried again", async () => {
  await serving(
    writer((node) => {
      if (node === "write") throw new Fail("Too long.", { reason: "too_long" });
    }),
  );
  const handoff = await sender.send("write", { topic: "fsync" });
  expect(await relay.until(handoff.outcome())).toMatchObject({
    attempts: 1,
    outcome: { error: { reason: "too_long" } },
  });

  const circle = new StateGraph(State)
    .addNode("round", () => ({}))
    .addEdge(START, "round")
    .addEdge("round", "round")
    .compile({ checkpointer: saver });
  const worker = await relay.connect("circle");
  await serveGraph(worker, "circle", circle as never, { config: { recursionLimit: 5 } }, { signals: false });
  const endless = await sender.send("circle", { topic: "fsync" });
  expect(await relay.until(endless.outcome())).toMatchObject({
    attempts: 1,
    outcome: {
      error: { reason: "graph_error", message: expect.stringMatching(/^GraphRecursionError: Recursion limit of 5/) },
    },
  });
});

test("a graph that hangs does not keep its sender: the relay's deadline holds, and the node is told", async () => {
  const { promise: told, resolve: tell } = Promise.withResolvers<unknown>();
  await serving(
    writer((_, config) => {
      config.signal?.addEventListener("abort", () => tell(config.signal?.reason));
      return new Promise(() => {});
    }),
  );
  const handoff = await sender.send("write", { topic: "fsync" }, { timeout: "60s" });
  expect(await relay.until(handoff.outcome())).toMatchObject({ code: 408, state: "expired" });
  await relay.until(told);
});

test("a canceled handoff aborts the graph's run", async () => {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const { promise: told, resolve: tell } = Promise.withResolvers<void>();
  await serving(
    writer((_, config) => {
      config.signal?.addEventListener("abort", () => tell());
      reach();
      return new Promise(() => {});
    }),
  );
  const handoff = await sender.send("write", { topic: "fsync" });
  await relay.until(reached);
  await handoff.cancel("Not needed.");
  await relay.until(told);
  expect(await relay.until(handoff.outcome())).toMatchObject({ code: 410 });
});

test("output that does not fit is never passed on as if it did", async () => {
  await serving(
    writer(() => "text"),
    { output: { type: "object", required: ["pages"] } },
  );
  const unfit = await sender.send("write", { topic: "fsync" });
  expect(await relay.until(unfit.outcome())).toMatchObject({
    state: "failed",
    outcome: { error: { reason: "output_unfit" } },
  });
});

test("output that is no JSON is a failure that says where", async () => {
  const worker = await relay.connect("odd");
  await serveGraph(worker, "odd", writer(), { graphOutput: () => ({ at: new Map() }) }, { signals: false });
  const odd = await sender.send("odd", { topic: "fsync" });
  expect(await relay.until(odd.outcome())).toMatchObject({
    attempts: 1,
    outcome: { error: { reason: "output_not_json", message: expect.stringContaining("/at") } },
  });
});

test("what a graph asks a person is asked of the sender", async () => {
  const graph = new StateGraph(State)
    .addNode("ask", ({ topic }) => ({ text: `${topic} for ${interrupt({ question: "For whom?" })}` }))
    .addEdge(START, "ask")
    .addEdge("ask", END)
    .compile({ checkpointer: saver });
  await serving(graph as never);
  const handoff = await sender.send("write", { topic: "tea" });
  const questions = sender.questions()[Symbol.asyncIterator]();
  const { value: question } = await relay.until(questions.next());
  expect(question).toMatchObject({ question: { question: "For whom?" }, handoff: handoff.id });
  await sender.answer(question, "Ada");
  expect(await relay.until(handoff.result())).toBe("tea for Ada");
});

test("what a served graph hands off is a child of its handoff, and ends with it", async () => {
  const Outer = Annotation.Root({ topic: Annotation<string>, report: Annotation<Outcome> });
  const worker = await relay.connect("writer");
  const graph = addHandoff(new StateGraph(Outer), "research", {
    hf: worker,
    capability: "research",
    input: ({ topic }) => topic,
    output: "report",
    next: END,
  })
    .addEdge(START, "research")
    .compile({ checkpointer: saver });
  await serveGraph(worker, "write", graph, { graphOutput: "report" }, { signals: false, grace: 0 });
  relay.fake("research", async (topic) => {
    await relay.sleep("10s");
    return `about ${topic}`;
  });
  const handoff = await sender.send<Outcome>("write", { topic: "fsync" });
  const report = await relay.until(handoff.result());
  expect(report).toMatchObject({ status: "completed", output: "about fsync" });
  const child = await relay.handoff(report.handoff ?? "");
  expect(child).toMatchObject({ causation: { id: handoff.id }, correlation_id: handoff.correlation, labels: {} });
  expect(child.taken_at).not.toBeNull();
});
