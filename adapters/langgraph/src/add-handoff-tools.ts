/**
 * Tools of which some hand work off, as a part of a graph. In a ToolNode interrupts of several tools share one identity,
 * and one gets the other's outcome: so here each call is a task of its own, sent to a node by a `Send`.
 */

import { sendOptionsOf, targetOf } from "@handfast/adapter-kit";
import { type Client, UsageError } from "@handfast/client";
import { type AIMessage, type BaseMessage, isAIMessage, type ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import type { StructuredToolInterface } from "@langchain/core/tools";
import * as langgraph from "@langchain/langgraph";
import * as prebuilt from "@langchain/langgraph/prebuilt";
import { type Sent, sendOnce, waitFor } from "./handoff-step.ts";
import { watchCompiled } from "./runs.ts";
import { factsOf, toolMessage } from "./tool.ts";

export interface HandoffToolsOptions {
  /** Those of `handoffTool`, and any others. */
  readonly tools: readonly StructuredToolInterface[];
  /** Where the graph goes on. Default: wherever edges from `<name>_outcome` lead. */
  readonly next?: string;
  /** As in `addHandoff`. */
  readonly graph?: string;
}

interface MessagesState {
  readonly messages: readonly BaseMessage[];
}

/** What a call's node hands to the outcome's: something to wait for, or messages that are there. */
type Called = { readonly call: ToolCall; readonly sent: Sent } | { readonly messages: readonly BaseMessage[] };

interface Builder {
  addNode(
    name: string,
    node: (state: never, config: langgraph.LangGraphRunnableConfig) => unknown,
    options?: object,
  ): unknown;
  addEdge(from: string, to: string): unknown;
}

/**
 * Adds three nodes: `<name>` looks at the last message of the model, `<name>_call` runs once for each call, and
 * `<name>_outcome` puts the answers into `messages`. Edges lead into the first and out of the last, which is reached when
 * every call has its answer.
 */
export function addHandoffTools<
  SD,
  S extends MessagesState,
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
  { tools, next, graph: graphName = "graph" }: HandoffToolsOptions,
): langgraph.StateGraph<SD, S, U, N | Name | `${Name}_call` | `${Name}_outcome`, I, O, C, R, T, W> {
  const builder = graph as unknown as Builder;
  watchCompiled(graph);
  const [call_node, outcome_node] = [`${name}_call`, `${name}_outcome`];
  const others = new prebuilt.ToolNode(tools.filter((tool) => factsOf(tool) === null));
  const handoffs = new Map(tools.flatMap((tool) => (factsOf(tool) === null ? [] : [[tool.name, factsOf(tool)]])));

  builder.addNode(
    name,
    (state: MessagesState) => {
      const sends = openCalls(state.messages).map((call) => {
        const rest = handoffs.has(call.name) ? {} : state;
        return new langgraph.Send(call_node, { ...rest, lg_tool_call: call });
      });
      return new langgraph.Command({ goto: sends });
    },
    { ends: [call_node] },
  );
  builder.addNode(
    call_node,
    async (state: { readonly lg_tool_call: ToolCall }, config: langgraph.LangGraphRunnableConfig) => {
      const { lg_tool_call: call } = state;
      const facts = handoffs.get(call.name);
      if (facts === undefined || facts === null) {
        return goTo(outcome_node, { messages: messagesOf(await others.invoke(state, config), call) });
      }
      const { hf, shape, options } = facts;
      const sending = {
        ...{ client: () => Promise.resolve(hf), graph: graphName, node: name },
        ...{ target: targetOf(options), options: sendOptionsOf(options) },
      };
      return goTo(outcome_node, { call, sent: await sendOnce(sending, shape.inputOf(call.args), config) });
    },
    { ends: [outcome_node] },
  );
  builder.addNode(outcome_node, async (called: Called, config: langgraph.LangGraphRunnableConfig) => {
    if ("messages" in called) return called;
    const { call, sent } = called;
    const outcome = await waitFor(sent, config, () => clientOf(handoffs.get(call.name)?.hf, call));
    return { messages: [toolMessage(outcome, call.name, call.id ?? "")] };
  });
  if (next !== undefined) builder.addEdge(outcome_node, next);
  return graph as never;
}

function goTo(node: string, called: Called): langgraph.Command {
  return new langgraph.Command({ goto: new langgraph.Send(node, called) });
}

/** A graph that was changed while a thread slept. */
async function clientOf(hf: Client | undefined, { name }: ToolCall): Promise<Client> {
  if (hf !== undefined) return hf;
  throw new UsageError(`The thread waits for the tool ${name}, which this graph no longer has.`, "Put it back.");
}

/** Calls of the last message of the model that have no answer yet. */
function openCalls(messages: readonly BaseMessage[]): readonly ToolCall[] {
  const last = messages.findLast((message): message is AIMessage => isAIMessage(message));
  const answered = new Set(
    messages.flatMap((message) => (message.getType() === "tool" ? [(message as ToolMessage).tool_call_id] : [])),
  );
  const calls = (last?.tool_calls ?? []).filter(({ id }) => id === undefined || !answered.has(id));
  if (calls.length > 0) return calls;
  throw new UsageError(
    "The last message of the model calls no tool.",
    "Lead here only if it does: toolsCondition of @langchain/langgraph/prebuilt tells.",
  );
}

function messagesOf(result: unknown, { name }: ToolCall): readonly BaseMessage[] {
  const messages = (result as Partial<MessagesState> | null)?.messages;
  if (Array.isArray(messages)) return messages;
  throw new UsageError(`The tool ${name} returns a command.`, "Beside tools that hand off, let tools return messages.");
}
