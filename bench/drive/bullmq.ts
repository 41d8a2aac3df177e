/** BullMQ as its users use it: a Queue that adds, a Worker that works, QueueEvents that tell the sender of the result. */

import { setMaxListeners } from "node:events";
import { loadPackage } from "../obtain/npm-packages.ts";
import type { Address } from "../servers/server.ts";
import { type Driver, slots } from "./driver.ts";
import { checkAnswer, makeKilobyte } from "./kilobyte.ts";

interface Closes {
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
}
interface Job {
  waitUntilFinished(events: Closes): Promise<unknown>;
}
interface Options {
  readonly connection: { readonly host: string; readonly port: number };
  readonly concurrency?: number;
}
interface BullMq {
  readonly Queue: new (name: string, options: Options) => Closes & { add(name: string, data: object): Promise<Job> };
  readonly QueueEvents: new (name: string, options: Options) => Closes;
  readonly Worker: new (name: string, work: () => Promise<unknown>, options: Options) => Closes;
}

export async function openBullMq({ host = "", port = "" }: Address): Promise<Driver> {
  const { Queue, QueueEvents, Worker } = await loadPackage<BullMq>("bullmq");
  // Each waiting handoff listens on the queue; Node would warn of a leak at eleven.
  setMaxListeners(0);
  const connection = { host, port: Number(port) };
  const [input, output] = [makeKilobyte(), makeKilobyte()];
  const queue = new Queue("work", { connection });
  const events = new QueueEvents("work", { connection });
  const worker = new Worker("work", async () => output, { connection, concurrency: slots });
  const parts = [queue, events, worker];
  await Promise.all(parts.map((part) => part.waitUntilReady()));
  return {
    handoff: async () => {
      const job = await queue.add("work", input);
      checkAnswer(await job.waitUntilFinished(events), output);
    },
    close: async () => {
      await Promise.all(parts.toReversed().map((part) => part.close()));
    },
  };
}
