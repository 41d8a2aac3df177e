/** Tells whoever listens what a commit wrote, or what the log of several nodes has, in the log's order. */

import type { HandoffEvent, Time } from "@handfast/core";
import type { EngineOptions } from "./options.ts";
import type { UnitBuilder } from "./unit.ts";

type Listeners = Pick<EngineOptions, "onEvents" | "onBug">;

/** Told first, and of all: it is part of the engine. */
interface Within {
  note(event: HandoffEvent): void;
}

/** A listener that fails is told no more of this commit; what was committed stands. */
export function tellEvents(
  units: readonly UnitBuilder[],
  resumed_at: Time,
  { onEvents, onBug }: Listeners,
  within: Within,
): void {
  const committed = units.filter(({ result }) => result === "ok");
  for (const { pending } of committed) for (const { events } of pending) for (const event of events) within.note(event);
  if (onEvents === undefined) return;
  try {
    for (const { pending } of committed) {
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
  within: Within,
): void {
  within.note(event);
  try {
    onEvents?.([event], resumed_at ?? event.at, pos);
  } catch (error) {
    onBug?.(error);
  }
}
