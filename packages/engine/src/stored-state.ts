/** A handoff's changing part as text, the same in every store: what is written with each change, without what goes unsaid. */

import type { Handoff, Spent } from "@handfast/core";

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
    unblocked_at: handoff.unblocked_at,
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
    billed: handoff.billed,
    charged_by: handoff.charged_by,
    charged_for: handoff.charged_for,
    has_children: handoff.has_children || undefined,
    routed: handoff.routed || undefined,
    progress: handoff.progress ?? undefined,
    why: handoff.why,
  } satisfies Record<Exclude<keyof Handoff, "accepted">, unknown>);
}

function some<Item>(items: readonly Item[]): readonly Item[] | undefined {
  return items.length === 0 ? undefined : items;
}

function isSpent({ cost, tokens, handoffs }: Spent): boolean {
  return cost !== 0 || tokens !== 0 || handoffs !== 0;
}

export function parseState(json: string): Omit<Handoff, "accepted"> {
  return { ...unsaid, ...JSON.parse(json) };
}
