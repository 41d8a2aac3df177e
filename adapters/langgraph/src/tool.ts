/** A capability as a tool for models: its name, description and arguments are those of the manifest. */

import {
  type HandoffToolOptions,
  handOff,
  inScope,
  type Outcome,
  outcomeText,
  scopeNow,
  sendOptionsOf,
  type ToolShape,
  targetOf,
  toolShapeOf,
} from "@handfast/adapter-kit";
import type { Client } from "@handfast/client";
import { ToolMessage } from "@langchain/core/messages";
import { type DynamicStructuredTool, type ToolRunnableConfig, tool } from "@langchain/core/tools";
import { contextOf, taskOf } from "./config.ts";

interface HandoffToolFacts {
  readonly hf: Client;
  readonly shape: ToolShape;
  readonly options: HandoffToolOptions;
}

const facts = new WeakMap<object, HandoffToolFacts>();

/** How a tool of `handoffTool` was made; null: another one. */
export function factsOf(candidate: object): HandoffToolFacts | null {
  return facts.get(candidate) ?? null;
}

/**
 * Called by a ToolNode it waits in place. Should the node be run again after a crash, the same handoff is found and waited
 * for. `addHandoffTools` lets the thread sleep meanwhile instead.
 */
export async function handoffTool(hf: Client, options: HandoffToolOptions): Promise<DynamicStructuredTool> {
  const shape = await toolShapeOf(hf, options);
  const { name, description, schema, inputOf } = shape;
  const call = async (args: unknown, config: ToolRunnableConfig) => {
    const id = config.toolCall?.id;
    const context = contextOf(config);
    const task = taskOf(config);
    const scope = task === "" ? scopeNow() : { run: task, ...(context === null ? {} : { sender: context }) };
    const request = {
      target: targetOf(options),
      input: inputOf(args),
      options: sendOptionsOf(options),
      call: id,
      signal: config.signal,
    };
    const outcome = await (scope === null ? handOff(hf, request) : inScope(scope, () => handOff(hf, request)));
    return id === undefined ? outcomeText(outcome) : toolMessage(outcome, name, id);
  };
  const made = tool(call as never, { name, description, schema: schema as never }) as unknown as DynamicStructuredTool;
  facts.set(made, { hf, shape, options });
  return made;
}

export function toolMessage(outcome: Outcome, name: string, tool_call_id: string): ToolMessage {
  return new ToolMessage({
    content: outcomeText(outcome),
    artifact: outcome,
    name,
    tool_call_id,
    status: outcome.status === "completed" ? "success" : "error",
  });
}
