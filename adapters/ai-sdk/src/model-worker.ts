/**
 * A model, with its tools, as a worker. What it said and what its tools answered is kept after every step, so that a
 * redelivery goes on from there; tools that hand work on do it in the name of the handoff.
 */

import { inScope, Keys } from "@handfast/adapter-kit";
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
import * as ai from "ai";

type GenerateOptions = Parameters<typeof ai.generateText>[0];
type Generated = Awaited<ReturnType<typeof ai.generateText>>;

/** Everything that `generateText` takes, except what the handoff decides. */
export type ModelWorkerOptions = Omit<
  GenerateOptions,
  "prompt" | "messages" | "abortSignal" | "onStepEnd" | "onStepFinish"
> & {
  /** What the model is told. Default: the input, as JSON where it is no text. */
  readonly prompt?: (input: unknown, ctx: Context) => string | readonly ai.ModelMessage[];
  /** The output. Default: what `output` parsed, else the text. */
  readonly result?: (result: Generated) => unknown;
};

/** As a capability is defined in `serve()`; `input` and `output` there are schemas. */
export interface ServeModelOptions extends Omit<CapabilityDefinition, "handler" | "input" | "output" | "text"> {
  readonly input?: object;
  readonly output?: object;
}

const most_steps = 20;

/** A handler for `hf.serve()`. */
export function modelWorker(options: ModelWorkerOptions): Handler {
  return async (input: unknown, ctx: Context) => {
    try {
      const { said, counts } = keptIn(ctx.previous.checkpoint);
      const { id: run } = ctx.handoff;
      const keys = new Keys(run, counts);
      return await inScope({ run, sender: ctx, keys }, () => work(options, input, ctx, said, keys));
    } catch (error) {
      throw ctx.signal.aborted ? ctx.signal.reason : verdictOf(error);
    }
  };
}

/** Serves one capability by a model. */
export function serveModel(
  hf: Client,
  capability: string,
  model: ModelWorkerOptions,
  definition: ServeModelOptions = {},
  options?: ServeOptions,
): Promise<Server> {
  return hf.serve({ [capability]: { ...definition, handler: modelWorker(model) } }, options);
}

async function work(
  options: ModelWorkerOptions,
  input: unknown,
  ctx: Context,
  said: Kept["said"],
  keys: Keys,
): Promise<unknown> {
  const { prompt = asPrompt, result: resultOf, ...settings } = options;
  const told = await prompt(input, ctx);
  const asked: readonly ai.ModelMessage[] = typeof told === "string" ? [{ role: "user", content: told }] : told;
  const result = await ai.generateText({
    stopWhen: ai.isStepCount(most_steps),
    ...(settings as object),
    messages: [...asked, ...said],
    abortSignal: ctx.signal,
    onStepEnd: async ({ response, usage, finishReason }: ai.StepResult<ai.ToolSet>) => {
      ctx.use({ tokens: usage.totalTokens ?? 0 });
      // The last word is cheap to say again, and parsed anew; what came before it may have cost much. A step that was
      // stopped has tools in it that were cut off: they are no results.
      if (finishReason !== "tool-calls" || ctx.signal.aborted) return;
      await keep(ctx, { said: [...said, ...response.messages], counts: keys.counts });
    },
  } as unknown as GenerateOptions);
  checkEnd(result);
  if (resultOf !== undefined) return resultOf(result);
  return settings.output === undefined ? result.text : result.output;
}

function asPrompt(input: unknown): string {
  return typeof input === "string" ? input : JSON.stringify(input);
}

interface Kept {
  readonly said: readonly ai.ModelMessage[];
  readonly counts: Keys["counts"];
}

const ours = "ai-sdk";

/** What an earlier attempt kept: also one of another framework, which is of no use here. */
function keptIn(checkpoint: unknown): Kept {
  return (checkpoint as { readonly [ours]?: Kept } | null)?.[ours] ?? { said: [], counts: {} };
}

/** What is too large to be kept is said again in the next attempt: that is no reason to fail in this one. */
async function keep(ctx: Context, kept: Kept): Promise<void> {
  await ctx.checkpoint({ [ours]: kept }).catch(() => {});
}

/** Text that ends otherwise than by the model's own will is no result. */
function checkEnd({ finishReason }: Generated): void {
  if (finishReason === "stop" || finishReason === "other") return;
  const message = `The model ended with ${finishReason}, not with an answer.`;
  if (finishReason === "error" || finishReason === "interrupted") throw new Retry(message);
  throw new Fail(message, { reason: `model_${finishReason.replaceAll("-", "_")}` });
}

/** The class and the message, never a request's headers or body. */
function verdictOf(error: unknown): unknown {
  if (error instanceof HandfastError || [Fail, Retry, Reject].some((kind) => error instanceof kind)) return error;
  if (!(error instanceof Error)) return new Retry(`The model's run threw ${typeof error}.`, { cause: error });
  const cause = ai.RetryError.isInstance(error) && error.lastError instanceof Error ? error.lastError : error;
  const message = `${cause.name}: ${cause.message.split("\n", 1)[0]}`;
  if (isFinal(cause)) return new Fail(message, { reason: "model_error", cause });
  return new Retry(message, { cause });
}

function isFinal(error: Error): boolean {
  if (ai.APICallError.isInstance(error)) return !error.isRetryable;
  return [ai.InvalidPromptError, ai.LoadAPIKeyError, ai.NoSuchModelError, ai.UnsupportedFunctionalityError].some(
    (kind) => kind.isInstance(error),
  );
}
