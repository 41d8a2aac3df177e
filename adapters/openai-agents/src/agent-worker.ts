/**
 * An agent of the OpenAI Agents SDK as a worker. Its state is kept after every answer of a tool, so that a redelivery goes
 * on from there; tools that hand work on do it in the name of the handoff; what needs an approval is asked back.
 */

import { inScope } from "@handfast/adapter-kit";
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
} from "@handfast/client";
import * as agents from "@openai/agents";
import { type AnyAgent, type AnyState, keysOf } from "./state.ts";
import { factsOf } from "./tool.ts";

type Streamed = agents.StreamedRunResult<unknown, AnyAgent>;

export interface AgentWorkerOptions {
  /** What the agent is told. Default: the input, as JSON where it is no text. */
  readonly prompt?: (input: unknown, ctx: Context) => string | agents.AgentInputItem[];
  /** The output. Default: the agent's final output. */
  readonly result?: (finalOutput: unknown) => unknown;
  /** What `run()` is given besides: `context`, `maxTurns`. */
  readonly options?: Omit<agents.StreamRunOptions<unknown>, "stream" | "signal">;
}

/** As a capability is defined in `serve()`; `input` and `output` there are schemas. */
export interface ServeAgentOptions extends Omit<CapabilityDefinition, "handler" | "input" | "output" | "text"> {
  readonly input?: object;
  readonly output?: object;
}

/** A handler for `hf.serve()`. */
export function agentWorker(agent: AnyAgent, options: AgentWorkerOptions = {}): Handler {
  return async (input: unknown, ctx: Context) => {
    try {
      const state = await keptIn(ctx.previous.checkpoint, agent);
      const { id: run } = ctx.handoff;
      return await inScope({ run, sender: ctx, keys: keysOf(run, state) }, () =>
        work(agent, options, input, ctx, state),
      );
    } catch (error) {
      throw ctx.signal.aborted ? ctx.signal.reason : verdictOf(error);
    }
  };
}

/** Serves one capability by an agent. */
export function serveAgent(
  hf: Client,
  capability: string,
  agent: AnyAgent,
  { prompt, result, options: run, ...definition }: ServeAgentOptions & AgentWorkerOptions = {},
  options?: ServeOptions,
): Promise<Server> {
  const handling = {
    ...(prompt === undefined ? {} : { prompt }),
    ...(result === undefined ? {} : { result }),
    ...(run === undefined ? {} : { options: run }),
  };
  return hf.serve({ [capability]: { ...definition, handler: agentWorker(agent, handling) } }, options);
}

async function work(
  agent: AnyAgent,
  options: AgentWorkerOptions,
  input: unknown,
  ctx: Context,
  state: AnyState | null,
): Promise<unknown> {
  const { prompt = asPrompt, result = (finalOutput) => finalOutput, options: given = {} } = options;
  let start: string | agents.AgentInputItem[] | AnyState = state ?? prompt(input, ctx);
  for (;;) {
    const streamed = (await agents.run(agent, start as never, {
      ...given,
      stream: true,
      signal: ctx.signal,
    })) as Streamed;
    for await (const event of streamed) await hear(event, streamed, ctx);
    await streamed.completed;
    // A stream that is aborted ends like any other, without an output.
    ctx.signal.throwIfAborted();
    if (streamed.error !== null && streamed.error !== undefined) throw streamed.error;
    if (streamed.interruptions.length === 0) return result(streamed.finalOutput);
    await keep(ctx, streamed.state);
    for (const item of streamed.interruptions) await decide(item, streamed.state, agent, ctx);
    start = streamed.state;
  }
}

function asPrompt(input: unknown): string {
  return typeof input === "string" ? input : JSON.stringify(input);
}

async function hear(event: agents.RunStreamEvent, { state }: Streamed, ctx: Context): Promise<void> {
  if (event.type === "run_item_stream_event" && event.name === "tool_output") await keep(ctx, state);
  if (event.type === "raw_model_stream_event" && event.data.type === "output_text_delta")
    await ctx.write(event.data.delta);
}

const ours = "openai-agents";

/** What an earlier attempt kept: also one of another framework, which is of no use here. */
async function keptIn(checkpoint: unknown, agent: AnyAgent): Promise<AnyState | null> {
  const kept = (checkpoint as { readonly [ours]?: { readonly state: string } } | null)?.[ours];
  return kept === undefined ? null : ((await agents.RunState.fromString(agent, kept.state)) as AnyState);
}

/** What is too large to be kept is done again in the next attempt: that is no reason to fail in this one. */
async function keep(ctx: Context, state: AnyState): Promise<void> {
  // The answer of a tool that was cut off is none.
  if (ctx.signal.aborted) return;
  await ctx.checkpoint({ [ours]: { state: state.toString() } }).catch(() => {});
}

/** A tool that hands off is approved here, and waits in place. Anything else is asked of the sender. */
async function decide(item: agents.RunToolApprovalItem, state: AnyState, agent: AnyAgent, ctx: Context): Promise<void> {
  const { rawItem } = item;
  const name = item.name ?? "";
  const tool = (item.agent ?? agent).tools.find((each) => each.name === name);
  if (tool !== undefined && factsOf(tool) !== null) return state.approve(item);
  const question = { approve: name, arguments: "arguments" in rawItem ? rawItem.arguments : null };
  const id = `approve-${("callId" in rawItem ? rawItem.callId : name).replaceAll(/[^A-Za-z0-9._-]/g, "_").slice(0, 100)}`;
  const approved = await ctx.ask(question, { id, schema: { type: "boolean" } });
  if (approved === true) state.approve(item);
  else state.reject(item);
}

/** Errors that another attempt would run into again. */
const final: ReadonlySet<string> = new Set([
  "MaxTurnsExceededError",
  "UserError",
  "ModelRefusalError",
  "InputGuardrailTripwireTriggered",
  "OutputGuardrailTripwireTriggered",
]);

/** The class and the message, nothing of the state or the stack. */
function verdictOf(error: unknown): unknown {
  if (error instanceof HandfastError || [Fail, Retry, Reject].some((kind) => error instanceof kind)) return error;
  if (!(error instanceof Error)) return new Retry(`The agent's run threw ${typeof error}.`, { cause: error });
  const kind = error.constructor.name;
  const message = `${kind}: ${error.message.split("\n", 1)[0]}`;
  return final.has(kind)
    ? new Fail(message, { reason: "agent_error", cause: error })
    : new Retry(message, { cause: error });
}
