/**
 * Works on a handoff: one session for each, named by the handoff's id, so that another attempt goes on where the last one
 * stopped. What is finished there but was not reported is reported, and the model is not asked again.
 */

import { type Context, Fail, Retry } from "@handfast/client";
import type { AgentEvent, Logger, Runtime, Sessions } from "../openclaw.ts";
import type { Served } from "../settings.ts";
import type { Failure, Shared, Work } from "../shared.ts";
import { finalReply, has, readTranscript } from "../transcript.ts";
import { faultOf, prepareStops, stopRun } from "./host.ts";
import {
  againMessage,
  correction,
  failureBefore,
  firstMessage,
  handoffMark,
  instructions,
  outputSchemas,
  type ReadReply,
  readJson,
} from "./reply.ts";
import { worker_tools } from "./tools.ts";

export interface WorkerSide {
  readonly sessions: Sessions;
  readonly events: Runtime["events"];
  readonly shared: Shared;
  readonly logger: Logger;
}

/** How often a reply that does not fit is given back to the model. */
const corrections = 3;
/** OpenClaw's lane for work that nobody sits in front of: turns of people wait for none of it. */
const lane = "subagent";
const wait_ms = 15_000;
const stop_wait_ms = 1_000;
const stop_tries = 600;

/** A session of a sub-agent: the gateway does not resume those by itself after a crash, and only the relay knows who goes on. */
function workSession({ agent }: Served, { handoff }: Context): string {
  return `agent:${agent}:subagent:handfast:${handoff.id}`;
}

export async function workOn(side: WorkerSide, served: Served, input: unknown, context: Context): Promise<unknown> {
  const sessionKey = workSession(served, context);
  const work: Work = { context, failure: null };
  side.shared.working.set(sessionKey, work);
  try {
    return await replyTo(side, served, input, work, sessionKey);
  } finally {
    // Another attempt may have begun here meanwhile: the lease of this one was lost.
    if (side.shared.working.get(sessionKey) === work) side.shared.working.delete(sessionKey);
  }
}

async function replyTo(
  side: WorkerSide,
  served: Served,
  input: unknown,
  work: Work,
  sessionKey: string,
): Promise<unknown> {
  const { context } = work;
  const before = await readTranscript(side.sessions, sessionKey);
  const is_begun = has(before, handoffMark(context));
  let message = is_begun ? againMessage(served, context) : firstMessage(served, input, context);
  // A reply that an attempt left which failed is no output. One that was cut off may only have lacked the time to report it.
  let reply = is_begun && failureBefore(context) === null ? finalReply(before) : null;
  for (let turn = 0; ; turn += 1) {
    reply ??= await runTurn(side, work, { sessionKey, message, turn });
    const read = await readReply(reply, served, context);
    if ("output" in read) return read.output;
    // The relay says the same, with the path and the reason, and the sender gets to know it.
    if (turn === corrections) return read.instead;
    message = correction(read.fault, served, context);
    reply = null;
  }
}

type Read = { readonly output: unknown } | { readonly fault: string; readonly instead: unknown };

async function readReply(reply: string, served: Served, context: Context): Promise<Read> {
  if (outputSchemas(served, context).length === 0) return { output: reply };
  const read: ReadReply = readJson(reply);
  if ("fault" in read) return { ...read, instead: reply };
  // What the sender asks for beyond that is left to the relay, which checks the schemas of strangers under a meter.
  const fault = served.output === undefined ? null : await faultOf(served.output, read.output);
  return fault === null ? read : { fault, instead: read.output };
}

interface OneTurn {
  readonly sessionKey: string;
  readonly message: string;
  readonly turn: number;
}

async function runTurn(side: WorkerSide, work: Work, { sessionKey, message, turn }: OneTurn): Promise<string> {
  const { sessions, logger } = side;
  const { context } = work;
  const { signal, handoff } = context;
  signal.throwIfAborted();
  prepareStops();
  const { runId } = await sessions.run({
    sessionKey,
    message,
    extraSystemPrompt: instructions,
    lane,
    deliver: false,
    idempotencyKey: `handfast:${handoff.id}:${handoff.fence}:${turn}`,
    toolsAlsoAllow: [...worker_tools],
  });
  const stop = () => {
    stopUntilEnded(sessions, runId, sessionKey).catch((error: unknown) =>
      logger.warn(`handfast: the run in ${sessionKey} could not be stopped: ${String(error)}`),
    );
  };
  signal.addEventListener("abort", stop, { once: true });
  const mute = side.events?.onAgentEvent((event) => tellOn(event, runId, context)) ?? (() => {});
  try {
    const error = await ended(sessions, runId, signal);
    if (work.failure !== null) throw thrown(work.failure);
    const reply = finalReply(await readTranscript(sessions, sessionKey));
    if (reply !== null) return reply;
    const message = `The agent's turn ended without a reply${error === null ? "" : `: ${error}`}`;
    throw thrown({ message, reason: "no_reply", retryable: true });
  } finally {
    mute();
    signal.removeEventListener("abort", stop);
  }
}

/** As the client that works knows it: of the same loading. */
function thrown({ message, reason, retryable }: Failure): Error {
  return retryable ? new Retry(message) : new Fail(message, { reason });
}

/** A run that still waits for its turn cannot be stopped yet: it is once it has begun. */
async function stopUntilEnded(sessions: Sessions, runId: string, sessionKey: string): Promise<void> {
  for (let tries = 0; tries < stop_tries; tries += 1) {
    await stopRun(sessionKey);
    const { status, endedAt } = await sessions.waitForRun({ runId, timeoutMs: stop_wait_ms });
    if (status === "ok" || status === "error" || endedAt !== undefined) return;
  }
  throw new Error("it goes on");
}

/** Null: it ended well; else what OpenClaw says of it. */
async function ended(sessions: Sessions, runId: string, signal: AbortSignal): Promise<string | null> {
  const gone = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  gone.catch(() => {});
  for (;;) {
    signal.throwIfAborted();
    const waited = await Promise.race([sessions.waitForRun({ runId, timeoutMs: wait_ms }), gone]);
    if (waited.status === "ok") return null;
    if (waited.status === "error") return waited.error ?? "it failed";
    if (waited.endedAt !== undefined) return waited.error ?? "it took longer than OpenClaw allows a turn";
  }
}

/** Text is streamed to the sender, and the use of a tool is progress. */
function tellOn({ runId, stream, data }: AgentEvent, run: string, context: Context): void {
  if (runId !== run) return;
  if (stream === "assistant" && typeof data["delta"] === "string") void context.write(data["delta"]);
  if (stream !== "tool" || data["phase"] !== "start") return;
  const name = String(data["name"]);
  if (!name.startsWith("handfast_")) context.progress(undefined, `uses ${name}`);
}
