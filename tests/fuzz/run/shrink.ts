/** Makes a failure smaller: leaves out steps and mutations, one after the other, while it still fails. */

import type { Failure, Script } from "./episode.ts";
import type { RelayOptions } from "./relay-under-fire.ts";
import { type Replayed, replay } from "./replay.ts";

const replays_most = 48;

export interface Shrunk {
  readonly script: Script;
  readonly replayed: Replayed;
  readonly replays: number;
}

/** Null: none of these episodes fails when it is played alone. */
export async function shrink(
  suspects: readonly Script[],
  options: RelayOptions,
  say: (line: string) => void,
): Promise<Shrunk | null> {
  for (const suspect of suspects) {
    const replayed = await replay(suspect, options);
    if (replayed.failure === null) continue;
    say(`episode ${suspect.episode} fails alone: ${replayed.failure.what.slice(0, 300)}`);
    return new Shrinking(options, say).run(upTo(suspect, replayed.failure), replayed);
  }
  return null;
}

/** Nothing that comes after it had a part in it. */
function upTo(script: Script, { step }: Failure): Script {
  return step === null ? { ...script, steps: [] } : { ...script, steps: script.steps.filter((each) => each <= step) };
}

class Shrinking {
  readonly #options: RelayOptions;
  readonly #say: (line: string) => void;
  #replays = 1;
  #best: Replayed | null = null;

  constructor(options: RelayOptions, say: (line: string) => void) {
    this.#options = options;
    this.#say = say;
  }

  async run(script: Script, first: Replayed): Promise<Shrunk> {
    const fewer_steps = await this.#fewerSteps(script);
    const fewer_mutations = await this.#fewerMutations(fewer_steps, this.#best ?? first);
    return { script: fewer_mutations, replayed: this.#best ?? first, replays: this.#replays };
  }

  async #fails(script: Script): Promise<boolean> {
    if (this.#replays >= replays_most) return false;
    this.#replays += 1;
    const replayed = await replay(script, this.#options);
    if (replayed.failure === null) return false;
    this.#best = replayed;
    this.#say(`still fails with ${script.steps.length} step(s)`);
    return true;
  }

  /** First large pieces, then smaller ones. */
  async #fewerSteps(script: Script): Promise<Script> {
    let best = script;
    for (let size = Math.ceil(best.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (let at = 0; at < best.steps.length; ) {
        const smaller = { ...best, steps: best.steps.toSpliced(at, size) };
        if (await this.#fails(smaller)) best = smaller;
        else at += size;
      }
    }
    return best;
  }

  async #fewerMutations(script: Script, { episode }: Replayed): Promise<Script> {
    let best = script;
    for (const { step, played } of episode.sent) {
      for (let mutation = 0; mutation < played.mutations; mutation += 1) {
        const left_out = new Set([...(best.without.get(step) ?? []), mutation]);
        const smaller = { ...best, without: new Map([...best.without, [step, left_out]]) };
        if (await this.#fails(smaller)) best = smaller;
      }
    }
    return best;
  }
}
