/** The tools by which a model hands work to others: find, send, await, cancel, answer. */

import type { Client, Handle, SendingFrom, SendOptions } from "@handfast/client";
import type { Connection } from "../connection.ts";
import type { Tool, ToolContext, ToolResult } from "../openclaw.ts";
import type { Shared } from "../shared.ts";
import { refusal, result, type Told } from "../told.ts";
import { find } from "./find.ts";
import { keyOf, originLabels } from "./origin.ts";
import { look, type Wait, waitFor } from "./wait.ts";

export const sender_tools = ["handfast_find", "handfast_send", "handfast_await", "handfast_cancel", "handfast_answer"];

export interface SenderSide {
  /** For where no service runs in this process. */
  readonly connection: Connection;
  readonly shared: Shared;
  readonly gateway: () => string;
}

type Parameters = Readonly<Record<string, unknown>>;

const default_wait_s = 30;
const most_wait_s = 600;
const most_ids = 50;

const text = (description: string) => ({ type: "string", description });
const seconds = (description: string) => ({ type: "number", description });
const wait_seconds = seconds(
  `How long to wait for the outcome before going on, 0 to ${most_wait_s}. Default: ${default_wait_s}. ` +
    "When the wait ends first nothing is lost: await it again, or go on, and the outcome comes into this session by itself.",
);

export function senderTools(side: SenderSide, context: ToolContext): readonly Tool[] {
  const client = () => (side.shared.serving ?? side.connection).client();
  return [
    {
      name: "handfast_find",
      label: "Find agents",
      description:
        "Finds other agents by what they can do: their capabilities with descriptions and the JSON Schemas of input and output.",
      parameters: object({ words: text("What is needed, in a few words. Left out: everything there is.") }),
      execute: (_, { words }) => told(async () => find(await client(), optionalText(words))),
    },
    {
      name: "handfast_send",
      label: "Hand off work",
      description:
        "Hands work to another agent, named by a capability (handfast_find lists them) or by its name. The answer has the " +
        "handoff's id, the receipt (accepted: safe at the relay; delivered; acknowledged: the agent itself has it), the " +
        "status, and the output or error if it ended within the wait. If not, the outcome comes into this session later.",
      parameters: object(
        {
          capability: text("What is to be done, such as web_research."),
          to: text("The agent that is to do it. Left out: whoever offers the capability."),
          input: { description: "The input, as JSON that fits the capability's input schema." },
          wait_seconds,
          timeout_seconds: seconds("The deadline: by then it has ended one way or another. Default: 15 minutes."),
          attempts: {
            type: "integer",
            minimum: 1,
            description: "How often it may be tried before it is a dead letter. Default: 3.",
          },
          correlation: text("Groups handoffs that belong together. Default: its own id."),
          key: text("A name for this piece of work: sent again with the same name and input, it is the same handoff."),
        },
        ["input"],
      ),
      execute: (callId, parameters, signal, onUpdate) =>
        told(async () => send(side, context, await client(), { callId, parameters, signal, onUpdate })),
    },
    {
      name: "handfast_await",
      label: "Await handoffs",
      description:
        "Waits for handoffs sent earlier, by their ids, and tells how each stands: also those that ended long ago.",
      parameters: object(
        {
          handoffs: {
            type: "array",
            items: { type: "string" },
            minItems: 1,
            maxItems: most_ids,
            description: "Their ids.",
          },
          any: { type: "boolean", description: "Enough when one of them has ended. Default: all." },
          wait_seconds,
        },
        ["handoffs"],
      ),
      execute: (_, parameters, signal, onUpdate) =>
        told(async () => {
          const from = sendingOf(side, context, await client());
          const handles = textList(parameters["handoffs"]).map((id) => from.handle(id));
          const wait = { ...waitOf(parameters, signal, onUpdate), any: parameters["any"] === true };
          return { handoffs: await awaited(side, from.client, handles, wait) };
        }),
    },
    {
      name: "handfast_cancel",
      label: "Cancel a handoff",
      description: "Calls off a handoff sent earlier. If it has ended meanwhile, the answer is how it ended.",
      parameters: object({ handoff: text("Its id."), reason: text("Why; the agent is told.") }, ["handoff"]),
      execute: (_, { handoff, reason }) =>
        told(async () => {
          const handle = (await client()).handle(String(handoff));
          await handle.cancel(optionalText(reason));
          return look(await client(), handle);
        }),
    },
    {
      name: "handfast_answer",
      label: "Answer a question",
      description: "Answers a question that an agent asked about a handoff sent from here.",
      parameters: object(
        {
          question: text("The question's id."),
          answer: { description: "The answer, as JSON that fits the question's schema." },
        },
        ["question", "answer"],
      ),
      execute: (_, { question, answer }) =>
        told(async () => {
          const { id, state, resolution } = await (await client()).answer(String(question), answer ?? null);
          return { question: id, resolution, status: state };
        }),
    },
  ];
}

interface SendCall {
  readonly callId: string;
  readonly parameters: Parameters;
  readonly signal: AbortSignal | undefined;
  readonly onUpdate: Update | undefined;
}

type Update = (partial: ToolResult) => void;

async function send(side: SenderSide, context: ToolContext, client: Client, call: SendCall): Promise<Told | undefined> {
  const { parameters, signal, onUpdate } = call;
  const gateway = side.gateway();
  const from = sendingOf(side, context, client);
  const capability = optionalText(parameters["capability"]);
  const to = optionalText(parameters["to"]);
  const target = { ...(capability === undefined ? {} : { capability }), ...(to === undefined ? {} : { to }) };
  const input = parameters["input"] ?? null;
  // A second attempt at a handoff repeats what the first had sent, under new names for its tool calls: there content counts.
  const named = optionalText(parameters["key"]);
  const { sessionKey = "", sessionId = sessionKey } = context;
  // Some models number their tool calls anew in every run.
  const key = named ?? (from.isWork ? "" : `${side.shared.runs.get(sessionKey) ?? ""} ${call.callId}`);
  const scope = from.isWork ? sessionKey : sessionId;
  const options: SendOptions = {
    idempotencyKey: keyOf(gateway, { scope, key, content: [target, input] }),
    ...(context.sessionKey === undefined ? {} : { labels: originLabels(gateway, context) }),
    ...milliseconds("timeout", parameters["timeout_seconds"]),
    ...(typeof parameters["attempts"] === "number" ? { attempts: parameters["attempts"] } : {}),
    ...(optionalText(parameters["correlation"]) === undefined
      ? {}
      : { correlation: String(parameters["correlation"]) }),
  };
  const handle = await from.send(target, input, options);
  const [news] = await awaited(side, client, [handle], waitOf(parameters, signal, onUpdate));
  return news;
}

/** From the session of a handoff that is worked on, what is sent is part of that work. */
function sendingOf({ shared }: SenderSide, { sessionKey }: ToolContext, client: Client) {
  const work = sessionKey === undefined ? undefined : shared.working.get(sessionKey);
  const from: SendingFrom = work?.context ?? client;
  return {
    client,
    isWork: work !== undefined,
    send: from.send.bind(from) as SendingFrom["send"],
    handle: (id: string) => client.handle(id),
  };
}

async function awaited(
  side: SenderSide,
  client: Client,
  handles: readonly Handle[],
  wait: Wait,
): Promise<readonly Told[]> {
  const ids = handles.map(({ id }) => id);
  return side.shared.whileAwaiting(ids, () => waitFor(client, handles, wait));
}

function waitOf(parameters: Parameters, signal: AbortSignal | undefined, onUpdate: Update | undefined): Wait {
  const asked = parameters["wait_seconds"];
  const wait_s = typeof asked === "number" && asked >= 0 ? Math.min(asked, most_wait_s) : default_wait_s;
  return { wait_ms: wait_s * 1_000, signal, onNews: (news) => onUpdate?.(result(news)) };
}

async function told(tell: () => Promise<unknown>): Promise<ToolResult> {
  try {
    return result(await tell());
  } catch (error) {
    return refusal(error);
  }
}

function object(properties: Readonly<Record<string, object>>, required: readonly string[] = []): object {
  return { type: "object", additionalProperties: false, properties, required };
}

function optionalText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function textList(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).map(String);
}

function milliseconds(name: "timeout", value: unknown): Partial<Record<"timeout", number>> {
  return typeof value === "number" && value > 0 ? { [name]: Math.round(value * 1_000) } : {};
}
