/**
 * graphile-worker with what it offers for many small jobs: a local queue that fetches as many as it can run, and completions in
 * batches. It keeps no results: its task writes them into a table of the user's, many in one insert, and only then is done; the
 * sender reads that table by one query for all that it waits for.
 */

import { randomUUID } from "node:crypto";
import { loadPackage } from "../obtain/npm-packages.ts";
import type { Address } from "../servers/server.ts";
import { Answers } from "./answers.ts";
import { type Driver, slots } from "./driver.ts";
import { checkAnswer, makeKilobyte } from "./kilobyte.ts";
import { oneAtATime } from "./one-at-a-time.ts";

interface Payload {
  readonly id: string;
}
interface GraphileWorker {
  makeWorkerUtils(options: object): Promise<{
    migrate(): Promise<void>;
    addJob(task: string, payload: object): Promise<unknown>;
    release(): Promise<void>;
  }>;
  run(options: object): Promise<{ stop(): Promise<void> }>;
  readonly Logger: new (make: () => () => void) => object;
}
interface Pg {
  readonly default: { readonly Pool: new (options: object) => PgPool };
}
interface PgPool {
  query(
    query: string | object,
  ): Promise<{ readonly rows: readonly { readonly id: string; readonly output: unknown }[] }>;
  end(): Promise<void>;
}

const sending_connections = 40;
const poll_ms = 500;
const schema = "CREATE TABLE result (id uuid PRIMARY KEY, output jsonb NOT NULL)";
const keep = "INSERT INTO result SELECT * FROM unnest($1::uuid[], $2::jsonb[])";
const finished = "SELECT id, output FROM result WHERE id = ANY($1::uuid[])";

export async function openGraphileWorker({ url = "" }: Address): Promise<Driver> {
  const { makeWorkerUtils, run, Logger } = await loadPackage<GraphileWorker>("graphile-worker");
  const { Pool } = (await loadPackage<Pg>("pg")).default;
  const [input, output] = [makeKilobyte(), makeKilobyte()];
  // It tells of every job.
  const logger = new Logger(() => () => {});
  const open = (max: number) => new Pool({ connectionString: url, max });
  const [sending, working, results] = [open(sending_connections), open(sending_connections), open(4)];
  const sender = await makeWorkerUtils({ pgPool: sending, logger });
  await sender.migrate();
  await results.query(schema);
  const answers = new Answers(async (asked) => {
    return (await results.query({ name: "finished", text: finished, values: [asked] })).rows;
  });
  const answer = keepTogether(results, JSON.stringify(output), answers.fail);
  const worker = await run({
    pgPool: working,
    logger,
    noHandleSignals: true,
    concurrency: slots,
    pollInterval: poll_ms,
    taskList: { work: ({ id }: Payload) => answer(id) },
    preset: { worker: { localQueue: { size: slots + 1 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
  });
  return {
    handoff: async () => {
      const id = randomUUID();
      await sender.addJob("work", { id, ...input });
      checkAnswer(await answers.wait(id), output);
    },
    close: async () => {
      await worker.stop();
      await sender.release();
      await Promise.all([sending, working, results].map((pool) => pool.end()));
    },
  };
}

/** Answers that come while others are written go together in the next insert; each task is done when its own is safe. */
function keepTogether(results: PgPool, output: string, fail: (error: unknown) => void): (id: string) => Promise<void> {
  let waiting: { readonly id: string; readonly done: () => void }[] = [];
  const write = oneAtATime(async () => {
    const batch = waiting;
    waiting = [];
    const ids = batch.map(({ id }) => id);
    await results.query({ name: "keep", text: keep, values: [ids, ids.map(() => output)] });
    for (const { done } of batch) done();
  }, fail);
  return (id) =>
    new Promise((done) => {
      waiting.push({ id, done });
      write();
    });
}
