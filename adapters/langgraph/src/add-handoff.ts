/** A handoff as a part of a graph. */

import type { Outcome } from "@handfast/adapter-kit";
import { type SendOptions, UsageError } from "@handfast/client";
import * as langgraph from "@langchain/langgraph";
import { type ClientSource, clientFrom } from "./config.ts";
import { type Sending, type Sent, sendOnce, waitFor } from "./handoff-step.ts";
import { watchCompiled } from "./runs.ts";

export interface HandoffNodeOptions<State, Update> extends Omit<SendOptions, "signal" | "text" | "idempotencyKey"> {
  /** What is to be done. */
  readonly capability?: string;
  /** By a certain agent. Default: whoever offers the capability. */
  readonly to?: string;
  /** The handoff's input, out of the graph's state. */
  readonly input: (state: State) => unknown;
  /** The key of the state that gets the outcome, or how the state changes by it. */
  readonly output: (keyof State & string) | ((outcome: Outcome) => Update);
  /** Where the graph goes on. Default: wherever edges from `<name>_outcome` lead. */
  readonly next?: string;
  /** Default: one for all graphs, by `connect()` and the environment. */
  readonly hf?: ClientSource;
  /** Which graph this is, as `resumeOutcomes` names it too, where an agent has several. Default: "graph". */
  readonly graph?: string;
}

/** What is needed of a builder here, whatever its many types. */
interface Builder {
  /** By the keys of the state. */
  readonly channels: Readonly<Record<string, unknown>>;
  addNode(
    name: string,
    node: (state: never, config: langgraph.LangGraphRunnableConfig) => unknown,
    options?: object,
  ): unknown;
  addEdge(from: string, to: string): unknown;
}

/**
 * Adds two nodes: `<name>` sends, `<name>_outcome` waits and puts the outcome into the state, however it ended. Edges lead
 * into the first and out of the second.
 */
export function addHandoff<
  SD,
  S,
  U,
  N extends string,
  I extends langgraph.StateDefinitionInit,
  O extends langgraph.StateDefinitionInit,
  C extends langgraph.StateDefinitionInit,
  R,
  T,
  W,
  const Name extends string,
>(
  graph: langgraph.StateGraph<SD, S, U, N, I, O, C, R, T, W>,
  name: Name,
  options: HandoffNodeOptions<S, U>,
): langgraph.StateGraph<SD, S, U, N | Name | `${Name}_outcome`, I, O, C, R, T, W> {
  const builder = graph as unknown as Builder;
  watchCompiled(graph);
  const { capability, to, input, output, next, hf, graph: graphName = "graph", ...send } = options;
  if (capability === undefined && to === undefined) {
    throw new UsageError(`The handoff ${name} has no target.`, "Give the option capability, or to, or both.");
  }
  if (typeof output === "string") checkKey(graph as unknown as Builder, name, output);
  const client = clientFrom(hf);
  const target = { ...(capability === undefined ? {} : { capability }), ...(to === undefined ? {} : { to }) };
  const sending: Sending = { client, graph: graphName, node: name, target, options: send };
  const outcome_node = `${name}_outcome`;
  builder.addNode(
    name,
    async (state: S, config: langgraph.LangGraphRunnableConfig) => {
      const sent = await sendOnce(sending, input(state), config);
      return new langgraph.Command({ goto: new langgraph.Send(outcome_node, sent) });
    },
    { ends: [outcome_node] },
  );
  builder.addNode(outcome_node, async (sent: Sent, config: langgraph.LangGraphRunnableConfig) => {
    const outcome = await waitFor(sent, config, client);
    return typeof output === "function" ? output(outcome) : { [output]: outcome };
  });
  if (next !== undefined) builder.addEdge(outcome_node, next);
  return graph as never;
}

/** LangGraph drops what a node writes to a key that no state has, in silence: the outcome would be lost. */
function checkKey({ channels }: Builder, name: string, key: string): void {
  // A state that is one value has no keys.
  if (Object.hasOwn(channels, key) || Object.hasOwn(channels, "__root__")) return;
  const known = Object.keys(channels).sort().join(", ") || "none";
  throw new UsageError(
    `The outcome of ${name} was to go to ${JSON.stringify(key)}, and the graph's state has no such key.`,
    `It has ${known}: add ${JSON.stringify(key)} to the state, or give another key as output. A key that only the input of a later node has is known once that node was added.`,
  );
}
