/** Tells a listener what a commit wrote, in the log's order. */

import type { HandoffEvent, Time } from "@handfast/core";
import type { EngineOptions } from "./options.ts";
import type { UnitBuilder } from "./unit.ts";

type Listener = (events: readonly HandoffEvent[], resumed_at: Time) => void;

/** A listener that fails is told no more of this commit; what was committed stands. */
export function tellEvents(
  units: readonly UnitBuilder[],
  resumed_at: Time,
  listener: Listener,
  onBug: EngineOptions["onBug"],
): void {
  try {
    for (const { result, pending } of units) {
      if (result !== "ok") continue;
      for (const { events } of pending) if (events.length > 0) listener(events, resumed_at);
    }
  } catch (error) {
    onBug?.(error);
  }
}
