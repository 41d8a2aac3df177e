/** A thread's share of the seeds. */

import { parentPort, workerData } from "node:worker_threads";
import { runSeeds } from "./run-seeds.ts";
import type { ThreadMessage } from "./run-threads.ts";

const tell = (message: ThreadMessage) => parentPort?.postMessage(message);
const result = await runSeeds(workerData, { onSeed: (seed, handoffs) => tell({ type: "seed", seed, handoffs }) });
tell({ type: "result", result });
