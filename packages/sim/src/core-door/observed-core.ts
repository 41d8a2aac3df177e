/**
 * What the engine gets inside a simulation when it imports core: core itself, with a place to watch every decision and to
 * put a known mistake back. `install.ts` sees to it; the engine is not changed and does not know.
 */

import * as core from "@handfast/core";

export * from "@handfast/core";

/** The functions of core by which the engine decides, chooses and finds. */
export type CoreDoor = Pick<typeof core, "decide" | "choose" | "findable">;

let door: CoreDoor = core;
let calls = 0;

/** From now on the engine decides through this; null: through core alone. */
export function decideThrough(other: CoreDoor | null): void {
  door = other ?? core;
}

/** How often the engine has decided through this door: none means that it was never installed. */
export function decisionsSeen(): number {
  return calls;
}

export const decide: CoreDoor["decide"] = (handoff, command, context, now) => {
  calls += 1;
  return door.decide(handoff, command, context, now);
};

export const choose: CoreDoor["choose"] = (ready, workers, now, routing) => door.choose(ready, workers, now, routing);

export const findable: CoreDoor["findable"] = (handoff, timing, now) => door.findable(handoff, timing, now);
