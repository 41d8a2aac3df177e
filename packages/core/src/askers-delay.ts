/**
 * Whether a handoff under a contract that waited for too long was kept waiting by its own asker.
 *
 * By silence: what its questions to the asker waited for makes a quarter of the agreed time or more. Whoever asks in the last
 * quarter, or gives less time to answer than that, does so on its own account; and whoever lets a question lie for a quarter cannot
 * complain that the rest was too short.
 */

import type { Change } from "./change.ts";
import type { Duration } from "./handoff.ts";

export type AskersDelay = "asker_silent";

/** Of the agreed time: how much of it the asker may take before the rest is not the provider's to answer for. */
const share = 1 / 4;

/** Null: it was not. */
export function askersDelay(change: Change): AskersDelay | null {
  const { terms } = change.handoff.accepted;
  return silence(change) >= terms.deadline_ms * share ? "asker_silent" : null;
}

/** For how long it waited for the asker. Whom else a provider asks, and for how long, is its own affair. */
function silence({ handoff, now }: Change): Duration {
  return handoff.questions
    .filter(({ to }) => to === null)
    .reduce((sum, { asked_at, resolution }) => sum + (resolution?.at ?? now) - asked_at, 0);
}
