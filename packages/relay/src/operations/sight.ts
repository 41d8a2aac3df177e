/**
 * What a caller is shown of a handoff. Its sender, its addressee and operators see all of it. Whoever holds it, or held it last,
 * sees it too, but not what others said too late, nor what others charged. Whoever held it before another agent got it sees it
 * as it stood then: what came after is between its sender and the others, who may be rivals.
 */

import { type Handoff, hasEnded } from "@handfast/core";
import type { Body } from "@handfast/engine";
import type { EventView } from "@handfast/protocol/wire";
import type { Caller } from "../identity/caller.ts";

export interface Sight {
  /** As it is shown. */
  readonly handoff: Handoff;
  readonly as: "party" | "holder" | "former_holder";
}

type Reader = Pick<Caller, "name" | "role">;

/** Null: the caller has no part in it. */
export function sightOf(handoff: Handoff, caller: Reader): Sight | null {
  if (isParty(handoff, caller)) return { handoff, as: "party" };
  const { name } = caller;
  const { holders } = handoff;
  const last = holders.findLastIndex(({ agent }) => agent === name);
  const next = holders[last + 1];
  if (last < 0) return null;
  if (next === undefined) return { handoff: withOwnOnly(handoff, name), as: "holder" };
  // Deliveries from before it was kept how things stood: nobody knows any more what came before them.
  if (next.before === undefined) return null;
  const { why: _why, charged_by: _by, charged_for: _for, ...rest } = handoff;
  const stood: Handoff = {
    ...rest,
    ...next.before,
    fence: next.fence - 1,
    failures: handoff.failures.filter(({ fence }) => fence < next.fence),
    questions: handoff.questions.filter(({ fence }) => fence < next.fence),
    holders: holders.slice(0, last + 1),
    progress: null,
  };
  return { handoff: withOwnOnly(stood, name), as: "former_holder" };
}

function isParty({ accepted }: Handoff, { role, name }: Reader): boolean {
  return role === "operator" || accepted.from === name || accepted.to === name;
}

/** Without late outcomes of others; and what others charged counts like the cost of handoffs below: it tells a price. */
function withOwnOnly(handoff: Handoff, name: string): Handoff {
  const { accepted, late, charged_by = [], charged_for = [] } = handoff;
  const { capability } = accepted;
  const own = late.filter(({ outcome }) => outcome.agent === name);
  const tells = capability !== null && charged_by.some((agent) => agent !== name);
  return {
    ...handoff,
    late: own,
    ...(tells ? { charged_for: [...charged_for, capability] } : {}),
  };
}

/** Whether a document is shown: of acts of others none that came after, and what came of their work never. */
export function seesBody({ handoff, as }: Sight, { name }: Reader, { kind, number }: Body): boolean {
  if (as === "party" || kind === "handoff") return true;
  if (kind === "cancel") return handoff.status.state === "canceled";
  if (kind === "question" || kind === "answer") return number < handoff.questions.length;
  if (kind === "ack") return number <= handoff.fence;
  return kind === "outcome" && handoff.holders.some(({ fence, agent }) => fence === number && agent === name);
}

/** Others than parties have what was given to be worked on, and what they said themselves. */
export function seesArtifact({ handoff, as }: Sight, sha256: string): boolean {
  const { accepted, status, late } = handoff;
  const outcomes = [...(hasEnded(status) ? [status.outcome] : []), ...late.map(({ outcome }) => outcome)];
  return as === "party" || [accepted, ...outcomes].some(({ artifacts }) => artifacts.includes(sha256));
}

/** Events are read from the store, which may be ahead of the record. */
export function seesEvent({ handoff, as }: Sight, { name }: Reader, event: EventView): boolean {
  if (as === "party") return true;
  const { agent, fence, seq, type } = event as EventView & { readonly agent?: unknown; readonly fence?: unknown };
  if (type === "late") return agent === name;
  if (as === "former_holder") return seq <= handoff.seq;
  return agent === name || typeof fence !== "number" || fence <= handoff.fence;
}
