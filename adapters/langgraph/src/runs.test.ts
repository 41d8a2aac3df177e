/** Which threads run in this process, however they are run. */

import { Annotation, END, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { expect, test } from "vitest";
import { noRunOf, watchRuns } from "./runs.ts";
import { onThread } from "./testing/planner.ts";

const never = new AbortController().signal;

function slow(gate: Promise<void>, fails = false) {
  const graph = new StateGraph(Annotation.Root({ done: Annotation<boolean> }))
    .addNode("first", () => ({ done: false }))
    .addNode("second", async () => {
      await gate;
      if (fails) throw new Error("broken");
      return { done: true };
    })
    .addEdge(START, "first")
    .addEdge("first", "second")
    .addEdge("second", END)
    .compile({ checkpointer: new MemorySaver() });
  watchRuns(graph);
  watchRuns(graph);
  return graph;
}

async function isOver(thread: string): Promise<boolean> {
  return Promise.race([noRunOf(thread, never).then(() => true), new Promise<boolean>((no) => setImmediate(no, false))]);
}

test("a run is under way until it has ended or failed, and only for its own thread", async () => {
  for (const fails of [false, true]) {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const graph = slow(gate, fails);
    const runs = Promise.allSettled([graph.invoke({}, onThread("a")), graph.invoke({}, onThread("a"))]);
    expect([await isOver("a"), await isOver("b")]).toEqual([false, true]);
    const over = noRunOf("a", never);
    open();
    await over;
    expect((await runs).map(({ status }) => status)).toEqual(
      fails ? ["rejected", "rejected"] : ["fulfilled", "fulfilled"],
    );
    expect(await isOver("a")).toBe(true);
  }
});

test("a stream that is left is over", async () => {
  const graph = slow(Promise.resolve());
  for await (const _ of await graph.stream({}, { ...onThread("left"), streamMode: "values" })) break;
  await noRunOf("left", never);
});

test("whoever waits can be called off", async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const run = slow(gate).invoke({}, onThread("c"));
  const controller = new AbortController();
  const waiting = noRunOf("c", controller.signal);
  controller.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  open();
  await run;
});
