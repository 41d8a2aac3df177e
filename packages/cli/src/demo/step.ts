/** One step of the demo: something that is said to happen, shown happening, and checked. */

import type { Client, HandoffEvent } from "@handfast/client";
import type { Stage } from "./stage.ts";

export interface Step {
  readonly name: string;
  readonly title: string;
  run(stage: Stage, show: Show): Promise<void>;
}

/** How a step speaks: lines for people, events for programs. */
export interface Show {
  line(text: string): void;
  /** Text that comes piece by piece, on a line of its own; an empty piece ends it. */
  piece(text: string): void;
  event(event: HandoffEvent): void;
}

/** What the demo promises did not happen. */
class StepFailed extends Error {}

export function must(holds: boolean, what: string): void {
  if (!holds) throw new StepFailed(`this should have been so and was not: ${what}`);
}

/** Shows everything that happened to a handoff, and hands it back. */
export async function showEvents(client: Client, id: string, show: Show): Promise<readonly HandoffEvent[]> {
  const { events } = await client.call("handoff_events", { params: { id }, query: { limit: 500 } });
  for (const event of events) show.event(event);
  return events;
}

/** Waits, by looking again, for what no single operation waits for. */
export async function seen<Value>(look: () => Promise<Value>, isThere: (value: Value) => boolean): Promise<Value> {
  const until = Date.now() + 15_000;
  for (;;) {
    const value = await look();
    if (isThere(value)) return value;
    if (Date.now() > until) throw new StepFailed("it did not happen within 15 s");
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
}
