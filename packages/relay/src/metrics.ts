/** What the relay counts, in Prometheus' form. Names and codes only: never ids, payloads or keys. */

import type { Engine } from "@handfast/engine";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

export class Metrics {
  readonly #registry = new Registry();
  readonly #calls: Counter<"operation" | "code">;
  readonly #seconds: Histogram<"operation">;
  readonly #commit_seconds: Histogram;
  readonly #commit_units: Histogram;
  readonly #handoffs: Gauge<"state">;
  readonly #engine: Gauge<"what">;
  readonly #streams: Gauge;
  readonly #cut: Counter;
  readonly #faults: Counter<"kind">;

  constructor() {
    const registers = [this.#registry];
    // Event loop delay, memory, CPU of the process.
    collectDefaultMetrics({ register: this.#registry });
    this.#calls = new Counter({
      name: "handfast_calls_total",
      help: "Calls by operation and by the code they were answered with.",
      labelNames: ["operation", "code"],
      registers,
    });
    this.#seconds = new Histogram({
      name: "handfast_call_seconds",
      help: "How long calls took, waiting included.",
      labelNames: ["operation"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30, 60],
      registers,
    });
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
  }

  called(operation: string, code: number, took_ms: number): void {
    this.#calls.inc({ operation, code: String(code) });
    this.#seconds.observe({ operation }, took_ms / 1_000);
  }

  committed(units: number, took_ms: number): void {
    this.#commit_units.observe(units);
    this.#commit_seconds.observe(took_ms / 1_000);
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

  fault(kind: "recovery" | "failure" | "mistake"): void {
    this.#faults.inc({ kind });
  }

  async text(stats: ReturnType<Engine["stats"]>, counts: Readonly<Record<string, number>>): Promise<string> {
    this.#handoffs.reset();
    for (const [state, count] of Object.entries(counts)) this.#handoffs.set({ state }, count);
    for (const [what, value] of Object.entries(stats)) {
      if (typeof value === "number") this.#engine.set({ what }, value);
    }
    return this.#registry.metrics();
  }

  get content_type(): string {
    return this.#registry.contentType;
  }
}
