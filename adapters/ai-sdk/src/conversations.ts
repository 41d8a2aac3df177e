/**
 * Conversations that sleep while their tool calls are with other agents. A conversation is its messages, which the user
 * keeps under an id; an outcome finds it by the labels of its handoff, becomes the result of the call, and when every call
 * has its result the model goes on. Whoever is killed on the way finds by the messages what was done.
 */

import {
  refusalAsOutcome,
  sendOptionsOf,
  targetOf,
  type WakeCall,
  type WakeOptions,
  type Waker,
  wakeByOutcomes,
} from "@handfast/adapter-kit";
import { type Client, HandfastError } from "@handfast/client";
import type { ModelMessage, ToolModelMessage, ToolSet } from "ai";
import { factsOf, modelOutput } from "./tool.ts";

const labels = { name: "ai-sdk.name", conversation: "ai-sdk.conversation", call: "ai-sdk.call" } as const;

export interface Conversations {
  /** Tells these from other conversations of the same agent. Default: "conversations". */
  readonly name?: string;
  /** The tools that the model was given. */
  readonly tools: ToolSet;
  /** The messages so far; null: there is no such conversation. */
  readonly load: (id: string) => Promise<readonly ModelMessage[] | null>;
  /** Keeps them. Resolves once they are safe. */
  readonly save: (id: string, messages: readonly ModelMessage[]) => Promise<void>;
  /** Every call has its result: let the model go on, keep what it says, and hand off what it calls then. */
  readonly go: (id: string, messages: readonly ModelMessage[]) => Promise<unknown>;
}

/**
 * Hands off what the model called and nobody has answered. Keep the messages first; repeated, it sends nothing twice. What
 * the relay refuses gets its result at once, and where nothing else is open the model goes on with it. Resolves with the
 * ids of the handoffs.
 */
export async function handOffPending(hf: Client, conversations: Conversations, id: string): Promise<readonly string[]> {
  const { name = "conversations", tools, load, save, go } = conversations;
  const messages = await loaded(load, id);
  const sent: string[] = [];
  const results: ModelMessage[] = [];
  for (const { toolCallId, toolName, input } of openCalls(messages)) {
    const facts = factsOf(tools[toolName]);
    if (facts === null) continue;
    const options = sendOptionsOf(facts.options);
    const marks = { [labels.name]: name, [labels.conversation]: id, [labels.call]: toolCallId };
    try {
      const handle = await hf.send(targetOf(facts.options), facts.shape.inputOf(input), {
        ...options,
        idempotencyKey: `${name}/${id}/${toolCallId}`,
        labels: { ...options.labels, ...marks },
      });
      sent.push(handle.id);
    } catch (error) {
      results.push(resultMessage(toolCallId, toolName, refusalAsOutcome(error)));
    }
  }
  if (results.length === 0) return sent;
  const answered = [...messages, ...results];
  await save(id, answered);
  if (openCalls(answered).length === 0) await go(id, answered);
  return sent;
}

/** Wakes each conversation exactly once for each outcome. `onWoken` is told `resumed`, `waits_for_more` or `not_waiting`. */
export function resumeConversations(hf: Client, conversations: Conversations, options: WakeOptions = {}): Waker {
  const { name = "conversations" } = conversations;
  const sleepers = {
    keyOf: ({ labels: marks }: WakeCall["view"]) => {
      const id = marks[labels.conversation];
      return marks[labels.name] === name && id !== undefined ? `ai-sdk/${name}/${id}` : null;
    },
    wake: (call: WakeCall) => wake(conversations, call),
  };
  return wakeByOutcomes(hf, sleepers, options);
}

async function wake({ load, save, go }: Conversations, { view, outcome }: WakeCall): Promise<string> {
  const id = view.labels[labels.conversation] ?? "";
  let messages = await loaded(load, id);
  const call = openCalls(messages).find(({ toolCallId }) => toolCallId === view.labels[labels.call]);
  if (call !== undefined) {
    messages = [...messages, resultMessage(call.toolCallId, call.toolName, outcome)];
    await save(id, messages);
  }
  if (openCalls(messages).length > 0) return "waits_for_more";
  // The model has spoken since: it went on before, and only the take was lost.
  if (messages.at(-1)?.role !== "tool") return "not_waiting";
  await go(id, messages);
  return "resumed";
}

interface OpenCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

/** Calls without a result, of the last that the model said. */
function openCalls(messages: readonly ModelMessage[]): readonly OpenCall[] {
  const last = messages.findLast(({ role }) => role === "assistant");
  const parts = last === undefined || typeof last.content === "string" ? [] : last.content;
  const answered = new Set(
    messages
      .filter((message): message is ToolModelMessage => message.role === "tool")
      .flatMap(({ content }) => content.flatMap((part) => ("toolCallId" in part ? [part.toolCallId] : []))),
  );
  return parts.flatMap((part) =>
    typeof part === "object" && part.type === "tool-call" && !answered.has(part.toolCallId) ? [part] : [],
  );
}

function resultMessage(toolCallId: string, toolName: string, outcome: WakeCall["outcome"]): ToolModelMessage {
  return { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output: modelOutput(outcome) }] };
}

async function loaded(load: Conversations["load"], id: string): Promise<readonly ModelMessage[]> {
  const messages = await load(id);
  if (messages !== null) return messages;
  throw new HandfastError(`There is no conversation ${id}.`, {
    reason: "unknown_conversation",
    remedy: "Keep its messages before its calls are handed off, and let load() find them.",
    retryable: false,
    anchor: "usage",
  });
}
