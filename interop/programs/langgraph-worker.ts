/** A worker whose work is done by a LangGraph graph; what it asks, it asks by LangGraph's own interrupt. */

import { handoffOf, serveGraph } from "@handfast/langgraph";
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { sqliteSaver } from "../../adapters/langgraph/src/testing/sqlite-saver.ts";
import { input_schema, output_schema, type TaskInput, type TaskOutput } from "../protocol.ts";
import { setting } from "./lines.ts";
import { doTask } from "./task.ts";
import { runWorker } from "./worker.ts";

const name = setting("INTEROP_NAME");

const State = Annotation.Root({
  text: Annotation<string>,
  mode: Annotation<TaskInput["mode"]>,
  hold: Annotation<string | undefined>,
  answer: Annotation<string | undefined>,
  output: Annotation<TaskOutput>,
});

const graph = new StateGraph(State)
  .addNode("ask", ({ mode }) => (mode === "ask" ? { answer: interrupt<object, string>({ word: "which?" }) } : {}))
  .addNode("work", async ({ text, mode, hold, answer }, config) => {
    const ctx = handoffOf(config);
    if (ctx === null) throw new Error("there is no handoff here");
    const held = mode === "hold" && hold !== undefined ? { mode, hold } : {};
    const output = await doTask({ text, ...held }, name, ctx);
    return { output: answer === undefined ? output : { ...output, answer } };
  })
  .addEdge(START, "ask")
  .addEdge("ask", "work")
  .addEdge("work", END)
  .compile({ checkpointer: sqliteSaver("threads.db") });

await runWorker((hf, capability) => {
  const definition = { input: input_schema, output: output_schema, graphOutput: "output" };
  return serveGraph(hf, capability, graph, definition, { concurrency: 12, signals: false });
});
