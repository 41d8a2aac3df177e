/** How long work is held back for somebody in particular while others could have it. */

import type { Duration, Time } from "./handoff.ts";

interface Waiting {
  readonly ready_at: Time;
  readonly deadline_at: Time;
  /** Null: it does not wait in a queue yet. */
  readonly queue_until: Time | null;
}

/** A quarter of the time that it has, so that enough is left for another; and never longer than `most_ms`. */
export function heldUntil({ ready_at, deadline_at, queue_until }: Waiting, most_ms: Duration): Time {
  const time_ms = Math.min(deadline_at, queue_until ?? deadline_at) - ready_at;
  return ready_at + Math.min(most_ms, Math.floor(time_ms / 4));
}
