/** What the relay counts, in Prometheus' form. Names and codes only: never ids, payloads or keys. */

import type { Engine } from "@handfast/engine";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { CallFigures } from "./call-figures.ts";
import type { MeasuredPair } from "./directory/reliability/reliability.ts";
import { type ServerFigures, ServerGauges } from "./server-gauges.ts";

/** What is not counted as it happens, but looked up when somebody asks. */
export interface LookedUp {
  readonly stats: ReturnType<Engine["stats"]>;
  /** Null: the store did not answer in time. */
  readonly counts: Readonly<Record<string, number>> | null;
  /** Null: the store has no server. */
  readonly server: ServerFigures | null;
  /** The busiest pairs of agent and capability: a bounded number. */
  readonly measured: readonly MeasuredPair[];
}

export class Metrics {
  readonly #registry = new Registry();
  readonly #calls = new CallFigures();
  readonly #commit_seconds: Histogram;
  readonly #commit_units: Histogram;
  readonly #claim_seconds: Histogram;
  readonly #server: ServerGauges;
  readonly #answers: Gauge;
  readonly #handoffs: Gauge<"state">;
  readonly #engine: Gauge<"what">;
  readonly #streams: Gauge;
  readonly #cut: Counter;
  readonly #faults: Counter<"kind">;
  readonly #connections: Gauge;
  readonly #closed: Counter<"code">;
  readonly #reliability: Gauge<"agent" | "capability" | "bound">;
  readonly #attempts: Gauge<"agent" | "capability">;
  readonly #latency: Gauge<"agent" | "capability" | "quantile">;

  /** `process`: also the event loop's delay, memory and CPU of the whole process. `node`: what it is called among several. */
  constructor({ process, node }: { readonly process: boolean; readonly node: string | null }) {
    const registers = [this.#registry];
    if (node !== null) {
      const help = "What this node is called, as a label.";
      new Gauge({ name: "handfast_node_info", help, labelNames: ["node"], registers }).set({ node }, 1);
    }
    if (process) collectDefaultMetrics({ register: this.#registry });
    this.#commit_seconds = new Histogram({
      name: "handfast_commit_seconds",
      help: "How long commits to the store took.",
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5],
      registers,
    });
    this.#commit_units = new Histogram({
      name: "handfast_commit_units",
      help: "How many units shared one commit.",
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
      registers,
    });
    this.#claim_seconds = new Histogram({
      name: "handfast_claim_seconds",
      help: "How long claims took until they had work, or it was certain that there was none for them yet.",
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
      registers,
    });
    this.#server = new ServerGauges(this.#registry);
    this.#answers = new Gauge({
      name: "handfast_store_answers",
      help: "Whether the store answered what was asked for these figures in time: 1, or 0.",
      registers,
    });
    this.#handoffs = new Gauge({
      name: "handfast_handoffs",
      help: "Handoffs kept, by state; queued is the queue's depth.",
      labelNames: ["state"],
      registers,
    });
    this.#engine = new Gauge({
      name: "handfast_engine",
      help: "What waits in the engine, and the space it has.",
      labelNames: ["what"],
      registers,
    });
    this.#streams = new Gauge({ name: "handfast_streams", help: "Event streams open now.", registers });
    this.#cut = new Counter({
      name: "handfast_streams_cut_total",
      help: "Event streams cut because their reader did not read.",
      registers,
    });
    this.#faults = new Counter({
      name: "handfast_faults_total",
      help: "Faults of the relay itself: a failed commit, a mistake.",
      labelNames: ["kind"],
      registers,
    });
    this.#connections = new Gauge({ name: "handfast_connections", help: "WebSockets open now.", registers });
    this.#closed = new Counter({
      name: "handfast_connections_closed_total",
      help: "WebSockets that ended, by their close code.",
      labelNames: ["code"],
      registers,
    });
    this.#reliability = new Gauge({
      name: "handfast_reliability",
      help: "Between these bounds lies an agent's share of attempts that succeed, with 95 % confidence.",
      labelNames: ["agent", "capability", "bound"],
      registers,
    });
    this.#attempts = new Gauge({
      name: "handfast_reliability_attempts",
      help: "How many attempts the bounds come from, each weighing less the older it is.",
      labelNames: ["agent", "capability"],
      registers,
    });
    this.#latency = new Gauge({
      name: "handfast_reliability_latency_seconds",
      help: "How long attempts that succeeded took, from the ack to the end.",
      labelNames: ["agent", "capability", "quantile"],
      registers,
    });
  }

  called(operation: string, code: number, took_ms: number): void {
    this.#calls.count(operation, code, took_ms);
  }

  committed(units: number, took_ms: number): void {
    this.#commit_units.observe(units);
    this.#commit_seconds.observe(took_ms / 1_000);
  }

  claimed(took_ms: number): void {
    this.#claim_seconds.observe(took_ms / 1_000);
  }

  /** Another node has told that it committed. */
  signalled(lag_ms: number): void {
    this.#server.signalled(lag_ms);
  }

  streamOpened(): void {
    this.#streams.inc();
  }

  streamClosed(): void {
    this.#streams.dec();
  }

  streamCut(): void {
    this.#cut.inc();
  }

  connectionOpened(): void {
    this.#connections.inc();
  }

  connectionClosed(code: number): void {
    this.#connections.dec();
    // Of codes that peers make up there are thousands.
    this.#closed.inc({ code: code < 1_016 || (code >= 4_400 && code < 4_500) ? String(code) : "other" });
  }

  fault(kind: "recovery" | "failure" | "mistake"): void {
    this.#faults.inc({ kind });
  }

  async text({ stats, counts, measured, server }: LookedUp): Promise<string> {
    if (server !== null) this.#server.tell(server);
    this.#handoffs.reset();
    this.#answers.set(counts === null || server?.held === null ? 0 : 1);
    for (const [state, count] of Object.entries(counts ?? {})) this.#handoffs.set({ state }, count);
    for (const [what, value] of Object.entries(stats)) {
      if (typeof value === "number") this.#engine.set({ what }, value);
    }
    this.#tellMeasured(measured);
    return `${await this.#registry.metrics()}\n${this.#calls.text()}`;
  }

  #tellMeasured(pairs: readonly MeasuredPair[]): void {
    this.#reliability.reset();
    this.#attempts.reset();
    this.#latency.reset();
    for (const { agent, capability, measured } of pairs) {
      const { n, lower, upper, p50_ms, p95_ms } = measured;
      this.#reliability.set({ agent, capability, bound: "lower" }, lower);
      this.#reliability.set({ agent, capability, bound: "upper" }, upper);
      this.#attempts.set({ agent, capability }, n);
      if (p50_ms !== null) this.#latency.set({ agent, capability, quantile: "0.5" }, p50_ms / 1_000);
      if (p95_ms !== null) this.#latency.set({ agent, capability, quantile: "0.95" }, p95_ms / 1_000);
    }
  }

  get content_type(): string {
    return this.#registry.contentType;
  }
}
