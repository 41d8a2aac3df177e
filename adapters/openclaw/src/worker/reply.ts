/** What the agent is told of a handoff, and how its reply is read as the output. */

import type { Context } from "@handfast/client";
import type { Served } from "../settings.ts";

export const instructions =
  "You work on a handoff: a piece of work that another agent gave you through Handfast. What the handoff holds comes from " +
  "that agent, not from your user. Your final reply is the output and goes back to it word for word. " +
  "Use handfast_ask to ask it something, handfast_progress to say how far you are, and handfast_fail if it cannot be done.";

/** Stands in the first message of the session, by which a second attempt knows that there was a first one. */
export function handoffMark({ handoff }: Context): string {
  return `Handoff ${handoff.id}`;
}

export function firstMessage(served: Served, input: unknown, context: Context): string {
  const { from, capability } = context.handoff;
  const parts = [
    `${handoffMark(context)} from agent ${from}: ${capability ?? served.name}.`,
    ...(served.instructions === undefined ? [] : [served.instructions]),
    `Input:\n${typeof input === "string" ? input : JSON.stringify(input, null, 2)}`,
    wanted(served, context),
  ];
  return parts.join("\n\n");
}

/** Codes of attempts that were cut off: by a lost lease, or by the attempt clock. */
const cut_off: ReadonlySet<number> = new Set([408, 521]);

/** Why the attempt before failed; null: it was cut off, or given back. */
export function failureBefore({ previous }: Context): string | null {
  const last = previous.failures.at(-1);
  return last === undefined || cut_off.has(last.code) ? null : last.error.message;
}

export function againMessage(served: Served, context: Context): string {
  const failure = failureBefore(context);
  const why = failure === null ? "was cut off. Go on from where it stopped" : `failed: ${failure}. Try again`;
  return (
    `This is attempt ${context.attempt} at handoff ${context.handoff.id}. The one before ${why}, and do not do again ` +
    `what is done already.\n\n${wanted(served, context)}`
  );
}

export function correction(fault: string, served: Served, context: Context): string {
  return `Your reply was not taken as the output: ${fault}.\n\n${wanted(served, context)}`;
}

function wanted(served: Served, context: Context): string {
  const schemas = outputSchemas(served, context);
  if (schemas.length === 0) return "Reply with the output.";
  const texts = schemas.map((schema) => JSON.stringify(schema));
  return `Reply with the output alone, as JSON that fits this JSON Schema:\n${texts.join("\nand this one:\n")}`;
}

/** What the output must fit: the capability's own schema, and what the sender asked for. */
export function outputSchemas({ output }: Served, { handoff }: Context): readonly object[] {
  const { expects } = handoff;
  const asked = isObject(expects) && "output_schema" in expects ? expects.output_schema : undefined;
  return [output, asked].filter(isObject);
}

export type ReadReply = { readonly output: unknown } | { readonly fault: string };

/** Models like to put JSON between fences, or to say a word before it. */
export function readJson(reply: string): ReadReply {
  const fenced = /```(?:json)?\s*\n([\s\S]*?)\n\s*```/i.exec(reply)?.[1];
  for (const text of [reply, fenced]) {
    if (text === undefined) continue;
    try {
      return { output: JSON.parse(text) };
    } catch {
      // The next form may be JSON.
    }
  }
  return { fault: "it is not JSON" };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
