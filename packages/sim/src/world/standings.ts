/** How the simulated agents stand, and how that changes. What held at a moment is still known later: checks ask for it. */

import { type Standing, type Time, unmeasured } from "@handfast/core";
import { isInRange } from "@handfast/protocol";
import type { Random } from "../random.ts";

interface Held {
  /** From then on. */
  readonly since: Time;
  readonly standing: Standing;
}

const versions = ["1.0.0", "1.4.0", "2.0.0"] as const;

export class Standings {
  readonly #held = new Map<string, Held[]>();

  constructor(random: Random, agents: readonly string[], now: Time) {
    for (const agent of agents) {
      // Nobody has lapsed before anything happened.
      this.#held.set(agent, [{ since: now, standing: { ...drawStanding(random), lapsed: false } }]);
    }
  }

  at(agent: string, now: Time): Standing {
    return this.#of(agent).findLast(({ since }) => since <= now)?.standing ?? unmeasured;
  }

  change(random: Random, agent: string, now: Time): void {
    this.#set(agent, now, drawStanding(random));
  }

  /** Everybody does as well as can be; versions stay. */
  heal(now: Time): void {
    for (const agent of this.#held.keys()) {
      const { version } = this.at(agent, now + 1);
      this.#set(agent, now, { ...unmeasured, version });
    }
  }

  /** Whether nothing about it kept work from it, at any time between. */
  isSteady(agent: string, from: Time, until: Time): boolean {
    const held = this.#of(agent);
    const isOver = (nth: number) => (held[nth + 1]?.since ?? Number.POSITIVE_INFINITY) <= from;
    return held.every(({ since, standing }, nth) => since > until || isOver(nth) || isPlain(standing));
  }

  /** Whether an agent may have a handoff that asks for this. */
  isAble(agent: string, now: Time, asks: { readonly version_range?: string; readonly deadline_at: Time }): boolean {
    const { lapsed, version, p50_ms } = this.at(agent, now);
    const { version_range, deadline_at } = asks;
    const fits = version_range === undefined || isInRange(version ?? undefined, version_range);
    return !lapsed && fits && (p50_ms ?? 0) <= deadline_at - now;
  }

  isSound(agent: string, now: Time): boolean {
    const { breached, ejected } = this.at(agent, now);
    return !breached && !ejected;
  }

  #of(agent: string): Held[] {
    const held = this.#held.get(agent);
    if (held === undefined) throw new Error(`no agent ${agent}`);
    return held;
  }

  /** From the next millisecond on: within one, whoever looked first and whoever looked last saw the same. */
  #set(agent: string, now: Time, standing: Standing): void {
    const held = this.#of(agent);
    held.push({ since: Math.max(now + 1, (held.at(-1)?.since ?? 0) + 1), standing });
  }
}

function drawStanding(random: Random): Standing {
  return {
    latency_ms: random.skewed(10, 5_000),
    p50_ms: random.chance(0.2) ? random.between(100, 8_000) : null,
    success: 0.5 + random.next() / 2,
    breached: random.chance(0.2),
    ejected: random.chance(0.1),
    lapsed: random.chance(0.1),
    newcomer: random.chance(0.3),
    version: random.pick(versions),
    max_concurrent: random.chance(0.25) ? random.between(1, 4) : null,
  };
}

function isPlain({ breached, ejected, lapsed, p50_ms, max_concurrent }: Standing): boolean {
  return !breached && !ejected && !lapsed && p50_ms === null && max_concurrent === null;
}
