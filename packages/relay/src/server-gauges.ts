/** Figures of a store on a server, and of signals between nodes. They are there once there is something to tell. */

import type { HeldBack, StoreServer } from "@handfast/engine";
import { Gauge, Histogram, type Registry } from "prom-client";

export interface ServerFigures {
  readonly pool: ReturnType<StoreServer["pool"]>;
  /** Null: the server did not answer in time. */
  readonly held: readonly HeldBack[] | null;
}

export class ServerGauges {
  readonly #registry: Registry;
  #gauges: ReturnType<typeof makeGauges> | null = null;
  #lag: Histogram | null = null;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  tell({ pool, held }: ServerFigures): void {
    this.#gauges ??= makeGauges(this.#registry);
    const { connections, waiting, transactions, seconds } = this.#gauges;
    connections.set({ state: "busy" }, pool.busy);
    connections.set({ state: "idle" }, pool.size - pool.busy);
    waiting.set(pool.waiting);
    seconds.reset();
    transactions.reset();
    if (held === null) return;
    // Whoever watches it sees that nothing is held, not that nothing is known.
    for (const holder of ["session", "standby", "slot", "prepared"]) transactions.set({ holder }, 0);
    for (const one of held) {
      transactions.set({ holder: one.holder }, one.transactions);
      if (one.seconds !== null) seconds.set({ holder: one.holder }, one.seconds);
    }
  }

  signalled(lag_ms: number): void {
    this.#lag ??= new Histogram({
      name: "handfast_signal_lag_seconds",
      help: "From a commit of another node until its signal was heard here, by the database's clock.",
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
      registers: [this.#registry],
    });
    this.#lag.observe(lag_ms / 1_000);
  }
}

function makeGauges(registry: Registry) {
  const registers = [registry];
  return {
    connections: new Gauge({
      name: "handfast_pool_connections",
      help: "Connections that read from the database: busy with a statement, or idle.",
      labelNames: ["state"],
      registers,
    }),
    waiting: new Gauge({
      name: "handfast_pool_waiting",
      help: "Statements that wait behind another one, because every connection that reads is busy.",
      registers,
    }),
    transactions: new Gauge({
      name: "handfast_oldest_xmin_transactions",
      help: "How many transactions have begun since the oldest one whose holder keeps old rows from being cleaned up.",
      labelNames: ["holder"],
      registers,
    }),
    seconds: new Gauge({
      name: "handfast_oldest_xmin_seconds",
      help: "How long the oldest of them has been open, where the database knows.",
      labelNames: ["holder"],
      registers,
    }),
  };
}
