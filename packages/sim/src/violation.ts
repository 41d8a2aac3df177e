/** A promise of Handfast that did not hold in a simulation. */

export class Violation extends Error {
  /** The invariant's name. */
  readonly invariant: string;
  /** The handoff concerned, or what else the trace knows it by. */
  readonly about: string;

  constructor(invariant: string, about: string, message: string) {
    super(`${invariant}: ${message}`);
    this.name = "Violation";
    this.invariant = invariant;
    this.about = about;
  }
}

export function ensure(holds: boolean, invariant: string, about: string, message: string): void {
  if (!holds) throw new Violation(invariant, about, message);
}
