/** A graph that has research done elsewhere and writes about it, with what its nodes did, for tests. */

import type { Client } from "@handfast/client";
import { Annotation, type BaseCheckpointSaver, END, START, StateGraph } from "@langchain/langgraph";
import { addHandoff, type HandoffNodeOptions, type Outcome } from "../mod.ts";

const State = Annotation.Root({ topic: Annotation<string>, report: Annotation<Outcome>, text: Annotation<string> });
type PlannerState = typeof State.State;

export interface PlannerSurroundings {
  readonly hf: Client;
  readonly saver: BaseCheckpointSaver;
  /** Told when a node runs. It may throw, or never come back. */
  readonly ran?: (node: "plan" | "note" | "write", state: PlannerState) => unknown;
  readonly options?: Partial<HandoffNodeOptions<PlannerState, Partial<PlannerState>>>;
}

/** START → plan → research → research_outcome → note → write → END. */
export function planner({ hf, saver, ran = () => {}, options = {} }: PlannerSurroundings) {
  const graph = new StateGraph(State)
    .addNode("plan", async (state) => {
      await ran("plan", state);
      return { topic: state.topic.trim() };
    })
    .addNode("note", async (state) => {
      await ran("note", state);
      return {};
    })
    .addNode("write", async (state) => {
      await ran("write", state);
      return { text: textOf(state.report) };
    });
  return addHandoff(graph, "research", {
    hf,
    capability: "research",
    input: ({ topic }) => ({ topic }),
    output: "report",
    timeout: "60s",
    ...options,
  })
    .addEdge(START, "plan")
    .addEdge("plan", "research")
    .addEdge("research_outcome", "note")
    .addEdge("note", "write")
    .addEdge("write", END)
    .compile({ checkpointer: saver });
}

function textOf(report: Outcome): string {
  return report.status === "completed" ? JSON.stringify(report.output) : `${report.code} ${report.error.reason}`;
}

/** A run of a thread, as the adapter wants it. */
export function onThread(thread_id: string) {
  return { configurable: { thread_id }, durability: "sync" as const };
}
