/**
 * A relay under a clock that somebody else rules: its chance is the same in every run, and it can be told when all that it
 * has begun is done, so that the clock moves on only then.
 */

import type { InProcessRelay } from "@handfast/relay/in-process";
import { loadRelay } from "./load-relay.ts";
import type { ThreadPool } from "./node-thread-pool.ts";
import { seededRandom } from "./seeded-random.ts";
import { Stir, turn } from "./settle.ts";
import { VirtualClock } from "./virtual-clock.ts";

export interface ClockedRelayOptions {
  /** When time begins, in milliseconds since 1970. */
  readonly start_at: number;
  /** Of all chance in it. */
  readonly seed: number;
  /** Also on a free port of this machine; `onRequest` is told of what arrives there. Default: on none. */
  readonly listen?: Required<Parameters<typeof InProcessRelay.start>[0]>["listen"];
}

export class ClockedRelay {
  readonly relay: InProcessRelay;
  readonly clock: VirtualClock;
  /** Told of everything that begins. */
  readonly stir: Stir;
  readonly pool: ThreadPool;

  private constructor(relay: InProcessRelay, clock: VirtualClock, stir: Stir, pool: ThreadPool) {
    this.relay = relay;
    this.clock = clock;
    this.stir = stir;
    this.pool = pool;
    stir.watch(() => relay.isBusy());
  }

  static async start({ start_at, seed, listen }: ClockedRelayOptions): Promise<ClockedRelay> {
    const Relay = await loadRelay();
    const { watchThreadPool } = await import("./node-thread-pool.ts");
    const stir = new Stir();
    const clock = new VirtualClock(start_at, () => stir.note());
    const defer = (run: () => void) => {
      stir.note();
      void turn().then(run);
    };
    const schedule = (ms: number, run: () => void) => clock.after(ms, run);
    const surroundings = { now: () => clock.now(), ...seededRandom(seed, "the relay"), schedule, defer };
    const relay = await Relay.start({ surroundings, ...(listen === undefined ? {} : { listen }) });
    return new ClockedRelay(relay, clock, stir, watchThreadPool(stir));
  }

  async stop(): Promise<void> {
    await this.relay.stop();
    this.pool.stop();
  }
}
