/** What is stored is what the events add up to. */

import { type Handoff, hasEnded, type Lease, liveLease, type Outcome } from "@handfast/core";
import type { Said } from "../actors/said.ts";
import type { HeldLease } from "./clock-witness.ts";
import type { History } from "./history.ts";
import { ensure } from "./violation.ts";

const outcomeTypes = ["complete", "fail", "reject"];

export function compareStored(history: History, next: Handoff, before: Handoff | undefined, said: Said): void {
  const { id, terms } = next.accepted;
  const differs = difference(history, next);
  ensure(
    differs === null,
    "the history replayed gives the stored state",
    id,
    () => `${differs}: stored ${JSON.stringify({ ...next, accepted: undefined })}, replayed ${history.state}`,
  );
  ensure(
    next.attempts >= 0 && next.attempts <= terms.max_attempts,
    "attempts are bounded",
    id,
    () => `${next.attempts}`,
  );
  ensure(next.deliveries <= terms.max_deliveries, "deliveries are bounded", id, () => `${next.deliveries}`);
  if (before !== undefined) {
    ensure(next.fence >= before.fence, "fences only grow", id, () => `${before.fence} to ${next.fence}`);
    ensure(next.accepted.digest === before.accepted.digest, "what was accepted never changes", id, "other digest");
  }
  if (!hasEnded(next.status)) return;
  compareOutcome(history, next.status.outcome, said);
  if (before !== undefined && hasEnded(before.status)) {
    const [first, then] = [before.status.outcome.content, next.status.outcome.content];
    ensure(first === then, "no second outcome", id, () => `${first}, then ${then}`);
  }
}

/** The first thing in which the two differ. */
function difference(history: History, next: Handoff): string | null {
  const { status } = next;
  if (history.state !== status.state) return "state";
  if (history.seq !== next.seq) return "seq";
  if (history.fence !== next.fence) return "fence";
  if (!sameLease(history.lease, liveLease(next))) return "lease";
  if (history.excluded.size !== next.excluded.length) return "excluded";
  if (next.excluded.some((agent) => !history.excluded.has(agent))) return "excluded";
  if (history.late.size !== next.late.length) return "late";
  if ((history.checkpoint?.number ?? null) !== (next.checkpoint?.number ?? null)) return "checkpoint";
  if (!sameQuestions(history, next)) return "questions";
  if (status.state === "queued") {
    if (history.blocked !== status.blocked) return "blocked";
    if (history.ready_at !== status.ready_at) return "ready_at";
  }
  if (!hasEnded(status)) return history.end === null ? null : "end";
  if (history.end?.at !== status.ended_at || history.end.code !== status.outcome.code) return "end";
  if (history.taken !== (status.taken_at !== null)) return "taken_at";
  const settled = status.dead_letter !== null && status.dead_letter.status !== "open";
  return (history.settled_at !== null) === settled ? null : "dead_letter";
}

function sameLease(held: HeldLease | null, stored: Lease | null): boolean {
  if (held === null || stored === null) return held === stored;
  return (
    held.fence === stored.fence &&
    held.agent === stored.agent &&
    held.worker === stored.worker &&
    held.delivered_at === stored.delivered_at &&
    held.acknowledged_at === stored.acknowledged_at &&
    held.attempt_until === stored.attempt_until &&
    held.unfit === stored.unfit
  );
}

function sameQuestions({ questions }: History, next: Handoff): boolean {
  if (questions.size !== next.questions.length) return false;
  return next.questions.every(({ id, resolution }) => {
    const answer = questions.get(id);
    return answer === (resolution?.kind === "answered" ? resolution.content : null);
  });
}

/** The winner is what its holder said under its fence. */
function compareOutcome(history: History, outcome: Outcome, said: Said): void {
  const { id, kind } = history.accepted;
  const { fence, agent, content, evidence } = outcome;
  if (evidence === "relay" || fence === null || agent === null || history.state === "canceled") return;
  if (kind === "notice" && content === "acknowledged") return;
  const isSaid = outcomeTypes.some((type) => said.act(type, id, fence, agent, content) !== undefined);
  ensure(
    isSaid,
    "the outcome is what its holder said under its fence",
    id,
    () => `${content} by ${agent} under ${fence}`,
  );
}
