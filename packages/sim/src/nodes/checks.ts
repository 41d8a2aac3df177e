/** What must hold of everything that several nodes did, read from the disk afterwards. */

import { type Handoff, type HandoffEvent, hasEnded } from "@handfast/core";
import type { Store } from "@handfast/engine";
import { lease_ms, type Told } from "./actors.ts";

export class NodesViolation extends Error {
  override readonly name = "NodesViolation";
}

/** A lease is not lost before its time; a node's look at the clock and a beat's way take some of it. */
const slack_ms = 1_000;

export async function checkNodes(
  store: Store,
  told: Told,
): Promise<{ readonly handoffs: number; readonly events: number }> {
  const { handoffs } = await store.list({ namespace: "default", order: "oldest", limit: 100_000 });
  const { events: stored } = await store.events({ namespace: "default", after_pos: 0, limit: 1_000_000 });
  const events: readonly HandoffEvent[] = stored.map(({ json }) => JSON.parse(json));
  const lives = Map.groupBy(events, ({ handoff }) => handoff);
  for (const handoff of handoffs) checkLife(handoff, lives.get(handoff.accepted.id) ?? [], told);
  for (const id of told.accepted) ensure(lives.has(id), `accepted and lost: ${id}`);
  checkLanes(handoffs, events);
  return { handoffs: handoffs.length, events: events.length };
}

function checkLife({ accepted, status }: Handoff, life: readonly HandoffEvent[], told: Told): void {
  const { id } = accepted;
  ensure(hasEnded(status), `still ${status.state}: ${id}`);
  ensure(status.state === "completed", `ended as ${status.state}: ${id}`);
  for (const [nth, { seq }] of life.entries()) ensure(seq === nth + 1, `event ${seq} of ${id} stands at ${nth + 1}`);
  ensure(life.filter(({ type }) => type === "completed").length === 1, `completed more than once: ${id}`);
  const fences = life.flatMap((event) => (event.type === "delivered" ? [event.fence] : []));
  ensure(
    fences.every((fence, nth) => fence === nth + 1),
    `delivered under ${fences}: ${id}`,
  );
  const last = life.findLast(({ type }) => type === "completed");
  const content = told.completed.get(id);
  const by = last?.type === "completed" ? `${last.worker} under ${last.fence}` : "nobody";
  ensure(content === undefined || content === by, `told it was ${content}, but it was ${by}: ${id}`);
  for (const event of life) {
    if (event.type !== "requeued" || event.why !== "lease_lost") continue;
    const beaten = told.beats.get(`${id} ${event.fence}`);
    ensure(
      beaten === undefined || event.at - beaten >= lease_ms - slack_ms,
      `lost while it beat: ${id} ${event.fence}`,
    );
  }
}

/** The next of a lane is delivered only after whatever was accepted before it has ended. */
function checkLanes(handoffs: readonly Handoff[], events: readonly HandoffEvent[]): void {
  const open = new Map<string, string[]>();
  const laneOf = new Map(
    handoffs.flatMap(({ accepted }) =>
      accepted.ordering_key === null ? [] : [[accepted.id, `${accepted.from} ${accepted.ordering_key}`] as const],
    ),
  );
  for (const event of events) {
    const lane = laneOf.get(event.handoff);
    if (lane === undefined) continue;
    const members = open.get(lane) ?? [];
    if (event.type === "accepted") open.set(lane, [...members, event.handoff]);
    if (event.type === "delivered") ensure(members[0] === event.handoff, `${event.handoff} overtook ${members[0]}`);
    if (event.type === "completed")
      open.set(
        lane,
        members.filter((id) => id !== event.handoff),
      );
  }
}

function ensure(holds: boolean, message: string): asserts holds {
  if (!holds) throw new NodesViolation(message);
}
