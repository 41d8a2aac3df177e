/** The deliveries of a handoff, each with who held it and what came of it, from its events. */

import { isEnd, requeueReason, type StoryEvent } from "./story-event.ts";

export interface Delivery {
  readonly fence: number;
  readonly agent: string;
  readonly worker: string;
  readonly delivered_at: number;
  readonly acknowledged_at: number | null;
  /** The number of the attempt; null: never acknowledged. */
  readonly attempt: number | null;
  readonly checkpoints: number;
  /** Null: it goes on. */
  readonly over_at: number | null;
  /** How it was over: the end's type, or why it was queued again. */
  readonly result: string | null;
  readonly code: number | null;
  readonly error: string | null;
}

export function deliveriesOf(events: readonly StoryEvent[]): readonly Delivery[] {
  const deliveries: Delivery[] = [];
  const amend = (change: (delivery: Delivery) => Partial<Delivery>) => {
    const last = deliveries.at(-1);
    if (last !== undefined && last.over_at === null) deliveries[deliveries.length - 1] = { ...last, ...change(last) };
  };
  for (const event of events) {
    const { type, at } = event;
    if (type === "delivered") {
      deliveries.push({
        fence: event.fence ?? 0,
        agent: event.agent ?? "",
        worker: event.worker ?? "",
        delivered_at: at,
        acknowledged_at: null,
        attempt: null,
        checkpoints: 0,
        over_at: null,
        result: null,
        code: null,
        error: null,
      });
    } else if (type === "acknowledged") {
      amend(() => ({ acknowledged_at: at, attempt: event.attempt ?? null }));
    } else if (type === "checkpointed") {
      amend(({ checkpoints }) => ({ checkpoints: checkpoints + 1 }));
    } else if (type === "parked" || (type === "asked" && event.parked === true)) {
      amend(() => ({ over_at: at, result: "parked" }));
    } else if (type === "requeued" || isEnd(type)) {
      const result = type === "requeued" ? requeueReason(event) || type : type;
      amend(() => ({ over_at: at, result, code: event.code ?? null, error: event.error?.message ?? null }));
    }
  }
  return deliveries;
}
