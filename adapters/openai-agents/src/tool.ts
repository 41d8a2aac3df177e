/** A capability as a tool for agents: its name, description and arguments are those of the manifest. */

import {
  errorText,
  type HandoffToolOptions,
  handOff,
  outcomeText,
  sendOptionsOf,
  type ToolShape,
  targetOf,
  toolShapeOf,
} from "@handfast/adapter-kit";
import type { Client } from "@handfast/client";
import * as agents from "@openai/agents";

/** What makes a handoff out of a call of a pausing tool. */
interface PausingFacts {
  readonly shape: ToolShape;
  readonly options: HandoffToolOptions;
}

type CallDetails = Parameters<agents.FunctionTool["invoke"]>[2];

const pausing = new WeakMap<object, PausingFacts>();

/** What a call is known by, however often a model is asked for it: as the state of a run has it. */
export function contentOf(tool: string, args: unknown): readonly unknown[] {
  return [tool, args];
}

/** How a tool of `pausingHandoffTool` was made; null: another one. */
export function factsOf(tool: object): PausingFacts | null {
  return pausing.get(tool) ?? null;
}

/** Waits in place for the outcome. An aborted run calls the handoff off. */
export async function handoffTool(hf: Client, options: HandoffToolOptions): Promise<agents.FunctionTool> {
  return makeTool(hf, options, await toolShapeOf(hf, options), false);
}

/**
 * Interrupts the run, as a tool does that needs an approval. `handOffPending` then hands the call off, and `resumeRuns`
 * goes on when its outcome is there, in this process or a later one.
 */
export async function pausingHandoffTool(hf: Client, options: HandoffToolOptions): Promise<agents.FunctionTool> {
  const shape = await toolShapeOf(hf, options);
  const made = makeTool(hf, options, shape, true);
  pausing.set(made, { shape, options });
  return made;
}

function makeTool(
  hf: Client,
  options: HandoffToolOptions,
  { name, description, schema, inputOf }: ToolShape,
  needsApproval: boolean,
): agents.FunctionTool {
  return agents.tool({
    name,
    description,
    parameters: schema as never,
    // A manifest's schema need not keep to what models promise to follow strictly; the relay checks the input.
    strict: false,
    needsApproval,
    execute: async (args: unknown, _context?: unknown, details?: CallDetails) => {
      const request = {
        target: targetOf(options),
        input: inputOf(args),
        options: sendOptionsOf(options),
        call: details?.toolCall?.callId,
        content: contentOf(name, args),
        signal: details?.signal,
      };
      return outcomeText(await handOff(hf, request));
    },
    errorFunction: (_context: unknown, error: unknown) => errorText(error),
  }) as unknown as agents.FunctionTool;
}
