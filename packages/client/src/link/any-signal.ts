/** One signal for several, and a way to let go of them: AbortSignal.any keeps its listeners for as long as they live. */

export interface JoinedSignal {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** To be called when what it guarded is over. */
  release(): void;
}

export function joinSignals(...signals: readonly (AbortSignal | undefined)[]): JoinedSignal {
  const controller = new AbortController();
  const sources = signals.filter((signal) => signal !== undefined);
  const forward = (event: Event) => controller.abort((event.target as AbortSignal).reason);
  for (const source of sources) {
    if (source.aborted) controller.abort(source.reason);
    else source.addEventListener("abort", forward, { once: true });
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => {
      for (const source of sources) source.removeEventListener("abort", forward);
    },
  };
}

/** The same for what is only listened to: where there is none or only one, nothing has to be made or let go. */
export function anySignal(...signals: readonly (AbortSignal | undefined)[]): {
  readonly signal: AbortSignal | undefined;
  release(): void;
} {
  const [first, ...more] = signals.filter((signal) => signal !== undefined);
  return first === undefined || more.length === 0 ? { signal: first, release: () => {} } : joinSignals(first, ...more);
}
