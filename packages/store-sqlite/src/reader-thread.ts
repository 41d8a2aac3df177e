/** The reader thread: answers one step of each request in turn, so that a long export holds nobody up. */

import { setImmediate } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { copyFile } from "./backup.ts";
import { openReader } from "./connection.ts";
import { answerRead, type ReadRequest } from "./long-reads.ts";

const path: string = workerData.path;
const connection = openReader(path);

parentPort?.on("message", async ({ id, request }: { id: number; request: ReadRequest }) => {
  try {
    parentPort?.postMessage({ id, value: await answer(id, request) });
  } catch (error) {
    parentPort?.postMessage({ id, error });
  }
});

async function answer(id: number, request: ReadRequest): Promise<unknown> {
  if (request.type === "backup") {
    return copyFile(path, request.path, (done, total) => parentPort?.postMessage({ id, progress: [done, total] }));
  }
  const steps = answerRead(connection, request);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await setImmediate();
  }
}
