/** Between a handoff's record and its row. */

import { type Findable, type Handoff, laneOf } from "@handfast/core";
import { parseState, type Write } from "@handfast/engine";
import { type Row, text, type Value } from "./connection.ts";

/** The values of `changingColumns`, in their order. */
export function changingValues({ next, find }: Write): readonly Value[] {
  return [
    next.status.state,
    "outcome" in next.status ? next.status.outcome.code : null,
    find.open ? 1 : 0,
    find.queue,
    find.rank,
    find.wake_at,
    find.lane,
    find.holder?.agent ?? null,
    find.holder?.worker ?? null,
    lastAgent(next, find),
    find.untaken ? 1 : 0,
    find.dead_letter,
    find.question_to,
    next.excluded.length === 0 ? null : JSON.stringify(next.excluded),
  ];
}

/** The values of a new row before its version: `pos` and what never changes. */
export function fixedValues(pos: number, { accepted }: Handoff): readonly Value[] {
  return [
    pos,
    accepted.namespace,
    accepted.id,
    accepted.from,
    accepted.to,
    accepted.capability,
    accepted.correlation_id === accepted.id ? null : accepted.correlation_id,
    accepted.causation?.id ?? null,
    accepted.detached ? 1 : 0,
    accepted.accepted_at,
    accepted.deadline_at,
    accepted.version_range ?? null,
    accepted.canary ?? null,
    accepted.conversation_id,
    accepted.to === null ? laneOf(accepted) : null,
  ];
}

/** The two texts of a handoff, as they travel from the reader thread. */
export interface HandoffText {
  readonly json: string;
  readonly accepted: string;
}

export function parseHandoff({ json, accepted }: HandoffText): Handoff {
  return { ...parseState(json), accepted: JSON.parse(accepted) };
}

export function handoffText(row: Row): HandoffText {
  return { json: text(row, "json"), accepted: text(row, "accepted") };
}

function lastAgent({ accepted }: Handoff, { last_agent }: Findable): string | null {
  return last_agent === accepted.to ? null : last_agent;
}
