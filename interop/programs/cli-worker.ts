/** A worker without a line of code of ours: `handfast serve … -- sh task.sh`. */

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { input_schema, output_schema, type WorkerCommand } from "../protocol.ts";
import { start } from "./cli.ts";
import { commands, tell } from "./lines.ts";

const script = join(import.meta.dirname, "task.sh");
const servers: ChildProcess[] = [];

for await (const { serve } of commands<WorkerCommand>()) {
  const { agent, capability } = serve;
  const schemas = ["--input-schema", JSON.stringify(input_schema), "--output-schema", JSON.stringify(output_schema)];
  const options = ["--agent", agent, "--concurrency", "12", "--grace", "1s", ...schemas];
  const server = start(["serve", capability, ...options, "--", "sh", script]);
  server.stderr?.pipe(process.stderr);
  servers.push(server);
  await offered(server);
  tell({ serving: capability });
}
for (const server of servers) server.kill("SIGTERM");
await Promise.all(servers.map((server) => once(server, "close")));

/** It says so itself, once the relay knows. */
function offered(server: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    server.stderr?.on("data", (chunk: Buffer) => {
      if (chunk.toString().includes("serving ")) resolve();
    });
  });
}
