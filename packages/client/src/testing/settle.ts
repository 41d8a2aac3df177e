/**
 * Lets everything that is under way come to rest while the clock stands still.
 *
 * At rest means: for several turns of the event loop nobody noted an activity (a frame, a timer that was set, a batch of
 * the engine) and nobody is busy (a frame on its way, a signature on another thread). Promises need no counting: they all
 * run within one turn.
 */

/** Code that passes its turn a few times without noting anything is still waited for. */
const calm_turns = 12;
/** The relay's own parts pass it twice at most. */
const short_calm_turns = 4;
/** Of real time. Something that goes on this long without the clock moving goes on for ever. */
const longest_ms = 20_000;

// Taken now: a test may put its runner's fake timers in their place.
const { setImmediate: nextTurn, performance: stopwatch } = globalThis;

export class Stir {
  #noted = 0;
  readonly #busy: (() => boolean)[] = [];

  /** Something happens just now. */
  note(): void {
    this.#noted += 1;
  }

  /** Asked in every turn: whether something is under way. */
  watch(isBusy: () => boolean): void {
    this.#busy.push(isBusy);
  }

  /** `alsoBusy` is asked besides. */
  settle(alsoBusy: () => boolean): Promise<void> {
    return this.#calm(calm_turns, alsoBusy);
  }

  /** A shorter rest, between one thing that arrives and the next. */
  settleBriefly(alsoBusy: () => boolean): Promise<void> {
    return this.#calm(short_calm_turns, alsoBusy);
  }

  async #calm(turns: number, alsoBusy: () => boolean): Promise<void> {
    const give_up = stopwatch.now() + longest_ms;
    let calm = 0;
    while (calm < turns) {
      const before = this.#noted;
      await turn();
      const isBusy = this.#noted !== before || alsoBusy() || this.#busy.some((busy) => busy());
      calm = isBusy ? 0 : calm + 1;
      if (stopwatch.now() > give_up) throw new Error(neverRests);
    }
  }
}

const neverRests =
  `The test relay did not come to rest within ${longest_ms / 1_000} s of real time, without any virtual time passing. ` +
  "Something calls itself again and again: look for a handler or a test that sends, retries or reconnects without a pause.";

/** Everything else that waits has its turn. */
export function turn(): Promise<void> {
  return new Promise((resolve) => nextTurn(resolve));
}
