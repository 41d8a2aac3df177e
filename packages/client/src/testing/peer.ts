/** One process of a test, as far as a client can tell: a clock that stops with it, chance, and an end of the network. */

import type { Surroundings } from "../surroundings.ts";
import { type Network, NetworkEnd } from "./network.ts";
import type { SeededRandom } from "./seeded-random.ts";

export class Peer {
  readonly agent: string;
  readonly name: string;
  /** A fake's: it is heard at once, and the others after it. */
  readonly isFake: boolean;
  readonly end: NetworkEnd;
  readonly surroundings: Surroundings;
  /** Timers that somebody waits for. */
  #awaited = 0;
  #is_gone = false;

  constructor(agent: string, name: string, isFake: boolean, network: Network, chance: SeededRandom) {
    this.agent = agent;
    this.name = name;
    this.isFake = isFake;
    this.end = new NetworkEnd(network);
    const { clock } = network;
    this.surroundings = {
      now: () => clock.now(),
      after: (ms, run, holds = false) => {
        let wanted = true;
        const count = holds ? 1 : 0;
        this.#awaited += count;
        const letGo = () => {
          if (wanted) this.#awaited -= count;
          wanted = false;
        };
        const runIfAlive = () => {
          if (!wanted || this.#is_gone) return;
          letGo();
          run();
        };
        // What is due now needs no time to pass.
        if (ms <= 0) network.post(runIfAlive);
        const callOff = ms > 0 ? clock.after(ms, runIfAlive) : () => {};
        return () => {
          letGo();
          callOff();
        };
      },
      random: chance.random,
      randomBytes: chance.randomBytes,
    };
  }

  get isGone(): boolean {
    return this.#is_gone;
  }

  /** It has lost its relay and waits to try again; one that has nothing to say does not. */
  get isAway(): boolean {
    return !this.#is_gone && this.end.connections === 0 && this.#awaited > 0;
  }

  /** Dies without a word: no timer of it runs any more, nothing it says is heard. */
  die(): void {
    this.#is_gone = true;
    this.end.leave();
  }
}
