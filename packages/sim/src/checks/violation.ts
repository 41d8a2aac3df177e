/** A promise of Handfast that did not hold in a simulation, and the counts of how often each was looked at. */

import type { Invariant } from "./invariants.ts";

export class Violation extends Error {
  readonly invariant: Invariant;
  /** The handoff concerned, or what else the trace knows it by. */
  readonly about: string;

  constructor(invariant: Invariant, about: string, message: string) {
    super(`${invariant}: ${message}`);
    this.name = "Violation";
    this.invariant = invariant;
    this.about = about;
  }
}

const looked = new Map<Invariant, number>();

/** `message` is asked for only when it is needed: most checks hold. */
export function ensure(holds: boolean, invariant: Invariant, about: string, message: string | (() => string)): void {
  looked.set(invariant, (looked.get(invariant) ?? 0) + 1);
  if (!holds) throw new Violation(invariant, about, typeof message === "string" ? message : message());
}

/** The same for something that must be there, which it returns. */
export function ensureThere<T>(value: T | null | undefined, invariant: Invariant, about: string, message: string): T {
  looked.set(invariant, (looked.get(invariant) ?? 0) + 1);
  if (value === null || value === undefined) throw new Violation(invariant, about, message);
  return value;
}

/** How often each check was made since this was last asked. */
export function takeLooks(): ReadonlyMap<Invariant, number> {
  const counted = new Map(looked);
  looked.clear();
  return counted;
}
