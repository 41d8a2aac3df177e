/** Runs seeds on several threads, each its own share; the first failure stops all. */

import { Worker as Thread } from "node:worker_threads";
import type { SeedsOptions, SeedsResult } from "./run-seeds.ts";
import { Tally } from "./tally.ts";

export type ThreadMessage =
  | { readonly type: "seed"; readonly seed: number; readonly handoffs: number }
  | { readonly type: "result"; readonly result: SeedsResult };

/** `onSeed` is told of every seed that is done, on whichever thread. */
export async function runThreads(
  options: SeedsOptions,
  threads: number,
  onSeed: (seed: number, handoffs: number) => void = () => {},
): Promise<SeedsResult> {
  const running = new Set<Thread>();
  const shares = Array.from({ length: threads }, (_, nth) => ({
    ...options,
    first: options.first + nth,
    step: threads,
    seeds: Math.ceil((options.seeds - nth) / threads),
  }));
  const results = await Promise.all(
    shares.map(async (share) => {
      const result = await runThread(share, running, onSeed);
      if (result?.failure != null) await Promise.all([...running].map((thread) => thread.terminate()));
      return result;
    }),
  );
  return merge(results.filter((result) => result !== null));
}

/** Null: another thread's failure ended it. */
function runThread(
  share: SeedsOptions,
  running: Set<Thread>,
  onSeed: (seed: number, handoffs: number) => void,
): Promise<SeedsResult | null> {
  return new Promise((resolve, reject) => {
    const thread = new Thread(new URL("./seeds-thread.ts", import.meta.url), { workerData: share });
    running.add(thread);
    thread.on("message", (message: ThreadMessage) => {
      if (message.type === "seed") onSeed(message.seed, message.handoffs);
      else resolve(message.result);
    });
    thread.on("error", reject);
    thread.on("exit", () => {
      running.delete(thread);
      resolve(null);
    });
  });
}

function merge(results: readonly SeedsResult[]): SeedsResult {
  const tally = new Tally();
  for (const { counts } of results) tally.addAll(counts);
  const sum = (of: (result: SeedsResult) => number) => results.reduce((total, result) => total + of(result), 0);
  return {
    seeds: sum(({ seeds }) => seeds),
    handoffs: sum(({ handoffs }) => handoffs),
    virtual_ms: sum(({ virtual_ms }) => virtual_ms),
    counts: tally.counts(),
    failure: results.find(({ failure }) => failure !== null)?.failure ?? null,
  };
}
