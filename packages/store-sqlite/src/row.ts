/** Between a handoff's record and its row. */

import type { Findable, Handoff, Spent } from "@handfast/core";
import type { Write } from "@handfast/engine";
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
  ];
}

/** What most handoffs have nothing to say about: not written, and put back when read. */
const unsaid = {
  attempts: 0,
  deliveries: 0,
  excluded: [],
  avoid: null,
  prefer: null,
  continues_ms: null,
  failures: [],
  holders: [],
  checkpoint: null,
  questions: [],
  late: [],
  spent: { cost: 0, tokens: 0, handoffs: 0 },
  has_children: false,
  routed: false,
  progress: null,
} as const satisfies Partial<Handoff>;

/** Without what is `unsaid`: half of the bytes of a row that is written four times. */
export function stateJson(handoff: Handoff): string {
  return JSON.stringify({
    version: handoff.version,
    seq: handoff.seq,
    fence: handoff.fence,
    status: handoff.status,
    attempts: handoff.attempts || undefined,
    deliveries: handoff.deliveries || undefined,
    excluded: some(handoff.excluded),
    avoid: handoff.avoid ?? undefined,
    prefer: handoff.prefer ?? undefined,
    continues_ms: handoff.continues_ms ?? undefined,
    failures: some(handoff.failures),
    holders: some(handoff.holders),
    checkpoint: handoff.checkpoint ?? undefined,
    questions: some(handoff.questions),
    late: some(handoff.late),
    spent: isSpent(handoff.spent) ? handoff.spent : undefined,
    has_children: handoff.has_children || undefined,
    routed: handoff.routed || undefined,
    progress: handoff.progress ?? undefined,
  } satisfies Record<Exclude<keyof Handoff, "accepted">, unknown>);
}

function some<Item>(items: readonly Item[]): readonly Item[] | undefined {
  return items.length === 0 ? undefined : items;
}

function isSpent({ cost, tokens, handoffs }: Spent): boolean {
  return cost !== 0 || tokens !== 0 || handoffs !== 0;
}

/** The two texts of a handoff, as they travel from the reader thread. */
export interface HandoffText {
  readonly json: string;
  readonly accepted: string;
}

export function parseHandoff({ json, accepted }: HandoffText): Handoff {
  return { ...parseState(json), accepted: JSON.parse(accepted) };
}

export function parseState(json: string): Omit<Handoff, "accepted"> {
  return { ...unsaid, ...JSON.parse(json) };
}

export function handoffText(row: Row): HandoffText {
  return { json: text(row, "json"), accepted: text(row, "accepted") };
}

function lastAgent({ accepted }: Handoff, { last_agent }: Findable): string | null {
  return last_agent === accepted.to ? null : last_agent;
}
