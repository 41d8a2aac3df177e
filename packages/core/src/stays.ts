/**
 * Work stays for a moment with the node it came to, where a worker asks for such work: one whose slots were all taken a moment ago is likely
 * to have one free, and work that changes its node costs both of them more. Afterwards it is anybody's.
 */

import type { Findable } from "./findable.ts";
import type { Handoff, Time } from "./handoff.ts";
import type { CoreLimits } from "./limits.ts";

/** Claims at one node that ask for the same work. */
export interface Askers {
  readonly are_waiting: boolean;
  /** When the last of them was answered or given up; null: none was yet. */
  readonly left_at: Time | null;
}

/** Who was given some, or asked in vain, asks again soon. */
export function areAsking({ are_waiting, left_at }: Askers, now: Time, { stays_ms }: CoreLimits): boolean {
  return are_waiting || (left_at !== null && now - left_at < stays_ms);
}

/** What is older, or more urgent, is anybody's: only what is accepted now, in its turn, is likely to be taken here. */
export function stays(
  { accepted }: Handoff,
  { queue, rank }: Findable,
  is_new: boolean,
  isAskedFor: (queue: string) => boolean,
): boolean {
  return is_new && queue !== null && rank >= accepted.accepted_at && isAskedFor(queue);
}
