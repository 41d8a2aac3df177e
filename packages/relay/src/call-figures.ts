/** Calls, counted in plain numbers: every call pays for the counting, and the figures are asked for only now and then. */

/** Upper bounds of the buckets. */
const bounds_ms = [1, 2.5, 5, 10, 25, 50, 100, 250, 1_000, 5_000, 30_000, 60_000] as const;

interface Figures {
  readonly by_code: Map<number, number>;
  /** How many fell into each bucket, and not into the one before; the last is beyond all bounds. */
  readonly buckets: number[];
  sum_ms: number;
}

export class CallFigures {
  readonly #by_operation = new Map<string, Figures>();

  count(operation: string, code: number, took_ms: number): void {
    const figures = this.#figuresOf(operation);
    figures.by_code.set(code, (figures.by_code.get(code) ?? 0) + 1);
    let bucket = 0;
    while (bucket < bounds_ms.length && took_ms > (bounds_ms[bucket] ?? 0)) bucket += 1;
    figures.buckets[bucket] = (figures.buckets[bucket] ?? 0) + 1;
    figures.sum_ms += took_ms;
  }

  /** Operations and codes are few, and none of a stranger's making. */
  #figuresOf(operation: string): Figures {
    const known = this.#by_operation.get(operation);
    if (known !== undefined) return known;
    const figures = { by_code: new Map(), buckets: new Array<number>(bounds_ms.length + 1).fill(0), sum_ms: 0 };
    this.#by_operation.set(operation, figures);
    return figures;
  }

  /** In Prometheus' form. */
  text(): string {
    const calls: string[] = [];
    const seconds: string[] = [];
    for (const [operation, { by_code, buckets, sum_ms }] of this.#by_operation) {
      for (const [code, count] of by_code) {
        calls.push(`handfast_calls_total{operation="${operation}",code="${code}"} ${count}`);
      }
      let below = 0;
      for (const [index, count] of buckets.entries()) {
        below += count;
        const bound_ms = bounds_ms[index];
        const le = bound_ms === undefined ? "+Inf" : String(bound_ms / 1_000);
        seconds.push(`handfast_call_seconds_bucket{le="${le}",operation="${operation}"} ${below}`);
      }
      seconds.push(`handfast_call_seconds_sum{operation="${operation}"} ${sum_ms / 1_000}`);
      seconds.push(`handfast_call_seconds_count{operation="${operation}"} ${below}`);
    }
    return [
      "# HELP handfast_calls_total Calls by operation and by the code they were answered with.",
      "# TYPE handfast_calls_total counter",
      ...calls,
      "",
      "# HELP handfast_call_seconds How long calls took, waiting included.",
      "# TYPE handfast_call_seconds histogram",
      ...seconds,
      "",
    ].join("\n");
  }
}
