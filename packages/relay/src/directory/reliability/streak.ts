/**
 * Failures in a row, and what they lead to: after five of them an agent is left out for a while, and for longer each time it
 * comes back no better. Every success takes one of those times back.
 */

import type { Duration, Time } from "@handfast/core";

export interface EjectionRules {
  readonly ejection_failures: number;
  readonly ejection_ms: Duration;
  readonly ejection_most_ms: Duration;
}

export interface StoredStreak {
  readonly failures: number;
  readonly forgiven: number;
  readonly ejections: number;
  readonly ejected_at: Time;
  readonly ejected_until: Time;
}

const unharmed: StoredStreak = { failures: 0, forgiven: 0, ejections: 0, ejected_at: 0, ejected_until: 0 };

export class Streak {
  /** In a row, up to now. */
  failures: number;
  ejected_at: Time;
  ejected_until: Time;
  /** How many of them cannot lead to another ejection: they led to the last, or came from work given out before it. */
  #forgiven: number;
  #ejections: number;

  constructor({ failures, forgiven, ejections, ejected_at, ejected_until }: StoredStreak = unharmed) {
    this.failures = failures;
    this.ejected_at = ejected_at;
    this.ejected_until = ejected_until;
    this.#forgiven = forgiven;
    this.#ejections = ejections;
  }

  succeeded(at: Time): void {
    this.failures = 0;
    this.#forgiven = 0;
    if (at >= this.ejected_until) this.#ejections = Math.max(0, this.#ejections - 1);
  }

  /** Whether it is left out from now on. */
  failed(at: Time, { ejection_failures, ejection_ms, ejection_most_ms }: EjectionRules): boolean {
    this.failures += 1;
    if (at < this.ejected_until) this.#forgiven = this.failures;
    if (this.failures - this.#forgiven < ejection_failures) return false;
    this.#forgiven = this.failures;
    this.#ejections += 1;
    this.ejected_at = at;
    this.ejected_until = at + Math.min(ejection_most_ms, ejection_ms * this.#ejections);
    return true;
  }

  stored(): StoredStreak {
    const { failures, ejected_at, ejected_until } = this;
    return { failures, forgiven: this.#forgiven, ejections: this.#ejections, ejected_at, ejected_until };
  }
}

/** How many of so many agents may be left out: a tenth; one of two or more; never the only one. */
export function mostEjected(agents: number, share: number): number {
  return agents < 2 ? 0 : Math.max(1, Math.floor(agents * share));
}
