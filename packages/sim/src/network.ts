/** The way between an actor and the relay: delays, losses both ways, copies; and with the delays, another order. */

import type { Duration } from "@handfast/core";
import { EngineFault } from "@handfast/engine";
import type { Faults } from "./faults.ts";
import { InjectedFault } from "./faulty-store.ts";
import type { Random } from "./random.ts";
import type { Front, Relay, RelayProcess } from "./relay.ts";
import type { Tally } from "./tally.ts";
import type { Timeline } from "./timeline.ts";

/** What a caller hears: an answer, that the relay could not, or nothing. */
export type Reply<T> =
  | { readonly kind: "answer"; readonly value: T }
  | { readonly kind: "fault"; readonly code: number }
  | { readonly kind: "lost" };

export interface Call<T> {
  /** Runs at the relay; what it returns is on its way when it resolves. */
  readonly act: (front: Front, process: RelayProcess) => Promise<T>;
  readonly patience_ms: Duration;
  /** Of several copies, one that says nothing is not the last word. */
  readonly saysNothing?: (value: T) => boolean;
  /** The relay noticed that the answer did not arrive. */
  readonly undelivered?: (value: T, front: Front) => void;
}

interface NetworkOptions {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly faults: () => Faults;
  readonly relay: Relay;
  readonly tally: Tally;
  readonly onBug: (error: unknown) => void;
}

export class Network {
  readonly #options: NetworkOptions;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  call<T>(call: Call<T>): Promise<Reply<T>> {
    const { timeline, random, faults, tally } = this.#options;
    return new Promise((resolve) => {
      let copies = 1;
      let over = false;
      const finish = (reply: Reply<T>) => {
        copies -= 1;
        const last = copies <= 0 || (reply.kind === "answer" && call.saysNothing?.(reply.value) !== true);
        if (over || !last) return;
        over = true;
        giveUp();
        resolve(reply);
      };
      const giveUp = timeline.schedule(call.patience_ms, () => {
        copies = 0;
        finish({ kind: "lost" });
      });
      if (random.chance(faults().duplicated)) {
        tally.add("faults", "request copied");
        copies += 1;
        this.#send(call, finish);
      }
      this.#send(call, finish);
    });
  }

  #send<T>(call: Call<T>, finish: (reply: Reply<T>) => void): void {
    const { timeline, random, faults, tally } = this.#options;
    if (random.chance(faults().request_lost)) return tally.add("faults", "request lost");
    timeline.schedule(this.#delay(), () => this.#arrive(call, finish));
  }

  #arrive<T>(call: Call<T>, finish: (reply: Reply<T>) => void): void {
    const { timeline, random, relay } = this.#options;
    const { process } = relay;
    const broken = () => timeline.schedule(this.#delay(), () => finish({ kind: "lost" }));
    if (process === null) return void broken();
    // A dead process is noticed by most callers at once, and by the others when their patience ends.
    const noticed = random.chance(0.8);
    const forget = process.onDeath(() => {
      if (noticed) broken();
    });
    process.run(() => {
      call.act(process.front, process).then(
        (value) => {
          forget();
          if (process.alive) this.#answer(call, value, process, finish);
        },
        (error: unknown) => {
          forget();
          if (process.alive) this.#refuse(error, finish);
        },
      );
    });
  }

  #answer<T>(call: Call<T>, value: T, process: RelayProcess, finish: (reply: Reply<T>) => void): void {
    const { timeline, random, faults, tally } = this.#options;
    if (random.chance(faults().answer_lost)) {
      tally.add("faults", "answer lost");
      if (random.chance(0.3)) process.schedule(this.#delay(), () => call.undelivered?.(value, process.front));
      return;
    }
    timeline.schedule(this.#delay(), () => finish({ kind: "answer", value }));
  }

  #refuse<T>(error: unknown, finish: (reply: Reply<T>) => void): void {
    const { timeline, random, faults, tally, onBug } = this.#options;
    if (!(error instanceof EngineFault) && !(error instanceof InjectedFault)) onBug(error);
    const code = error instanceof EngineFault ? error.code : 500;
    tally.add("engine faults", error instanceof EngineFault ? error.reason : "store");
    if (random.chance(faults().answer_lost)) return;
    timeline.schedule(this.#delay(), () => finish({ kind: "fault", code }));
  }

  #delay(): Duration {
    const { random, faults } = this.#options;
    const { slow, delay_most_ms } = faults();
    if (random.chance(slow)) return random.skewed(delay_most_ms, 40_000);
    return random.skewed(0, delay_most_ms);
  }
}
