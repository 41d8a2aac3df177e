/**
 * What is done wrong to an input. The mutations of a step are chosen before anything is made, each with chance of its
 * own: so any of them can be left out while the others stay as they were, until only those are left that it takes.
 */

import type { Scene } from "../calls/scene.ts";
import type { Persona } from "../cast/persona.ts";
import type { Random } from "../chance.ts";

export interface Around {
  readonly random: Random;
  readonly scene: Scene;
  readonly persona: Persona;
}

/** Changes what it is given, or gives back another. */
export interface Mutation<T> {
  readonly name: string;
  readonly apply: (target: T, around: Around) => T;
}

export type Phase = "document" | "proof" | "tree" | "text" | "credential" | "http" | "frame";

interface Chosen {
  readonly phase: Phase;
  readonly random: Random;
}

const counts = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 3, 5];

export class Mutations {
  /** What was done, in order: for people. */
  readonly done: string[] = [];
  /** How many were chosen, whether they were left out or not. */
  readonly count: number;
  readonly #chosen: readonly Chosen[];

  /** `without`: the places, in the order they were chosen, of those to be left out. */
  constructor(random: Random, phases: readonly Phase[], without: ReadonlySet<number>) {
    const all = Array.from({ length: phases.length === 0 ? 0 : random.pick(counts) }, () => ({
      phase: random.pick(phases),
      random: random.fork(),
    }));
    this.count = all.length;
    this.#chosen = all.filter((_, at) => !without.has(at));
  }

  static none(random: Random): Mutations {
    return new Mutations(random, [], new Set());
  }

  has(phase: Phase): boolean {
    return this.#chosen.some((each) => each.phase === phase);
  }

  apply<T>(phase: Phase, target: T, mutations: readonly Mutation<T>[], scene: Scene, persona: Persona): T {
    let result = target;
    for (const { random } of this.#chosen.filter((each) => each.phase === phase)) {
      const mutation = random.pick(mutations);
      this.done.push(`${phase}: ${mutation.name}`);
      result = mutation.apply(result, { random, scene, persona });
    }
    return result;
  }
}
