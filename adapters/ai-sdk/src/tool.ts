/** A capability as a tool for models: its description and arguments are those of the manifest. */

import {
  errorText,
  type HandoffToolOptions,
  handOff,
  type Outcome,
  outcomeText,
  sendOptionsOf,
  type ToolShape,
  targetOf,
  toolShapeOf,
} from "@handfast/adapter-kit";
import type { Client } from "@handfast/client";
import * as ai from "ai";

type ResultOutput = Awaited<ReturnType<NonNullable<ai.Tool<unknown, Outcome>["toModelOutput"]>>>;

/** What makes a handoff out of a call of a pausing tool. */
interface PausingFacts {
  readonly shape: ToolShape;
  readonly options: HandoffToolOptions;
}

const pausing = new WeakMap<object, PausingFacts>();

/** How a tool of `pausingHandoffTool` was made; null: another one. */
export function factsOf(tool: object | undefined): PausingFacts | null {
  return tool === undefined ? null : (pausing.get(tool) ?? null);
}

/**
 * Waits in place for the outcome, which is the tool's result however it ended. An aborted generation calls the handoff off.
 */
export async function handoffTool(hf: Client, options: HandoffToolOptions): Promise<ai.Tool<unknown, Outcome>> {
  return makeTool(hf, options, await toolShapeOf(hf, options));
}

/** Several at once, by their names: `tools: await handoffTools(hf, { capability: "web_research" })`. */
export async function handoffTools(
  hf: Client,
  ...each: readonly HandoffToolOptions[]
): Promise<Record<string, ai.Tool<unknown, Outcome>>> {
  const shapes = await Promise.all(each.map(async (options) => ({ options, shape: await toolShapeOf(hf, options) })));
  return Object.fromEntries(shapes.map(({ options, shape }) => [shape.name, makeTool(hf, options, shape)]));
}

/**
 * Is not run: a generation ends with its calls open. `handOffPending` then hands them off, and `resumeConversations` goes
 * on when the outcomes are there, in this process or a later one.
 */
export async function pausingHandoffTool(hf: Client, options: HandoffToolOptions): Promise<ai.Tool<unknown, Outcome>> {
  const shape = await toolShapeOf(hf, options);
  const made = ai.tool({
    description: shape.description,
    inputSchema: ai.jsonSchema<unknown>(shape.schema as never),
    outputSchema: ai.jsonSchema<Outcome>({ type: "object" }),
    toModelOutput: ({ output }) => modelOutput(output),
  });
  pausing.set(made, { shape, options });
  return made;
}

function makeTool(hf: Client, options: HandoffToolOptions, shape: ToolShape): ai.Tool<unknown, Outcome> {
  return ai.tool({
    description: shape.description,
    inputSchema: ai.jsonSchema<unknown>(shape.schema as never),
    execute: (args: unknown, { toolCallId, abortSignal }) => {
      const request = {
        target: targetOf(options),
        input: shape.inputOf(args),
        options: sendOptionsOf(options),
        call: toolCallId,
        signal: abortSignal,
      };
      return handOff(hf, request).catch((error: unknown) => {
        // The SDK tells the model no more of an error than its message.
        throw abortSignal?.aborted === true ? error : new Error(errorText(error), { cause: error });
      });
    },
    toModelOutput: ({ output }) => modelOutput(output),
  });
}

/** What the model sees of an outcome. */
export function modelOutput(outcome: Outcome): ResultOutput {
  if (outcome.status !== "completed") return { type: "error-text", value: outcomeText(outcome) };
  const { output } = outcome;
  return typeof output === "string"
    ? { type: "text", value: output }
    : { type: "json", value: (output ?? null) as never };
}
