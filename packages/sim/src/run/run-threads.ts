/**
 * Runs seeds, or hunts for mistakes, on several threads, each its own share. A failure stops every thread that is
 * past its seed; the others go on up to it, so that the lowest seed that fails is the one that is told.
 */

import { Worker as Thread } from "node:worker_threads";
import { type Failure, type SeedsOptions, type SeedsResult, Sum } from "./run-seeds.ts";

/** What a thread is to do. */
export type Job =
  | { readonly type: "seeds"; readonly options: SeedsOptions }
  | { readonly type: "hunt"; readonly names: readonly string[]; readonly options: SeedsOptions }
  | { readonly type: "shrink"; readonly failure: Failure };

/** What came of putting one mistake back. */
export interface Hunt {
  readonly mistake: string;
  readonly seeds: number;
  readonly handoffs: number;
  /** Null: it was not found. */
  readonly failure: Failure | null;
}

export type Message =
  | { readonly type: "line"; readonly line: string }
  | { readonly type: "seed"; readonly seed: number; readonly handoffs: number }
  | { readonly type: "result"; readonly result: SeedsResult }
  | { readonly type: "hunted"; readonly hunt: Hunt }
  | { readonly type: "shrunk"; readonly failure: Failure };

const thread_file = new URL("../seeds-thread.ts", import.meta.url);

/** `onMessage` is told of every line and every seed that held, on whichever thread. */
export async function runThreads(
  options: SeedsOptions,
  threads: number,
  onMessage: (message: Message) => void = () => {},
): Promise<SeedsResult> {
  /** The seed that each of them is at. */
  const seeds = new Map<Thread, number>();
  const sum = new Sum();
  const stopThosePast = (failed: number) => {
    for (const [thread, seed] of seeds) if (seed > failed) void thread.terminate();
  };
  const shares = Array.from({ length: threads }, (_, nth) => ({
    ...options,
    first: options.first + nth,
    step: threads,
    seeds: Math.ceil((options.seeds - nth) / threads),
    total: options.total == null ? null : Math.ceil(options.total / threads),
  }));
  await Promise.all(
    shares.map((share) => {
      const thread = startThread({ type: "seeds", options: share });
      seeds.set(thread, share.first);
      return untilOver(thread, (message) => {
        onMessage(message);
        if (message.type === "seed") seeds.set(thread, message.seed + threads);
        if (message.type === "result") sum.addAll(message.result);
        if (sum.failure !== null) stopThosePast(sum.failure.seed);
      });
    }),
  );
  return sum.result();
}

/** Puts each of these mistakes back and runs seeds until it is found. */
export async function huntMistakes(
  names: readonly string[],
  options: SeedsOptions,
  threads: number,
  onHunt: (hunt: Hunt) => void = () => {},
): Promise<readonly Hunt[]> {
  const hunts = new Map<string, Hunt>();
  const shares = Array.from({ length: threads }, (_, nth) => names.filter((_name, index) => index % threads === nth));
  await Promise.all(
    shares.map((share) =>
      untilOver(startThread({ type: "hunt", names: share, options }), (message) => {
        if (message.type !== "hunted") return;
        hunts.set(message.hunt.mistake, message.hunt);
        onHunt(message.hunt);
      }),
    ),
  );
  return names.flatMap((name) => hunts.get(name) ?? []);
}

/** A smaller world in which the same promise is broken. */
export async function shrinkOnThread(failure: Failure, onMessage: (message: Message) => void): Promise<Failure> {
  let smallest = failure;
  await untilOver(startThread({ type: "shrink", failure }), (message) => {
    onMessage(message);
    if (message.type === "shrunk") smallest = message.failure;
  });
  return smallest;
}

function startThread(job: Job): Thread {
  return new Thread(thread_file, { workerData: job });
}

/** Its work was done, or another thread's failure ended it. */
function untilOver(thread: Thread, onMessage: (message: Message) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    thread.on("message", onMessage);
    thread.on("error", reject);
    thread.on("exit", () => resolve());
  });
}
