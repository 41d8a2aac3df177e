/** Tells a listener what a commit wrote, or what the log of several nodes has, in the log's order. */

import type { HandoffEvent, Time } from "@handfast/core";
import type { EngineOptions } from "./options.ts";
import type { UnitBuilder } from "./unit.ts";

type Listeners = Pick<EngineOptions, "onEvents" | "onBug">;

/** A listener that fails is told no more of this commit; what was committed stands. */
export function tellEvents(units: readonly UnitBuilder[], resumed_at: Time, { onEvents, onBug }: Listeners): void {
  if (onEvents === undefined) return;
  try {
    for (const { result, pending } of units) {
      if (result !== "ok") continue;
      for (const { events } of pending) if (events.length > 0) onEvents(events, resumed_at);
    }
  } catch (error) {
    onBug?.(error);
  }
}

/** On a shared store: an event that some node committed. One that nobody knows more of counts as decided right after a coming back. */
export function tellFollowed(
  { event, pos, resumed_at }: { readonly event: HandoffEvent; readonly pos: number; readonly resumed_at?: Time },
  { onEvents, onBug }: Listeners,
): void {
  try {
    onEvents?.([event], resumed_at ?? event.at, pos);
  } catch (error) {
    onBug?.(error);
  }
}
