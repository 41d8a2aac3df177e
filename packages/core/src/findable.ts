/** What a store must be able to find a handoff by. Core derives it, so that no store has to know a rule. */

import type { Ready } from "./choose.ts";
import { type Timing, wakeAt } from "./clocks.ts";
import { type Accepted, type Handoff, hasEnded, laneOf, liveLease, type Status, type Time } from "./handoff.ts";

export interface Findable {
  readonly open: boolean;
  /** The queue it can be taken from now; null while it cannot. */
  readonly queue: string | null;
  /** Order within the queue, smallest first. */
  readonly rank: number;
  /** When time alone would change it. */
  readonly wake_at: Time | null;
  /** Its lane, while it is open. */
  readonly lane: string | null;
  /** Agent and worker that hold it. */
  readonly holder: { readonly agent: string; readonly worker: string } | null;
  /** The agent it was last delivered to. */
  readonly last_agent: string | null;
  /** Ended, and the sender has not confirmed the outcome. */
  readonly untaken: boolean;
  readonly dead_letter: "open" | "redriven" | "discarded" | null;
  /** Open question: the capability asked, or "" for the sender. */
  readonly question_to: string | null;
}

/** The queue that a target's handoffs wait in. */
export function queueOf(target: { readonly to: string | null; readonly capability: string | null }): string {
  return target.to === null ? `capability:${target.capability}` : `agent:${target.to}`;
}

/** Order within the queue, smallest first. */
function rankOf(accepted: Accepted, { limits }: Timing): number {
  return accepted.accepted_at - accepted.priority * limits.priority_bonus_ms;
}

function isReady(status: Status, now: Time): boolean {
  return status.state === "queued" && !status.blocked && status.ready_at <= now;
}

/** The handoff as one that can be delivered now; null: it cannot. */
export function readyNow(handoff: Handoff, timing: Timing, now: Time): Ready | null {
  const { accepted, status, excluded, avoid, prefer } = handoff;
  if (status.state !== "queued" || !isReady(status, now)) return null;
  const { id, from, to, capability, deadline_at, version_range = null, canary = null } = accepted;
  return {
    id,
    queue: queueOf(accepted),
    rank: rankOf(accepted, timing),
    excluded,
    avoid,
    prefer,
    capability,
    ready_at: status.ready_at,
    deadline_at,
    queue_until: status.queue_until,
    version_range,
    canary,
    from,
    // Work for an agent by name goes to that agent: nothing else can be preferred.
    lane: to === null ? laneOf(accepted) : null,
    conversation_id: to === null ? accepted.conversation_id : null,
  };
}

export function findable(handoff: Handoff, timing: Timing, now: Time): Findable {
  const { accepted, status } = handoff;
  const ended = hasEnded(status);
  const lease = liveLease(handoff);
  const question = status.state === "waiting" ? handoff.questions.find((q) => q.id === status.question) : undefined;
  return {
    open: !ended,
    queue: isReady(status, now) ? queueOf(accepted) : null,
    rank: rankOf(accepted, timing),
    wake_at: wakeAt(handoff, timing, now),
    lane: ended ? null : laneOf(accepted),
    holder: lease === null ? null : { agent: lease.agent, worker: lease.worker },
    last_agent: handoff.holders.at(-1)?.agent ?? null,
    untaken: ended && status.taken_at === null,
    dead_letter: ended ? (status.dead_letter?.status ?? null) : null,
    question_to: question === undefined ? null : (question.to ?? ""),
  };
}
