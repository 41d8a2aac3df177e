/**
 * Where a thread stands with a handoff. LangGraph's own account of a thread cannot be trusted in two cases: it goes on
 * listing an interrupt that was answered while a sibling of its step still waits, and it lists none at all after a resume
 * that named nobody. So what counts is what it goes by itself, the writes that are kept beside a state: an interrupt waits
 * as long as its task has written nothing else.
 */

import type { BaseCheckpointSaver, CompiledGraph, Interrupt, StateSnapshot } from "@langchain/langgraph";
import { noSaver } from "./config.ts";
import type { Waiting } from "./handoff-step.ts";

/** What is used of a compiled graph, whatever its many types. */
export type AnyGraph = Pick<
  CompiledGraph<string>,
  "getState" | "invoke" | "checkpointer" | "interruptBefore" | "interruptAfter" | "outputChannels"
>;

export type ThreadState =
  /** There is no such thread here. */
  | { readonly kind: "unknown" }
  | { readonly kind: "waiting"; readonly interrupt: string; readonly handoff: string }
  /** Something is still to run, and waits for nobody: it runs somewhere, or was cut off. */
  | { readonly kind: "unfinished"; readonly at: number }
  /** It has ended, or waits for others only. */
  | { readonly kind: "settled" };

/** A task's writes that do not mean that it is done. */
const not_done: ReadonlySet<string> = new Set(["__error__", "__error_source_node__", "__interrupt__", "__resume__"]);

export function saverOf(graph: AnyGraph): BaseCheckpointSaver {
  const { checkpointer } = graph;
  if (typeof checkpointer === "object") return checkpointer;
  throw noSaver();
}

/** `handoffs`: the one whose outcome came, and those that it redrives. */
export async function lookAt(graph: AnyGraph, thread: string, handoffs: readonly string[]): Promise<ThreadState> {
  const saver = saverOf(graph);
  const root = await graph.getState({ configurable: { thread_id: thread } }, { subgraphs: true });
  if (root.createdAt === undefined) return { kind: "unknown" };
  const levels = await Promise.all([...levelsOf(root)].map((level) => openIn(saver, level)));
  for (const { id: interrupt, value } of levels.flatMap(({ interrupts }) => interrupts)) {
    const handoff = (value as Partial<Waiting> | null)?.handfast?.handoff;
    if (interrupt === undefined || handoff === undefined || !handoffs.includes(handoff)) continue;
    return { kind: "waiting", interrupt, handoff };
  }
  const is_unfinished = levels.some(
    ({ nodes, is_complete }) => is_complete || nodes.some((name) => !isBreakpoint(graph, name)),
  );
  return is_unfinished ? { kind: "unfinished", at: Date.parse(root.createdAt) } : { kind: "settled" };
}

/** The graph's own state, and those of graphs within it. */
function* levelsOf(snapshot: StateSnapshot): Generator<StateSnapshot> {
  yield snapshot;
  for (const { state } of snapshot.tasks) if (state !== undefined && "values" in state) yield* levelsOf(state);
}

interface Open {
  /** Those that wait. */
  readonly interrupts: readonly Interrupt[];
  /** Nodes that are to run and wait for nobody. */
  readonly nodes: readonly string[];
  /** All nodes of the step have run, and the next step was never begun: the run was cut off in between. */
  readonly is_complete: boolean;
}

async function openIn(saver: BaseCheckpointSaver, { config, tasks }: StateSnapshot): Promise<Open> {
  const { pendingWrites = [] } = (await saver.getTuple(config)) ?? {};
  const done = new Set(pendingWrites.filter(([, channel]) => !not_done.has(channel)).map(([task]) => task));
  const waiting = pendingWrites.filter(([task, channel]) => channel === "__interrupt__" && !done.has(task));
  const sleeping = new Set(waiting.map(([task]) => task));
  return {
    interrupts: waiting.flatMap(([, , interrupt]) => interrupt as Interrupt | Interrupt[]),
    nodes: tasks.filter(({ id }) => !done.has(id) && !sleeping.has(id)).map(({ name }) => name),
    is_complete: tasks.length > 0 && tasks.every(({ id }) => done.has(id)),
  };
}

/** The graph stops there by its own plan, for a person to look at: it is not for us to go on. */
function isBreakpoint({ interruptBefore = [], interruptAfter = [] }: AnyGraph, next: string): boolean {
  return interruptBefore === "*" || interruptBefore.includes(next) || interruptAfter.length > 0;
}
