/** Wakes threads by the outcomes of what they handed off, each exactly once, also after the process was killed. */

import { type WakeCall, type WakeOptions, type Waker, wakeByOutcomes } from "@handfast/adapter-kit";
import { type Client, HandfastError } from "@handfast/client";
import * as langgraph from "@langchain/langgraph";
import { labels, type Waiting } from "./handoff-step.ts";
import { noRunOf, watchRuns } from "./runs.ts";
import { type AnyGraph, lookAt, saverOf, type ThreadState } from "./thread-state.ts";

export interface ResumeOptions extends WakeOptions {
  /** As the graph is named in `addHandoff`. Default: "graph". */
  readonly graph?: string;
  /** What a thread is run with besides its id: `configurable`, `context`, `recursionLimit`. */
  readonly config?: langgraph.LangGraphRunnableConfig | ((thread: string) => langgraph.LangGraphRunnableConfig);
  /**
   * With `lock`, when other processes run threads too: how long one that neither waits nor has ended is taken to run in one
   * of them, counted from its newest state. Milliseconds. Default: 5 minutes. Without `lock` it is taken to be cut off.
   */
  readonly patience?: number;
}

/**
 * `onWoken` is told how: `resumed`; `continued`, where the thread was cut off before or after it waited; `not_waiting`,
 * where it had the outcome already or does not want it any more.
 */
export function resumeOutcomes(hf: Client, graph: AnyGraph, options: ResumeOptions = {}): Waker {
  const { graph: name = "graph", config = {}, patience = 300_000, ...wake } = options;
  saverOf(graph);
  watchRuns(graph);
  const resumer = new Resumer(graph, config, wake.lock === undefined ? 0 : patience);
  const sleepers = {
    keyOf: ({ labels: marks }: WakeCall["view"]) => {
      const thread = marks[labels.thread];
      return marks[labels.graph] === name && thread !== undefined ? `langgraph/${name}/${thread}` : null;
    },
    wake: (call: WakeCall) => resumer.wake(call),
  };
  return wakeByOutcomes(hf, sleepers, wake);
}

const look_again_ms = 1_000;

class Resumer {
  readonly #graph: AnyGraph;
  readonly #config: NonNullable<ResumeOptions["config"]>;
  readonly #patience_ms: number;

  constructor(graph: AnyGraph, config: NonNullable<ResumeOptions["config"]>, patience_ms: number) {
    this.#graph = graph;
    this.#config = config;
    this.#patience_ms = patience_ms;
  }

  async wake({ view, outcome, handoffs, signal }: WakeCall): Promise<string> {
    const thread = view.labels[labels.thread] ?? "";
    const config = this.#configOf(thread, signal);
    const look = async () => {
      await noRunOf(thread, signal);
      return lookAt(this.#graph, thread, handoffs);
    };
    let state = await look();
    while (state.kind === "unfinished" && this.#mayRunElsewhere(state)) {
      await new Promise((resolve) => setTimeout(resolve, look_again_ms));
      state = await look();
    }
    const was_cut_off = state.kind === "unfinished";
    if (was_cut_off) {
      // Sends again what was not kept as sent, under the same key, and goes on from there.
      await this.#graph.invoke(null, config);
      state = await look();
    }
    if (state.kind === "unknown") throw unknownThread(thread, view.id);
    if (state.kind !== "waiting") return was_cut_off ? "continued" : "not_waiting";
    const waiting: Waiting = { handfast: { handoff: state.handoff, outcome } };
    await this.#graph.invoke(new langgraph.Command({ resume: { [state.interrupt]: waiting } }), config);
    // LangGraph ignores a resume that does not fit, without a word.
    if ((await look()).kind === "waiting") throw notHeard(thread, view.id);
    return "resumed";
  }

  #configOf(thread: string, signal: AbortSignal): langgraph.LangGraphRunnableConfig {
    const given = typeof this.#config === "function" ? this.#config(thread) : this.#config;
    const configurable = { ...given.configurable, thread_id: thread };
    return { ...given, configurable, signal, ...({ durability: "sync" } as object) };
  }

  #mayRunElsewhere({ at }: Extract<ThreadState, { kind: "unfinished" }>): boolean {
    return Date.now() - at < this.#patience_ms;
  }
}

function unknownThread(thread: string, handoff: string): HandfastError {
  return new HandfastError(
    `The outcome of ${handoff} is for the thread ${thread}, which this checkpointer does not have.`,
    {
      reason: "unknown_thread",
      remedy: "Resume with the checkpointer that the thread was run with. If it was deleted, take the outcome by hand.",
      retryable: false,
      anchor: "usage",
    },
  );
}

function notHeard(thread: string, handoff: string): HandfastError {
  return new HandfastError(`The thread ${thread} was resumed with the outcome of ${handoff} and still waits for it.`, {
    reason: "not_heard",
    remedy: "Look at the thread's state: something else runs it at the same time.",
    retryable: true,
    anchor: "usage",
  });
}
