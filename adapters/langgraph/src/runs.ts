/**
 * The runs of this process, by thread. Two runs of one thread at once execute what follows twice, and LangGraph lets them;
 * so a thread is resumed only when no run of it is under way. LangGraph does not tell of that: the compiled graph's own
 * method, through which every way of running it goes, is told apart by a counter around it.
 */

interface Runnable {
  _streamIterator(input: unknown, options?: unknown): AsyncGenerator<unknown>;
}

const underway = new Map<string, { count: number; readonly over: PromiseWithResolvers<void> }>();
const watched = new WeakSet<object>();

interface Builder {
  compile(...options: unknown[]): object;
}

/** What is compiled from it is watched from its first run on. */
export function watchCompiled(builder: object): void {
  if (watched.has(builder)) return;
  watched.add(builder);
  const { compile } = builder as Builder;
  (builder as Builder).compile = (...options) => {
    const graph = compile.apply(builder, options);
    watchRuns(graph);
    return graph;
  };
}

/** Once for each compiled graph. */
export function watchRuns(graph: object): void {
  if (watched.has(graph)) return;
  watched.add(graph);
  const runnable = graph as Runnable;
  const run = runnable._streamIterator.bind(runnable);
  runnable._streamIterator = async function* (input, options) {
    const leave = enter(threadIn(options));
    try {
      yield* run(input, options);
    } finally {
      leave();
    }
  };
}

/** Resolves when no run of the thread is under way in this process; rejects with the signal's reason. */
export async function noRunOf(thread: string, signal: AbortSignal): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  aborted.catch(() => {});
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    for (let run = underway.get(thread); run !== undefined; run = underway.get(thread)) {
      await Promise.race([run.over.promise, aborted]);
    }
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function enter(thread: string): () => void {
  const run = underway.get(thread) ?? { count: 0, over: Promise.withResolvers<void>() };
  underway.set(thread, run);
  run.count += 1;
  return () => {
    run.count -= 1;
    if (run.count > 0) return;
    underway.delete(thread);
    run.over.resolve();
  };
}

function threadIn(options: unknown): string {
  const configurable = (options as { readonly configurable?: { readonly thread_id?: unknown } } | undefined)
    ?.configurable;
  return String(configurable?.thread_id ?? "");
}
