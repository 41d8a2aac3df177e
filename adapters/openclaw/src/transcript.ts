/** What stands in a session: OpenClaw's messages, read as far as this plugin needs them. */

import type { Sessions } from "./openclaw.ts";

/** How far back a session is looked through. */
const most_messages = 200;

export interface Message {
  readonly role: string;
  readonly text: string;
  readonly callsTools: boolean;
  /** How the model ended it, where it says so. */
  readonly stop: string | null;
  readonly error: string | null;
}

/** Oldest first; none where there is no such session yet. */
export async function readTranscript(sessions: Sessions, sessionKey: string): Promise<readonly Message[]> {
  const { messages } = await sessions.getSessionMessages({ sessionKey, limit: most_messages });
  return messages.map(readMessage);
}

export function readMessage(message: unknown): Message {
  const { role, content, stopReason, errorMessage } = isRecord(message) ? message : {};
  const blocks = Array.isArray(content) ? content.filter(isRecord) : [];
  const texts = blocks.flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []));
  return {
    role: String(role),
    text: typeof content === "string" ? content : texts.join("\n"),
    callsTools: blocks.some(({ type }) => type === "toolCall" || type === "toolUse" || type === "tool_use"),
    stop: typeof stopReason === "string" ? stopReason : null,
    error: typeof errorMessage === "string" ? errorMessage : null,
  };
}

/** The model's last word; null: it has not come to an end. */
export function finalReply(messages: readonly Message[]): string | null {
  const last = messages.at(-1);
  if (last === undefined || last.role !== "assistant" || last.callsTools) return null;
  if (last.stop === "error" || last.stop === "aborted" || last.text.trim() === "") return null;
  return last.text;
}

export function has(messages: readonly Message[], mark: string): boolean {
  return messages.some(({ text }) => text.includes(mark));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
