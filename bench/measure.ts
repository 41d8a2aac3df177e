/** Runs one way of doing full durable handoffs at a given concurrency and says how fast it was. */

export interface Figure {
  readonly concurrency: number;
  readonly handoffs: number;
  readonly per_second: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
}

/** `handoff` resolves when the sender has the outcome of one handoff. */
export async function measure(concurrency: number, seconds: number, handoff: () => Promise<void>): Promise<Figure> {
  const took_ms: number[] = [];
  const began = performance.now();
  const until = began + seconds * 1_000;
  const loop = async () => {
    while (performance.now() < until) {
      const asked = performance.now();
      await handoff();
      took_ms.push(performance.now() - asked);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
  const elapsed_s = (performance.now() - began) / 1_000;
  took_ms.sort((a, b) => a - b);
  return {
    concurrency,
    handoffs: took_ms.length,
    per_second: Math.round(took_ms.length / elapsed_s),
    p50_ms: percentile(took_ms, 0.5),
    p99_ms: percentile(took_ms, 0.99),
  };
}

function percentile(sorted: readonly number[], share: number): number {
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return Math.round(value * 100) / 100;
}
