/** A worker's program: every `serve` is another agent in this process. */

import { type Client, connect } from "@handfast/client";
import type { WorkerCommand } from "../protocol.ts";
import { commands, tell } from "./lines.ts";

/** `offer` resolves when the relay knows of it. */
export async function runWorker(offer: (hf: Client, capability: string) => Promise<unknown>): Promise<void> {
  const clients: Client[] = [];
  for await (const { serve } of commands<WorkerCommand>()) {
    const hf = await connect({ agent: serve.agent });
    clients.push(hf);
    await offer(hf, serve.capability);
    tell({ serving: serve.capability });
  }
  await Promise.all(clients.map((client) => client.close()));
}
