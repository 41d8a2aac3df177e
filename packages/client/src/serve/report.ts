/**
 * Says what came of the work, and goes on saying it until the relay has answered: across broken connections and a
 * relay that restarts, as long as the deadline has not passed. Repeating it changes nothing.
 */

import type { LeaseView } from "@handfast/protocol/wire";
import { complete, fail, reject } from "../acts.ts";
import { type HandfastError, HandoffError, UsageError } from "../errors.ts";
import { pause } from "../link/persist.ts";
import type { Enclosed } from "./context.ts";
import { type Ending, type Failed, failed, plainest, unfit } from "./ending.ts";
import { messageOf, outcomeError } from "./faults.ts";
import type { Held } from "./held.ts";
import { serveLimits as limits } from "./limits.ts";
import type { Serving } from "./serving.ts";

interface Said {
  readonly ending: Ending;
  readonly enclosed: Enclosed;
}

/** Never rejects: what the relay does not take is told to the people here. */
export async function report(serving: Serving, held: Held, { ending, enclosed }: Said): Promise<void> {
  try {
    await sayWhenThereIsRoom(serving, held, { ending, enclosed });
  } catch (error) {
    const instead = held.isOver ? null : sayInstead({ ending, enclosed }, error);
    if (instead === null) return warnOfLoss(serving, held, error);
    warn(serving, held, instead.reason, instead.message);
    return report(serving, held, { ending: instead.ending, enclosed: {} });
  }
}

/**
 * A relay whose disk is nearly full takes no large output, and may have room again in a moment. The work is done, and the
 * lease is kept alive: for that alone it is not done again.
 */
async function sayWhenThereIsRoom(serving: Serving, held: Held, said: Said): Promise<void> {
  const { surroundings } = serving.base;
  const until = surroundings.now() + Math.min(limits.room_patience_ms, held.deadline_ms() - limits.room_pause_ms);
  for (let is_first = true; ; is_first = false) {
    try {
      return await say(serving, held, said);
    } catch (error) {
      const may_wait = said.ending.kind === "completed" && isOutOfSpace(error) && !held.signal.aborted;
      if (!may_wait || surroundings.now() >= until) throw error;
      const message = `The relay has no room for the output of handoff ${held.lease.id}, and is told again: ${error.message}`;
      if (is_first) warn(serving, held, error.reason, message);
      // Whoever stops this worker, or ends the lease, ends the wait too: then it is said a last time.
      await pause(surroundings, limits.room_pause_ms, held.signal).catch(() => {});
    }
  }
}

async function say({ base, gone }: Serving, held: Held, { ending, enclosed }: Said): Promise<void> {
  const { lease, worker } = held;
  const patience_ms = Math.max(held.deadline_ms(), limits.errand_patience_ms);
  const options = { patience_ms, signal: gone };
  const { usage } = enclosed;
  switch (ending.kind) {
    case "completed":
      await complete(base, lease, worker, { ...ending.result, ...enclosed }, options);
      return;
    case "failed":
      await fail(base, lease, worker, { ...ending.failure, ...(usage === undefined ? {} : { usage }) }, options);
      return;
    case "rejected":
      await reject(base, lease, worker, { error: ending.error }, options);
      return;
    case "released":
      await release({ base, gone, worker }, lease);
      return;
    default:
      throw new Error(`unreachable ending ${JSON.stringify(ending satisfies never)}`);
  }
}

/** Gives a lease back. Where it is not heard, the clocks do the same later. */
export async function release(
  { base, gone, worker }: Pick<Serving, "base" | "gone" | "worker">,
  { id, fence }: LeaseView,
): Promise<void> {
  const options = { patience_ms: limits.errand_patience_ms, signal: gone };
  await base.link.call("release", { params: { id }, body: { fence, worker } }, options).catch(() => {});
}

interface Instead {
  readonly ending: Ending;
  readonly reason: string;
  readonly message: string;
}

/**
 * What the relay refused as such is said otherwise, so that it comes to an end and the work is not done again: an output
 * as a failure of the handler, a failure in its plainest form. Null: it was not refused for what it says, or is plain.
 */
function sayInstead({ ending, enclosed }: Said, error: unknown): Instead | null {
  if (!isRefusedContent(error)) return null;
  if (ending.kind === "completed") {
    const failure = outputRefused(error);
    const { reason, message } = failure.failure.error;
    return { ending: failure, reason, message };
  }
  const plain = plainest(ending, enclosed.usage !== undefined);
  if (plain === null) return null;
  const message = `The relay refused how the failure was told, and is told less: ${error.message}`;
  return { ending: plain, reason: "failure_shortened", message };
}

/** Codes by which the relay says that it does not take this very output or failure. */
const refuses_content: ReadonlySet<number> = new Set([400, 413, 422, 502, 507]);

/** A fault of the connection says nothing of what was sent over it: many calls share one. */
const of_connection: ReadonlySet<string> = new Set([
  "bad_calls",
  "bad_hello",
  "bad_n",
  "bad_op",
  "bad_ping",
  "bad_signature_member",
  "binary_frame",
  "body_cut",
  "empty_frame",
  "frame_too_large",
  "headers_too_large",
  "n_taken",
  "not_a_relay",
  "not_an_object",
  "not_http",
  "second_hello",
  "subprotocol",
  "too_many_calls",
  "unknown_member",
  "use_http",
]);

function isRefusedContent(error: unknown): error is HandfastError {
  // What cannot even be written was refused here, before it was sent.
  if (error instanceof UsageError) return error.reason !== "closed";
  return error instanceof HandoffError && refuses_content.has(error.code) && !of_connection.has(error.reason);
}

function isOutOfSpace(error: unknown): error is HandoffError {
  return error instanceof HandoffError && error.code === 507;
}

/** The sender is to know why. What found no room may find some in another attempt. */
function outputRefused(error: HandfastError): Failed {
  if (error instanceof HandoffError && error.code === 502) return unfit(error.message);
  const said = outcomeError("output_refused", `The relay refused the output: ${messageOf(error)}`);
  return failed(said, isOutOfSpace(error));
}

/** A canceled handoff's result is kept as late: nobody is surprised. */
function warnOfLoss(serving: Serving, held: Held, error: unknown): void {
  if (serving.gone.aborted || (error instanceof HandoffError && error.code === 410)) return;
  const late = error instanceof HandoffError && (error.code === 412 || error.code === 408);
  const what = late ? "came too late and is kept as a late one" : "was not taken by the relay";
  warn(
    serving,
    held,
    late ? "outcome_late" : "outcome_lost",
    `The outcome of handoff ${held.lease.id} ${what}: ${messageOf(error)}`,
  );
}

function warn({ base }: Serving, { lease }: Held, reason: string, message: string): void {
  base.warn({ reason, message, handoff: lease.id });
}
