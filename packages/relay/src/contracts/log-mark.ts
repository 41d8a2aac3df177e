/** A place in the log by what stands there: whoever counts events as they are told does not know their positions. */

import type { HandoffEvent, Time } from "@handfast/core";
import type { Store } from "@handfast/engine";

/** The last event that was counted. */
export interface Mark {
  readonly at: Time;
  readonly handoff: string;
  readonly seq: number;
}

interface PlacedEvent {
  readonly event: HandoffEvent;
  readonly pos: number;
}

const page_events = 500;

export function markOf({ at, handoff, seq }: HandoffEvent): Mark {
  return { at, handoff, seq };
}

/** Every event of a handoff after the mark, in order; from the log's beginning where there is none. */
export async function* eventsAfter(
  store: Pick<Store, "events">,
  namespace: string,
  mark: Mark | null,
): AsyncGenerator<PlacedEvent> {
  yield* eventsFrom(store, namespace, mark === null ? 0 : await positionOf(store, namespace, mark));
}

async function* eventsFrom(
  store: Pick<Store, "events">,
  namespace: string,
  first_pos: number,
): AsyncGenerator<PlacedEvent> {
  for (let after_pos = first_pos; ; ) {
    const { events } = await store.events({ namespace, after_pos, limit: page_events });
    for (const { pos, json } of events) {
      const entry = JSON.parse(json) as HandoffEvent | { readonly seq?: undefined };
      // Entries that are of no handoff have no number.
      if (entry.seq !== undefined) yield { event: entry, pos };
      after_pos = pos;
    }
    if (events.length < page_events) return;
  }
}

/** Null: there is none. */
export async function lastEvent(store: Pick<Store, "events">, namespace: string): Promise<HandoffEvent | null> {
  const { head } = await store.events({ namespace, after_pos: 0, limit: 1 });
  for (let before = head; before > 0; before -= page_events) {
    let last: HandoffEvent | null = null;
    for await (const { event } of eventsFrom(store, namespace, Math.max(0, before - page_events))) last = event;
    if (last !== null) return last;
  }
  return null;
}

/** Retention drops the log from its beginning: where the mark is gone, all that is left comes after it. */
async function positionOf(
  store: Pick<Store, "events">,
  namespace: string,
  { at, handoff, seq }: Mark,
): Promise<number> {
  for (let after_pos = 0; ; ) {
    const { events } = await store.events({ namespace, handoff, at_from: at, after_pos, limit: page_events });
    for (const { pos, json } of events) {
      if ((JSON.parse(json) as HandoffEvent).seq === seq) return pos;
      after_pos = pos;
    }
    if (events.length < page_events) return 0;
  }
}
