/**
 * A compiled graph as a worker. The thread is the handoff: a redelivery finds its state and goes on where the earlier
 * attempt stopped. What the graph asks a person by an interrupt is asked back to the sender.
 */

import {
  type CapabilityDefinition,
  type Client,
  type Context,
  Fail,
  HandfastError,
  type Handler,
  Reject,
  Retry,
  type ServeOptions,
  type Server,
  UsageError,
} from "@handfast/client";
import * as langgraph from "@langchain/langgraph";
import { context_key, contextOf } from "./config.ts";
import { HandedOn } from "./handed-on.ts";
import type { Waiting } from "./handoff-step.ts";
import { questionId } from "./question-id.ts";
import { type AnyGraph, lookAt } from "./thread-state.ts";

export interface GraphHandlerOptions {
  /** The graph's input, out of the handoff's. Default: the same. */
  readonly graphInput?: (input: unknown, ctx: Context) => unknown;
  /** The handoff's output, out of the graph's values: one of them by its key, or a function. Default: all of them. */
  readonly graphOutput?: string | ((values: Record<string, unknown>) => unknown);
  /** What it is run with besides: `configurable`, `context`, `recursionLimit`. */
  readonly config?: langgraph.LangGraphRunnableConfig;
}

/** A capability as in `serve()`, by its schemas, timeout and description, and how the graph is run for it. */
export interface ServeGraphOptions
  extends Omit<CapabilityDefinition, "handler" | "input" | "output" | "text">,
    GraphHandlerOptions {
  readonly input?: object;
  readonly output?: object;
}

/** The handoff that a served graph works on, for its nodes: `handoffOf(config)?.progress(0.5)`. Null: not served. */
export const handoffOf = contextOf;

/** A handler for `hf.serve()`. */
export function graphWorker(hf: Client, graph: AnyGraph, options: GraphHandlerOptions = {}): Handler {
  if (!keeps(graph) && [graph.interruptBefore ?? [], graph.interruptAfter ?? []].some(({ length }) => length > 0)) {
    throw new UsageError(
      "The graph has breakpoints and no checkpointer: where it stopped, nobody could go on.",
      "Compile it without interruptBefore and interruptAfter; ask the sender by interrupt() in a node.",
    );
  }
  return async (input: unknown, ctx: Context) => {
    const handed_on = new HandedOn(hf, ctx);
    try {
      return select(await run(handed_on, graph, options, input, ctx), options.graphOutput);
    } catch (error) {
      // The state tells what the graph has used; should that be away as well, its own error counts.
      await takeKept(handed_on, graph, ctx.handoff.id).catch(() => {});
      throw ctx.signal.aborted ? ctx.signal.reason : verdictOf(error);
    }
  };
}

/** Serves one capability by a graph. */
export function serveGraph(
  hf: Client,
  capability: string,
  graph: AnyGraph,
  settings: ServeGraphOptions = {},
  options?: ServeOptions,
): Promise<Server> {
  const { graphInput: _input, graphOutput: _output, config: _config, ...definition } = settings;
  return hf.serve({ [capability]: { ...definition, handler: graphWorker(hf, graph, settings) } }, options);
}

type Values = Record<string, unknown> & { readonly __interrupt__?: readonly langgraph.Interrupt[] };

async function run(
  handed_on: HandedOn,
  graph: AnyGraph,
  { graphInput = (input) => input, config: given = {} }: GraphHandlerOptions,
  input: unknown,
  ctx: Context,
): Promise<Values> {
  const configurable = { ...given.configurable, thread_id: ctx.handoff.id, [context_key]: ctx };
  const config = { ...given, configurable, signal: ctx.signal, ...({ durability: "sync" } as object) };
  const invoke = async (what: unknown) => ((await graph.invoke(what as never, config)) ?? {}) as Values;
  // Without a checkpointer there is nothing to go on from.
  const before = keeps(graph) ? await graph.getState(config) : null;
  const is_known = before?.createdAt !== undefined;
  // It had ended, and only its outcome was lost. (`next` is empty, too, where a step was done and the run cut off.)
  if (is_known && before?.tasks.length === 0) {
    await handed_on.takeRest();
    return outputIn(graph, before);
  }
  if (is_known && before !== null) await checkBreakpoints(graph, before);
  let values = await invoke(is_known ? null : await graphInput(input, ctx));
  for (let asked = interruptsIn(values); asked.length > 0; asked = interruptsIn(values)) {
    const answers = await Promise.all(asked.map((each) => answerTo(handed_on, each, ctx)));
    values = await invoke(new langgraph.Command({ resume: Object.fromEntries(answers) }));
    await handed_on.takeUsed(interruptsIn(values).flatMap((each) => handoffIn(each) ?? []));
  }
  const after = keeps(graph) ? await graph.getState(config) : null;
  // A run that stops at a breakpoint comes back as one that has ended does.
  if (after !== null && after.tasks.length > 0) throw paused(after);
  if (is_known) await handed_on.takeRest();
  return values;
}

/** Of a graph that threw. */
async function takeKept(handed_on: HandedOn, graph: AnyGraph, thread: string): Promise<void> {
  const { given } = handed_on;
  const states = await Promise.all(given.map((handoff) => lookAt(graph, thread, [handoff])));
  await handed_on.takeUsed(given.filter((_, index) => states[index]?.kind === "waiting"));
}

function keeps({ checkpointer }: AnyGraph): boolean {
  return typeof checkpointer === "object";
}

/** What a run returns of a state. */
function outputIn({ outputChannels: keys }: AnyGraph, { values }: langgraph.StateSnapshot): Values {
  if (!Array.isArray(keys)) return values;
  return Object.fromEntries(Object.entries(values as Values).filter(([key]) => keys.some((each) => each === key)));
}

/** An earlier attempt may have stopped at one, and died before it could say so: run again, the graph would go past it. */
async function checkBreakpoints(graph: AnyGraph, before: langgraph.StateSnapshot): Promise<void> {
  const { interruptBefore = [], interruptAfter = [] } = graph;
  const earlier = before.parentConfig === undefined ? null : await graph.getState(before.parentConfig);
  if (isOneOf(before, interruptBefore) || (earlier !== null && isOneOf(earlier, interruptAfter))) throw paused(before);
}

/** Whether one of the nodes that the state is followed by is one of these. */
function isOneOf({ tasks }: langgraph.StateSnapshot, nodes: "*" | readonly string[]): boolean {
  return tasks.some(({ name }) => (nodes === "*" ? name !== langgraph.START : nodes.includes(name)));
}

function paused({ tasks }: langgraph.StateSnapshot): Fail {
  const nodes = tasks.map(({ name }) => name).join(", ");
  const message = `The graph stopped at its own breakpoint, before ${nodes}, for a person to look.`;
  return new Fail(message, { reason: "graph_paused" });
}

function interruptsIn({ __interrupt__: interrupts = [] }: Values): readonly langgraph.Interrupt[] {
  return [...new Map(interrupts.map((each) => [each.id, each])).values()];
}

async function answerTo(
  handed_on: HandedOn,
  asked: langgraph.Interrupt,
  ctx: Context,
): Promise<readonly [string, unknown]> {
  const { id = "", value } = asked;
  const handoff = handoffIn(asked);
  if (handoff === undefined) return [id, await ctx.ask(value, { id: questionId(id, value) })];
  const outcome = await handed_on.outcome(handoff);
  return [id, { handfast: { handoff, outcome } } satisfies Waiting];
}

/** Whose outcome is waited for; undefined: it asks something else. */
function handoffIn({ value }: langgraph.Interrupt): string | undefined {
  return (value as Partial<Waiting> | null)?.handfast?.handoff;
}

function select(values: Values, output: GraphHandlerOptions["graphOutput"]): unknown {
  const { __interrupt__: _none, ...plain } = values;
  if (output === undefined) return plain;
  return typeof output === "function" ? output(plain) : plain[output];
}

/** Errors of a graph that is wrong in itself: another attempt would run into the same. */
const of_the_graph: ReadonlySet<string> = new Set([
  "GraphRecursionError",
  "InvalidUpdateError",
  "GraphValueError",
  "StateGraphInputError",
  "EmptyInputError",
]);

/** The class and the message, nothing of the stack. What a node threw for us goes as it is. */
function verdictOf(error: unknown): unknown {
  if (error instanceof HandfastError || [Fail, Retry, Reject].some((kind) => error instanceof kind)) return error;
  if (!(error instanceof Error)) return new Retry(`The graph threw ${typeof error}.`, { cause: error });
  const message = `${error.name}: ${error.message.split("\n", 1)[0]}`;
  return of_the_graph.has(error.name)
    ? new Fail(message, { reason: "graph_error", cause: error })
    : new Retry(message, { cause: error });
}
