/** What a run has called so far, as its state tells it. */

import { Keys } from "@handfast/adapter-kit";
import type * as agents from "@openai/agents";
import { contentOf } from "./tool.ts";

/** Agents of every kind of context and output, as the SDK itself takes them. */
export type AnyAgent = Parameters<typeof agents.RunState.fromString>[0];
export type AnyState = agents.RunState<unknown, AnyAgent>;

/**
 * The keys of a run that begins, or goes on from a state: what it has called and got answered counts. They are not kept
 * beside the state, which may be older than what was sent last: the agent will call that again.
 */
export function keysOf(run: string, state: AnyState | null): Keys {
  const keys = new Keys(run);
  const open: agents.FunctionCallItem[] = [];
  for (const item of state?.history ?? []) {
    if (item.type === "function_call") open.push(item);
    if (item.type !== "function_call_result") continue;
    const at = open.findIndex(({ callId }) => callId === item.callId);
    for (const call of at === -1 ? [] : open.splice(at, 1)) keys.next(...contentOf(call.name, parsed(call.arguments)));
  }
  return keys;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
