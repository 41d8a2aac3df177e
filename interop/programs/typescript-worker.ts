/** A worker on the TypeScript client alone. */

import type { Context } from "@handfast/client";
import { input_schema, output_schema, type TaskInput } from "../protocol.ts";
import { setting } from "./lines.ts";
import { doTask } from "./task.ts";
import { runWorker } from "./worker.ts";

const name = setting("INTEROP_NAME");
const handler = (input: unknown, ctx: Context) => doTask(input as TaskInput, name, ctx);

await runWorker((hf, capability) => {
  const definition = { input: input_schema, output: output_schema, handler };
  return hf.serve({ [capability]: definition }, { signals: false, concurrency: 12 });
});
