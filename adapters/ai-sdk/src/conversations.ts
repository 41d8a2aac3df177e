/**
 * Conversations that sleep while their tool calls are with other agents. A conversation is its messages, which the user
 * keeps under an id; an outcome finds it by the labels of its handoff, becomes the result of the call, and when every call
 * has its result the model goes on. Whoever is killed on the way finds by the messages what was done.
 */

import {
  inTurn,
  joined,
  type Lock,
  refusalAsOutcome,
  sendOptionsOf,
  shortKey,
  targetOf,
  type WakeCall,
  type WakeOptions,
  type Waker,
  wakeByOutcomes,
} from "@handfast/adapter-kit";
import { type Client, HandfastError } from "@handfast/client";
import type { ModelMessage, ToolCallPart, ToolModelMessage, ToolSet } from "ai";
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
  /** A lock that holds across processes, where several of them have to do with these. Default: one of this process. */
  readonly lock?: Lock;
  /** Every call has its result: let the model go on, keep what it says, and hand off what it calls then. */
  readonly go: (id: string, messages: readonly ModelMessage[]) => Promise<unknown>;
}

/**
 * Hands off what the model called and nobody has answered. Keep the messages first; repeated, it sends nothing twice. What
 * the relay refuses gets its result at once, and where nothing else is open the model goes on with it. Resolves with the
 * ids of the handoffs.
 */
export function handOffPending(hf: Client, conversations: Conversations, id: string): Promise<readonly string[]> {
  const { name = "conversations", lock } = conversations;
  // An outcome that comes while others are sent must not be lost below them.
  return inTurn(turnOf(name, id), () => sendOpen(hf, conversations, name, id), lock);
}

async function sendOpen(
  hf: Client,
  conversations: Conversations,
  name: string,
  id: string,
): Promise<readonly string[]> {
  const { tools, load, save, go } = conversations;
  const messages = await loaded(load, id);
  const sent: string[] = [];
  const results: ModelMessage[] = [];
  for (const { toolCallId, toolName, input, call } of openCalls(messages)) {
    const facts = factsOf(tools[toolName]);
    if (facts === null) continue;
    const options = sendOptionsOf(facts.options);
    const marks = { [labels.name]: name, [labels.conversation]: id, [labels.call]: call };
    try {
      const handle = await hf.send(targetOf(facts.options), facts.shape.inputOf(input), {
        ...options,
        idempotencyKey: shortKey(joined(name, id, call)),
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
export function resumeConversations(
  hf: Client,
  conversations: Conversations,
  options: Omit<WakeOptions, "lock"> = {},
): Waker {
  const { name = "conversations", lock } = conversations;
  const sleepers = {
    keyOf: ({ labels: marks }: WakeCall["view"]) => {
      const id = marks[labels.conversation];
      return marks[labels.name] === name && id !== undefined ? turnOf(name, id) : null;
    },
    wake: (call: WakeCall) => wake(conversations, call),
  };
  return wakeByOutcomes(hf, sleepers, lock === undefined ? options : { ...options, lock });
}

function turnOf(name: string, id: string): string {
  return joined("ai-sdk", name, id);
}

async function wake({ load, save, go }: Conversations, { view, outcome }: WakeCall): Promise<string> {
  const id = view.labels[labels.conversation] ?? "";
  let messages = await loaded(load, id);
  const open = openCalls(messages).find(({ call }) => call === view.labels[labels.call]);
  if (open !== undefined) {
    messages = [...messages, resultMessage(open.toolCallId, open.toolName, outcome)];
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
  /** Its id, as long as a label may be, and how often it was used before: some models begin anew with every turn. */
  readonly call: string;
}

/** Calls without a result, of the last that the model said. */
function openCalls(messages: readonly ModelMessage[]): readonly OpenCall[] {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const earlier = messages.slice(0, Math.max(last, 0)).flatMap(callsIn);
  const answered = new Set(
    messages
      .slice(last + 1)
      .filter((message): message is ToolModelMessage => message.role === "tool")
      .flatMap(({ content }) => content.flatMap((part) => ("toolCallId" in part ? [part.toolCallId] : []))),
  );
  return messages
    .slice(Math.max(last, 0))
    .flatMap(callsIn)
    .filter(({ toolCallId }) => !answered.has(toolCallId))
    .map((part) => {
      const before = earlier.filter(({ toolCallId }) => toolCallId === part.toolCallId).length;
      return { ...part, call: shortKey(joined(part.toolCallId, ...(before === 0 ? [] : [`${before}`]))) };
    });
}

function callsIn({ role, content }: ModelMessage): readonly ToolCallPart[] {
  if (role !== "assistant" || typeof content === "string") return [];
  // What the provider runs itself is answered beside the call.
  return content.flatMap((part) => (part.type === "tool-call" && part.providerExecuted !== true ? [part] : []));
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
