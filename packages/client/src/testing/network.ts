/**
 * The network between the clients of a test and its relay: everything arrives later and in order, one thing at a time,
 * whoever sent it, so that every run is the same. Each client has an end of its own that can be cut, silenced, slowed.
 */

import type { ThreadPool } from "./node-thread-pool.ts";
import type { Stir } from "./settle.ts";
import type { VirtualClock } from "./virtual-clock.ts";

export class Network {
  readonly clock: VirtualClock;
  readonly #stir: Stir;
  readonly #pool: Pick<ThreadPool, "isBusy">;
  readonly #queue: (() => void)[] = [];
  #is_carrying = false;

  constructor(clock: VirtualClock, stir: Stir, pool: Pick<ThreadPool, "isBusy">) {
    this.clock = clock;
    this.#stir = stir;
    this.#pool = pool;
  }

  /** Until everything has arrived, and what followed from it. */
  settle(): Promise<void> {
    return this.#stir.settle(() => this.#is_carrying || this.#pool.isBusy());
  }

  /** Soon, and after everything that was posted before. */
  post(arrive: () => void): void {
    this.#queue.push(arrive);
    if (this.#is_carrying) return;
    this.#is_carrying = true;
    void this.#carry();
  }

  /** What arrived may have begun signatures on other threads; the next waits for them, or the faster one would win. */
  async #carry(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#stir.settleBriefly(() => this.#pool.isBusy());
      this.#queue.shift()?.();
    }
    this.#is_carrying = false;
  }
}

/** Whatever can be torn from outside: a connection, a request under way. */
export interface Torn {
  /** Both sides learn of it; only the relay does where the client's process is gone. */
  tear(client_is_gone: boolean): void;
}

type Direction = "to_relay" | "to_client";

/** One client's end of the network. */
export class NetworkEnd {
  readonly #network: Network;
  readonly #open = new Set<Torn>();
  readonly #held: Record<Direction, (() => void)[]> = { to_relay: [], to_client: [] };
  readonly #last_at: Record<Direction, number> = { to_relay: 0, to_client: 0 };
  /** Nothing gets through, and nobody is told. */
  #silent = false;
  /** What the client says waits until the relay is ready for it. */
  #holds = 0;
  #is_cut = false;
  #is_gone = false;
  delay_ms = 0;

  constructor(network: Network) {
    this.#network = network;
  }

  /** No connection can be opened. */
  get isCut(): boolean {
    return this.#is_cut || this.#is_gone;
  }

  get isSilent(): boolean {
    return this.#silent;
  }

  get connections(): number {
    return this.#open.size;
  }

  /** The answer takes it off again. */
  add(torn: Torn): () => void {
    this.#open.add(torn);
    return () => this.#open.delete(torn);
  }

  carry(direction: Direction, arrive: () => void): void {
    if (this.#silent || (direction === "to_relay" && this.#holds > 0)) {
      this.#held[direction].push(arrive);
      return;
    }
    const { clock } = this.#network;
    const at = Math.max(this.#last_at[direction], clock.now() + this.delay_ms);
    this.#last_at[direction] = at;
    if (at <= clock.now()) this.#network.post(arrive);
    else clock.after(at - clock.now(), () => this.#network.post(arrive));
  }

  /** Not over the network: what one side learns by itself. */
  notice(arrive: () => void): void {
    this.#network.post(arrive);
  }

  /** What this client says from now on arrives after the promise has settled. */
  holdUntil(ready: Promise<unknown>): void {
    this.#holds += 1;
    const release = () => {
      this.#holds -= 1;
      this.#letGo();
    };
    ready.then(release, release);
  }

  cut(): void {
    this.#is_cut = true;
    this.#silent = false;
    this.#tearAll(false);
  }

  silence(): void {
    this.#silent = true;
  }

  restore(): void {
    this.#is_cut = false;
    this.#silent = false;
    this.#letGo();
  }

  /** The client's process is gone, for good. */
  leave(): void {
    this.#is_gone = true;
    this.#tearAll(true);
  }

  #tearAll(client_is_gone: boolean): void {
    this.#held.to_relay.length = 0;
    this.#held.to_client.length = 0;
    for (const torn of [...this.#open]) torn.tear(client_is_gone);
    this.#open.clear();
  }

  #letGo(): void {
    for (const direction of ["to_relay", "to_client"] as const) {
      for (const arrive of this.#held[direction].splice(0)) this.carry(direction, arrive);
    }
  }
}
