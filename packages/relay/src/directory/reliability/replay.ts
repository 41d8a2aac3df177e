/**
 * What the log has that the figures lack: read from the place of the last event they know, each event once, in order. An
 * event about a lease that was given out before that place is preceded by its handoff's own history.
 */

import type { HandoffEvent, Time } from "@handfast/core";
import type { Store } from "@handfast/engine";
import type { Reliability } from "./reliability.ts";
import type { Mark } from "./snapshot.ts";

const page_events = 500;

export interface ReplayOptions {
  readonly store: Pick<Store, "events" | "list">;
  readonly namespace: string;
  /** Of a log that nothing is known of, so much is read. */
  readonly first_events: number;
}

/** `counted`: told of each event that the figures know from then on, so that whatever fails, none is counted again. */
export async function replay(
  options: ReplayOptions,
  reliability: Reliability,
  mark: Mark | null,
  resumes: readonly Time[],
  counted: (mark: Mark, pos: number) => void,
): Promise<void> {
  const { store, namespace } = options;
  let after_pos = mark === null ? await firstPosition(options) : await positionOf(options, mark);
  for (;;) {
    const { events } = await store.events({ namespace, after_pos, limit: page_events });
    for (const { pos, json, resumed_at } of events) {
      after_pos = pos;
      const event = JSON.parse(json) as HandoffEvent;
      // An entry of no handoff tells of no attempt, and is no place to go on from.
      if (!("handoff" in event)) continue;
      if (reliability.lacks(event)) await recallHistory(options, reliability, event.handoff, pos);
      reliability.apply(event, resumed_at ?? resumedBefore(event.at, resumes));
      counted({ at: event.at, handoff: event.handoff, seq: event.seq }, pos);
    }
    if (events.length < page_events) return;
  }
}

/** What is held by somebody, so that its end can be judged when it comes. To be called when nothing is being written. */
export async function recallLeases(
  { store, namespace }: Pick<ReplayOptions, "store" | "namespace">,
  reliability: Reliability,
): Promise<void> {
  for (const state of ["delivered", "working", "waiting"]) {
    for (let after: string | null | undefined; after !== null; ) {
      const from = after === undefined ? {} : { after };
      const page = await store.list({ namespace, state, order: "oldest", limit: page_events, ...from });
      for (const handoff of page.handoffs) reliability.recallHandoff(handoff);
      after = page.after;
    }
  }
}

/** When the relay had last come back by then. Not known: as if it had at that very moment, so that nothing is held against anybody. */
function resumedBefore(at: Time, resumes: readonly Time[]): Time {
  return resumes.findLast((resumed_at) => resumed_at <= at) ?? at;
}

async function firstPosition({ store, namespace, first_events }: ReplayOptions): Promise<number> {
  const { head } = await store.events({ namespace, after_pos: 0, limit: 1 });
  return Math.max(0, head - first_events);
}

/**
 * Where the log goes on after the mark. Retention drops the log from its beginning: where the mark itself is gone, everything
 * before it is gone, and all that is left comes after it.
 */
async function positionOf({ store, namespace }: ReplayOptions, { at, handoff, seq }: Mark): Promise<number> {
  for (let after_pos = 0; ; ) {
    const { events } = await store.events({ namespace, handoff, at_from: at, after_pos, limit: page_events });
    for (const { pos, json } of events) {
      if ((JSON.parse(json) as HandoffEvent).seq === seq) return pos;
      after_pos = pos;
    }
    if (events.length < page_events) return 0;
  }
}

/** What the log has of this handoff before this position. */
export async function recallHistory(
  { store, namespace }: ReplayOptions,
  reliability: Reliability,
  handoff: string,
  before_pos: number,
): Promise<void> {
  for (let after_pos = 0; ; ) {
    const { events } = await store.events({ namespace, handoff, after_pos, limit: page_events });
    for (const { pos, json } of events) {
      if (pos >= before_pos) return;
      reliability.recallEvent(JSON.parse(json) as HandoffEvent);
      after_pos = pos;
    }
    if (events.length < page_events) return;
  }
}
