/** The handoffs of a correlation, found again: after a restart, or by another process of the same agent. */

import { wireLimits } from "@handfast/protocol/client";
import type { HandoffView } from "@handfast/protocol/wire";
import type { Base } from "../base.ts";
import { SentHandle } from "./handle.ts";
import type { Sender } from "./sender.ts";

/** Those that this agent sent, in the order in which they were accepted: that of the tasks. */
export async function findHandles<Out>(
  sender: Sender,
  correlation: string,
  signal: AbortSignal | undefined,
): Promise<readonly SentHandle<Out>[]> {
  const sent = await sentUnder(sender.base, correlation, signal);
  // Nobody's, or another agent's: the relay says which, with a problem for the first.
  if (sent.length === 0) await sender.base.link.call("correlation", { params: { id: correlation } }, { signal });
  return latest(sent).map((seen) => new SentHandle<Out>(sender, seen.id, { correlation, seen }));
}

async function sentUnder(base: Base, correlation_id: string, signal: AbortSignal | undefined): Promise<HandoffView[]> {
  const found: HandoffView[] = [];
  let cursor: string | null = null;
  do {
    const query = { correlation_id, from: base.agent, order: "oldest" as const, limit: wireLimits.page_size_most };
    const place: { cursor?: string } = cursor === null ? {} : { cursor };
    const page: { handoffs: HandoffView[]; cursor: string | null } = await base.link.call(
      "list",
      { query: { ...query, ...place } },
      { signal },
    );
    found.push(...page.handoffs);
    ({ cursor } = page);
  } while (cursor !== null);
  return found;
}

/** A redrive stands in the place of what it redrives. A dead letter that was routed elsewhere is nobody's task. */
function latest(sent: readonly HandoffView[]): readonly HandoffView[] {
  const redrives = new Map<string, HandoffView>();
  for (const view of sent) if (view.redrive_of !== null) redrives.set(view.redrive_of, view);
  const known = new Set(sent.map(({ id }) => id));
  const isTask = ({ redrive_of, idempotency_key }: HandoffView) =>
    !(redrive_of !== null && known.has(redrive_of)) && !idempotency_key.startsWith("handfast:dead-letter:");
  return sent.filter(isTask).map((view) => {
    let last = view;
    for (let next = redrives.get(last.id); next !== undefined; next = redrives.get(last.id)) last = next;
    return last;
  });
}
