/** What a model is told about a handoff: how far it got, and how it ended, always as a value. */

import { type Client, type HandfastError, HandoffError, type HandoffView, type Question } from "@handfast/client";
import type { ToolResult } from "./openclaw.ts";

/** How far it is proven to have come. */
type Receipt = "accepted" | "delivered" | "acknowledged";

export interface Told {
  readonly handoff: string;
  readonly receipt: Receipt;
  readonly status: HandoffView["state"];
  readonly code: number;
  readonly name: string;
  readonly capability?: string;
  readonly to?: string;
  readonly correlation: string;
  readonly attempts: number;
  /** The same id once more, where it has ended: also the mark by which a session is known to have the outcome. */
  readonly outcome_of?: string;
  readonly output?: unknown;
  readonly error?: { readonly reason: string; readonly message: string };
  readonly retryable?: boolean;
  readonly dead_letter?: string;
  readonly progress?: { readonly fraction: number | null; readonly note: string | null };
  readonly question?: { readonly id: string; readonly question: unknown; readonly schema?: unknown };
}

const ends: ReadonlySet<string> = new Set(["completed", "failed", "rejected", "canceled", "expired"]);

export function hasEnded({ state }: HandoffView): boolean {
  return ends.has(state);
}

export function told(view: HandoffView, question: Question | null = null): Told {
  const { id, state, code, name, capability, to, correlation_id, attempts, dead_letter, progress } = view;
  return {
    handoff: id,
    receipt: receiptOf(view),
    status: state,
    code,
    name,
    ...(capability === null ? {} : { capability }),
    ...(to === null ? {} : { to }),
    correlation: correlation_id,
    attempts,
    ...(hasEnded(view) ? { outcome_of: id, ...outcomeOf(view) } : {}),
    ...(dead_letter === null ? {} : { dead_letter: dead_letter.status }),
    ...(progress === null || hasEnded(view) ? {} : { progress: { fraction: progress.fraction, note: progress.note } }),
    ...(question === null ? {} : { question: toldQuestion(question) }),
  };
}

export function toldQuestion({ id, question, schema }: Question): NonNullable<Told["question"]> {
  return { id, question, ...(schema === undefined ? {} : { schema }) };
}

/** By this text a session is known to have been told of the outcome, whoever told it. */
export function outcomeMark(id: string): string {
  return `"outcome_of":${JSON.stringify(id)}`;
}

function receiptOf({ state, attempts }: HandoffView): Receipt {
  if (attempts > 0 || state === "working" || state === "waiting") return "acknowledged";
  return state === "delivered" ? "delivered" : "accepted";
}

function outcomeOf(view: HandoffView): Partial<Told> {
  if (view.state === "completed") return { output: outputOf(view) };
  const { reason, message } = HandoffError.ended(view);
  return { error: { reason, message }, retryable: view.retryable };
}

function outputOf({ outcome }: HandoffView): unknown {
  if (outcome === null || outcome.payload === null) return null;
  if ("output" in outcome) return outcome.output;
  return outcome.text ?? `${outcome.payload.size} bytes of ${outcome.payload.media_type}, which cannot be shown here`;
}

/** The open question, where the worker has put one to the sender. */
export async function openQuestion(client: Client, { state, question }: HandoffView): Promise<Question | null> {
  if (state !== "waiting" || question === null || question.to !== null) return null;
  const asked = await client.call("question", { params: { id: question.id } });
  return asked.open ? asked : null;
}

/** The model reads the text. OpenClaw reads the details, and would take a handoff that failed for a tool that failed. */
export function result(value: unknown, status: "ok" | "error" = "ok"): ToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value) }], details: { status, handfast: value } };
}

/** A refusal is something to read and act on, not a broken tool. */
export function refusal(error: unknown): ToolResult {
  if (!isRefusal(error)) throw error;
  const { reason, message, remedy, retryable, code, name } = error;
  const status = code === undefined ? {} : { code, name };
  return result({ error: { reason, message, remedy }, ...status, retryable }, "error");
}

/** Not by its class: OpenClaw may have loaded this plugin, and with it the client, more than once. */
export function isRefusal(error: unknown): error is HandfastError & { readonly code?: number } {
  return error instanceof Error && "reason" in error && "remedy" in error && "retryable" in error;
}
