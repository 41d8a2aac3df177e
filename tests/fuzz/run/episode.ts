/**
 * An episode: a lane's cast, some handoffs in some states, and then a row of inputs, each knowing what came of those
 * before it. Everything in it follows from the seed and its number, so that it can be played again alone.
 */

import { Scene } from "../calls/scene.ts";
import type { Troupe } from "../cast/troupe.ts";
import { chanceOf, weighted } from "../chance.ts";
import { frameInput } from "../inputs/frame-input.ts";
import { httpInput } from "../inputs/http-input.ts";
import { Lines } from "../inputs/lines.ts";
import { rawFrames } from "../inputs/raw-frames.ts";
import { rawHttp } from "../inputs/raw-http.ts";
import { slowInput } from "../inputs/slow-input.ts";
import type { Stage } from "../inputs/stage.ts";
import type { Input, Played } from "../inputs/step.ts";
import { count } from "../judge/tally.ts";
import { HonestFault, Overture } from "./overture.ts";

const kinds: readonly (readonly [weight: number, kind: { readonly name: string; readonly input: Input }])[] = [
  [54, { name: "http", input: httpInput }],
  [34, { name: "frame", input: frameInput }],
  [6, { name: "raw http", input: rawHttp }],
  [5.5, { name: "raw websocket", input: rawFrames }],
  [0.5, { name: "slow", input: slowInput }],
];

export const steps_per_episode = 80;

/** Which episode, and what of it is played. */
export interface Script {
  readonly seed: number;
  readonly episode: number;
  /** The steps to play, by their place. */
  readonly steps: readonly number[];
  /** By step, the mutations to leave out. */
  readonly without: ReadonlyMap<number, ReadonlySet<number>>;
}

export interface Failure {
  readonly script: Script;
  /** Null: it was no input that failed, but an honest call before them. */
  readonly step: number | null;
  readonly kind: string;
  readonly what: string;
  readonly played: Played | null;
}

export function wholeScript(seed: number, episode: number, length = steps_per_episode): Script {
  return { seed, episode, steps: Array.from({ length }, (_, at) => at), without: new Map() };
}

const nothing: ReadonlySet<number> = new Set();

export class Episode {
  readonly script: Script;
  /** What was sent, newest last. */
  readonly sent: { readonly step: number; readonly kind: string; readonly played: Played }[] = [];
  readonly #stage: Stage;
  readonly #scene: Scene;
  readonly #lines: Lines;
  #is_stopped = false;
  #current: { readonly step: number | null; readonly kind: string } = { step: null, kind: "honest" };

  constructor(stage: Stage, troupe: Troupe, script: Script) {
    const { url, honest_ids } = stage;
    this.script = script;
    this.#stage = stage;
    this.#scene = new Scene({ ...script, url, troupe, honest_ids });
    this.#lines = new Lines(stage);
  }

  /** No further input: something failed elsewhere. */
  stop(): void {
    this.#is_stopped = true;
    this.#lines.close();
  }

  /** What is being played fails, whoever noticed it. */
  failure(what: string, played: Played | null = null): Failure {
    return { script: this.script, ...this.#current, what, played };
  }

  async play(): Promise<Failure | null> {
    const { seed, episode } = this.script;
    const overture = new Overture(this.#stage, this.#scene, this.#lines);
    try {
      await overture.play(chanceOf(seed, episode, "overture"));
      for (const step of this.script.steps) {
        if (this.#is_stopped) return null;
        const failure = await this.#playStep(step);
        if (failure !== null) return failure;
      }
      await overture.leave();
      return null;
    } catch (error) {
      if (this.#is_stopped) return null;
      const what = error instanceof HonestFault ? error.message : `the fuzzer itself failed: ${explained(error)}`;
      return this.failure(what);
    } finally {
      this.#lines.close();
    }
  }

  async #playStep(step: number): Promise<Failure | null> {
    const { seed, episode, without } = this.script;
    const { tally } = this.#stage;
    const random = chanceOf(seed, episode, step);
    const { name, input } = weighted(random, kinds);
    this.#current = { step, kind: name };
    tally.inputs += 1;
    count(tally.kinds, name);
    const played = await input({
      stage: this.#stage,
      scene: this.#scene,
      lines: this.#lines,
      random,
      without: without.get(step) ?? nothing,
    });
    this.sent.push({ step, kind: name, played });
    return played.fault === null ? null : this.failure(played.fault, played);
  }
}

function explained(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
