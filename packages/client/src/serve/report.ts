/**
 * Says what came of the work, and goes on saying it until the relay has answered: across broken connections and a
 * relay that restarts, as long as the deadline has not passed. Repeating it changes nothing.
 */

import type { LeaseView } from "@handfast/protocol/wire";
import { complete, fail, reject } from "../acts.ts";
import { HandoffError } from "../errors.ts";
import type { Enclosed } from "./context.ts";
import { type Ending, type Failed, failed, unfit } from "./ending.ts";
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
    await say(serving, held, { ending, enclosed });
  } catch (error) {
    const instead = held.isOver ? null : failureInstead(ending, error);
    if (instead === null) return warnOfLoss(serving, held, error);
    warn(serving, held, instead.failure.error.reason, instead.failure.error.message);
    return report(serving, held, { ending: instead, enclosed: {} });
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

/** Codes by which the relay says that this lease is no longer the one that counts. */
const over: ReadonlySet<number> = new Set([401, 403, 404, 408, 409, 410, 412]);

/** An output that is refused as such is a failure of the handler, and the sender is to know why. */
function failureInstead(ending: Ending, error: unknown): Failed | null {
  if (ending.kind !== "completed" || !(error instanceof HandoffError) || over.has(error.code)) return null;
  if (error.retryable && error.code !== 502) return null;
  if (error.code === 502) return unfit(error.message);
  return failed(outcomeError("output_refused", `The relay refused the output: ${messageOf(error)}`), false);
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
