/** Reads what `why` and `show` tell from: only what the API offers to whoever asks. */

import type { HandoffView } from "@handfast/protocol/wire";
import { agentsFor, allEvents, handoffs, orNull, type Reader } from "../relay-reads.ts";
import type { Facts } from "./facts.ts";

const held_states = ["delivered", "working", "waiting"] as const;
/** Enough to tell that workers are busy; a relay may have a million open. */
const held_most = 200;

export async function gatherFacts(relay: Reader, view: HandoffView, me: string | null): Promise<Facts> {
  const [events, agents, question, children, head] = await Promise.all([
    allEvents(relay, view.id),
    agentsFor(relay, view),
    view.question === null ? null : orNull(relay.call("question", { params: { id: view.question.id } })),
    childrenOf(relay, view.id),
    headOf(relay, view),
  ]);
  const names = new Set(agents.map(({ name }) => name));
  const held = view.state === "queued" && names.size > 0 ? await heldBy(relay, names) : [];
  return { now: Date.now(), me, events, agents, head, held, question, children };
}

async function childrenOf(relay: Reader, causation_id: string): Promise<readonly HandoffView[]> {
  return (await relay.call("list", { query: { causation_id, order: "oldest", limit: 500 } })).handoffs;
}

/** Of one ordering key only the head can be delivered: one that is held, else the first that is queued. */
async function headOf(relay: Reader, view: HandoffView): Promise<HandoffView | null> {
  const { from, to, capability, ordering_key } = view;
  if (!view.blocked) return null;
  const sameLane = (other: HandoffView) =>
    other.ordering_key === ordering_key && other.to === to && other.capability === capability;
  const filter = {
    from,
    ...(to === null ? {} : { to }),
    ...(capability === null ? {} : { capability }),
    order: "oldest",
    limit: 500,
  } as const;
  for (const state of held_states) {
    for await (const other of handoffs(relay, { ...filter, state })) if (sameLane(other)) return other;
  }
  for await (const other of handoffs(relay, { ...filter, state: "queued" })) {
    if (other.id === view.id) return null;
    if (sameLane(other)) return other;
  }
  return null;
}

async function heldBy(relay: Reader, agents: ReadonlySet<string>): Promise<readonly HandoffView[]> {
  const pages = await Promise.all(
    held_states.map((state) => relay.call("list", { query: { state, limit: held_most } })),
  );
  return pages.flatMap((page) => page.handoffs).filter(({ lease }) => lease !== null && agents.has(lease.agent));
}
