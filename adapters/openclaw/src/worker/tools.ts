/** The tools of an agent that works on a handoff: they are there in the handoff's own session only. */

import { createHash } from "node:crypto";
import type { Tool, ToolContext } from "../openclaw.ts";
import type { Shared } from "../shared.ts";
import { refusal, result } from "../told.ts";

export const worker_tools = ["handfast_ask", "handfast_progress", "handfast_fail"] as const;

export function workerTools(shared: Shared, { sessionKey = "" }: ToolContext): readonly Tool[] {
  const work = shared.working.get(sessionKey);
  if (work === undefined) return [];
  const { context } = work;
  return [
    {
      name: "handfast_ask",
      label: "Ask the sender",
      description: "Asks the agent that sent this handoff, and waits for the answer.",
      parameters: {
        type: "object",
        additionalProperties: false,
        properties: {
          question: { type: "string", description: "The question." },
          capability: { type: "string", description: "Ask whoever offers this capability instead of the sender." },
        },
        required: ["question"],
      },
      execute: async (_, { question, capability }) => {
        const to = typeof capability === "string" && capability !== "" ? { to: capability } : {};
        try {
          return result({ answer: await context.ask(question, { id: nameOf(question), ...to }) });
        } catch (error) {
          return refusal(error);
        }
      },
    },
    {
      name: "handfast_progress",
      label: "Report progress",
      description: "Tells the sender of this handoff how far the work is.",
      parameters: {
        type: "object",
        additionalProperties: false,
        properties: {
          fraction: { type: "number", minimum: 0, maximum: 1, description: "How much is done, from 0 to 1." },
          note: { type: "string", description: "What is being done." },
        },
      },
      execute: async (_, { fraction, note }) => {
        context.progress(
          typeof fraction === "number" ? fraction : undefined,
          typeof note === "string" ? note : undefined,
        );
        return result({ told: true });
      },
    },
    {
      name: "handfast_fail",
      label: "Fail the handoff",
      description: "Ends this handoff as failed, with the reason. Whatever is replied afterwards is not read.",
      parameters: {
        type: "object",
        additionalProperties: false,
        properties: {
          message: { type: "string", description: "Why it cannot be done." },
          retryable: { type: "boolean", description: "True: another attempt may succeed. Default: false." },
        },
        required: ["message"],
      },
      execute: async (_, { message, retryable }) => {
        work.failure = { message: String(message), reason: "agent_declined", retryable: retryable === true };
        return result({ ended: true });
      },
    },
  ];
}

/** The same question in another attempt gets the answer that is there. */
function nameOf(question: unknown): string {
  return `q-${createHash("sha256").update(JSON.stringify(question)).digest("hex").slice(0, 24)}`;
}
