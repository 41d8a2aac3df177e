/** What a handoff is found by at one moment: as its row has it, or as a write leaves it. */

import { type Accepted, laneOf } from "@handfast/core";
import type { Write } from "@handfast/engine";
import { number, numberOrNull, type Row, text, textOrNull, truth } from "./rows.ts";

/** The changing columns of its row. */
export interface Standing {
  readonly state: string;
  readonly code: number | null;
  readonly open: boolean;
  readonly queue: string | null;
  readonly rank: number;
  readonly wake_at: number | null;
  readonly lane: string | null;
  readonly holder_agent: string | null;
  readonly holder_worker: string | null;
  readonly last_agent: string | null;
  readonly untaken: boolean;
  readonly dead_letter: string | null;
  readonly question_to: string | null;
  /** JSON array of names; null: nobody. */
  readonly excluded: string | null;
}

export function standingAfter({ next, find }: Write): Standing {
  return {
    state: next.status.state,
    code: "outcome" in next.status ? next.status.outcome.code : null,
    open: find.open,
    queue: find.queue,
    rank: find.rank,
    wake_at: find.wake_at,
    lane: find.lane,
    holder_agent: find.holder?.agent ?? null,
    holder_worker: find.holder?.worker ?? null,
    last_agent: find.last_agent === next.accepted.to ? null : find.last_agent,
    untaken: find.untaken,
    dead_letter: find.dead_letter,
    question_to: find.question_to,
    excluded: next.excluded.length === 0 ? null : JSON.stringify(next.excluded),
  };
}

export function standingOf(row: Row): Standing {
  return {
    state: text(row, "state"),
    code: numberOrNull(row, "code"),
    open: truth(row, "open"),
    queue: textOrNull(row, "queue"),
    rank: number(row, "rank"),
    wake_at: numberOrNull(row, "wake_at"),
    lane: textOrNull(row, "lane"),
    holder_agent: textOrNull(row, "holder_agent"),
    holder_worker: textOrNull(row, "holder_worker"),
    last_agent: textOrNull(row, "last_agent"),
    untaken: truth(row, "untaken"),
    dead_letter: textOrNull(row, "dead_letter"),
    question_to: textOrNull(row, "question_to"),
    excluded: names(textOrNull(row, "excluded")),
  };
}

/** As it is written here: the server spaces JSON its own way. */
function names(json: string | null): string | null {
  return json === null ? null : JSON.stringify(JSON.parse(json));
}

/** One thing that is so of a handoff at this moment, and by which it is found. */
export interface Facet {
  readonly kind: FacetKind;
  readonly value: string;
}
export type FacetKind =
  | "open"
  | "state"
  | "code"
  | "lane"
  | "child"
  | "party"
  | "untaken"
  | "dead_letter"
  | "question_to"
  | "label"
  | "served_lane"
  | "served_talk";

const endedBadly: ReadonlySet<string> = new Set(["failed", "rejected", "canceled", "expired"]);

/** What most handoffs are (completed, of code 200) is found otherwise: an index of everything finds nothing. */
export function facetsOf(accepted: Accepted, standing: Standing): readonly Facet[] {
  const facets: Facet[] = [];
  const is = (kind: FacetKind, value: string | null) => {
    if (value !== null) facets.push({ kind, value });
  };
  is("open", standing.open ? "" : null);
  is("state", endedBadly.has(standing.state) ? standing.state : null);
  is("code", standing.code === null || standing.code === 200 ? null : String(standing.code));
  is("lane", standing.lane);
  is("child", standing.open && !accepted.detached ? (accepted.causation?.id ?? null) : null);
  is("party", standing.last_agent);
  is("untaken", standing.untaken ? accepted.from : null);
  is("dead_letter", standing.dead_letter);
  is("question_to", standing.question_to);
  if (accepted.to === null && standing.last_agent !== null) {
    const { conversation_id, capability } = accepted;
    is("served_lane", laneOf(accepted));
    is("served_talk", conversation_id === null || capability === null ? null : talkOf(conversation_id, capability));
  }
  for (const [key, value] of Object.entries(accepted.labels)) is("label", labelOf(key, value));
  return facets;
}

export function talkOf(conversation_id: string, capability: string): string {
  return JSON.stringify([conversation_id, capability]);
}

/** As JSON, which keeps the two apart, and has any character. */
export function labelOf(key: string, value: string): string {
  return JSON.stringify([key, value]);
}
