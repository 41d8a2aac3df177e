/** One input of an episode: where it is played, by which chance, and what came of it. */

import type { Scene } from "../calls/scene.ts";
import type { Random } from "../chance.ts";
import type { Lines } from "./lines.ts";
import type { Stage } from "./stage.ts";

export interface Step {
  readonly stage: Stage;
  readonly scene: Scene;
  readonly lines: Lines;
  readonly random: Random;
  /** Mutations that are left out, by their place. */
  readonly without: ReadonlySet<number>;
}

export interface Played {
  /** What the relay did wrong; null: nothing. */
  readonly fault: string | null;
  /** How many mutations there were to leave out. */
  readonly mutations: number;
  /** What was done wrong to the input. */
  readonly done: readonly string[];
  /** Who said it. */
  readonly persona: string;
  /** The exact bytes that were sent, where they went over one connection. */
  readonly bytes: Buffer;
}

export type Input = (step: Step) => Promise<Played>;
