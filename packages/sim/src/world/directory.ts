/** Who offers what in the simulated world, and how that changes. Input has a grade; a manifest takes grades from some on. */

import { type Duration, type Handoff, type HandoffError, queueOf, type TargetFit, type Time } from "@handfast/core";
import type { Offer } from "@handfast/engine";
import { isInRange } from "@handfast/protocol";
import type { Random } from "../random.ts";
import { Standings } from "./standings.ts";

interface Target {
  readonly to: string | null;
  readonly capability: string | null;
  readonly version_range?: string;
}

export interface Agent {
  readonly name: string;
  readonly capabilities: readonly string[];
  readonly idempotent: boolean;
  readonly attempt_ms: Duration | null;
  readonly workers: number;
  least_grade: number;
  since: Time;
}

export const most_grade = 9;
/** The capability of a human desk: its agents answer questions and take no work. */
export const desk = "desk";

export class Directory {
  readonly agents: readonly Agent[];
  readonly capabilities = ["draft", "review", "search"] as const;
  readonly senders = ["ann", "ben", "cleo"] as const;
  readonly desks = ["hugo", "iris"] as const;
  /** Null: nothing is known of anybody, and all agents are equal. */
  readonly standings: Standings | null;

  constructor(random: Random, now: Time, isRouted: boolean) {
    this.agents = ["dora", "egon", "fritz", "gita"].map((name, nth) => ({
      name,
      // Each capability has at least one agent, most have two.
      capabilities: this.capabilities.filter((_, index) => index === nth % 3 || random.chance(0.3)),
      idempotent: random.chance(0.8),
      attempt_ms: random.chance(0.5) ? random.between(5_000, 40_000) : null,
      workers: random.between(1, 3),
      least_grade: 0,
      since: now,
    }));
    const names = this.agents.map(({ name }) => name);
    this.standings = isRouted ? new Standings(random, names, now) : null;
  }

  agent(name: string): Agent {
    const agent = this.agents.find((known) => known.name === name);
    if (agent === undefined) throw new Error(`no agent ${name}`);
    return agent;
  }

  queues({ name, capabilities }: Agent): ReadonlySet<string> {
    return new Set([queueOf({ to: name, capability: null }), ...capabilities.map(queueOfCapability)]);
  }

  offering(capability: string | null): readonly Agent[] {
    return this.agents.filter(({ capabilities }) => capability !== null && capabilities.includes(capability));
  }

  /** How many agents besides those excluded could still take it. */
  others({ accepted, excluded }: Pick<Handoff, "accepted" | "excluded">): number {
    const able = accepted.to === null ? this.offering(accepted.capability) : [this.agent(accepted.to)];
    return able.filter(({ name }) => !excluded.includes(name)).length;
  }

  fit(target: Target, grade: number, now: Time): TargetFit {
    const able = target.to === null ? this.offering(target.capability) : [this.agent(target.to)];
    if (able.length === 0) return { kind: "absent" };
    const within = able.filter(({ name }) => this.#isInRange(name, target.version_range, now));
    if (within.length === 0) return { kind: "other_versions", versions: [] };
    const fitting = within.filter(({ least_grade }) => grade >= least_grade);
    if (fitting.length === 0) return { kind: "unfit", error: unfitInput(grade) };
    return { kind: "fits", except: able.filter((agent) => !fitting.includes(agent)).map(({ name }) => name) };
  }

  #isInRange(agent: string, range: string | undefined, now: Time): boolean {
    return range === undefined || isInRange(this.standings?.at(agent, now).version ?? undefined, range);
  }

  offer(name: string): Offer {
    const { attempt_ms, idempotent, since, least_grade } = this.agent(name);
    return {
      manifest: `manifest-${name}-${least_grade}`,
      attempt_ms,
      idempotent,
      since,
      check: ({ payload }) => ((payload?.[0] ?? 0) < least_grade ? unfitInput(payload?.[0] ?? 0) : null),
    };
  }

  /** An agent changes what it takes; what was accepted before may not fit any more. */
  changeManifest(random: Random, now: Time): void {
    const agent = random.pick(this.agents);
    agent.least_grade = random.chance(0.5) ? 0 : random.between(1, 6);
    agent.since = now;
    this.standings?.change(random, random.pick(this.agents).name, now);
  }
}

function queueOfCapability(capability: string): string {
  return queueOf({ to: null, capability });
}

function unfitInput(grade: number): HandoffError {
  return { reason: "input_unfit", message: `grade ${grade} is too low` };
}
