/** A thread of the simulator: sees to it that the engine's decisions can be watched, then does its share. */

import "./core-door/install.ts";
import { parentPort, workerData } from "node:worker_threads";

const { runJob } = await import("./run/run-job.ts");
await runJob(workerData, (message) => parentPort?.postMessage(message));
