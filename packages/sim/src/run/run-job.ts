/** One thread's work: seeds, mistakes, or making a failure smaller. */

import { runSeeds } from "./run-seeds.ts";
import type { Job, Message } from "./run-threads.ts";
import { shrink } from "./shrink.ts";

export async function runJob(job: Job, tell: (message: Message) => void): Promise<void> {
  const hooks = {
    onLine: (line: string) => tell({ type: "line", line }),
    onSeed: (seed: number, handoffs: number) => tell({ type: "seed", seed, handoffs }),
  };
  switch (job.type) {
    case "seeds":
      return tell({ type: "result", result: await runSeeds(job.options, hooks) });
    case "hunt":
      for (const mistake of job.names) {
        const { seeds, handoffs, failure } = await runSeeds({ ...job.options, mistake });
        tell({ type: "hunted", hunt: { mistake, seeds, handoffs, failure } });
      }
      return;
    case "shrink":
      return tell({ type: "shrunk", failure: await shrink(job.failure, hooks.onLine) });
    default:
      throw new Error(`unreachable job ${JSON.stringify(job satisfies never)}`);
  }
}
