/**
 * pg-boss with its workers fetching and settling in batches. Two ways to wake them: its own (`notify`), which puts a
 * NOTIFY into every insert, where PostgreSQL lets such transactions commit only one after the other; or one NOTIFY at a
 * time from a connection beside, through pg-boss's own `notifyWorker`, which keeps inserts sharing their syncs.
 * The sender reads finished jobs by one query for all that it waits for.
 */

import { randomUUID } from "node:crypto";
import { loadPackage } from "../obtain/npm-packages.ts";
import type { Address } from "../servers/server.ts";
import { Answers } from "./answers.ts";
import type { Driver } from "./driver.ts";
import { checkAnswer, makeKilobyte } from "./kilobyte.ts";
import { oneAtATime } from "./one-at-a-time.ts";

interface Job {
  readonly id: string;
}
interface Boss {
  on(event: "error", listener: (error: Error) => void): void;
  start(): Promise<unknown>;
  stop(options: { readonly graceful: boolean; readonly close: boolean }): Promise<void>;
  createQueue(name: string, options: object): Promise<unknown>;
  send(name: string, data: object, options: { readonly id: string }): Promise<string | null>;
  work(name: string, options: object, handler: (jobs: readonly Job[]) => Promise<unknown>): Promise<string>;
  notifyWorker(id: string): void;
}
interface PgClient {
  connect(): Promise<unknown>;
  query(
    query: string | object,
  ): Promise<{ readonly rows: readonly { readonly id: string; readonly output: unknown }[] }>;
  on(event: "notification", listener: () => void): void;
  end(): Promise<void>;
}

const queue = "work";
const work = {
  batchSize: 64,
  burstWhenBatchFull: true,
  perJobResults: true,
  pollingIntervalSeconds: 0.5,
  notifyPollingIntervalSeconds: 0.5,
};
const workers = 2;
const sending_connections = 40;
const finished = `SELECT id, output FROM pgboss.job WHERE name = '${queue}' AND id = ANY($1::uuid[]) AND state = 'completed'`;

export const openPgBoss = (address: Address) => open(address, false);
export const openPgBossNotify = (address: Address) => open(address, true);

async function open({ url = "" }: Address, notify: boolean): Promise<Driver> {
  const { PgBoss } = await loadPackage<{ PgBoss: new (options: object) => Boss }>("pg-boss");
  const { default: pg } = await loadPackage<{ default: { Client: new (options: object) => PgClient } }>("pg");
  const [input, output] = [makeKilobyte(), makeKilobyte()];
  const start = async (max: number) => {
    const boss = new PgBoss({ connectionString: url, max, schedule: false, useListenNotify: notify });
    boss.on("error", ({ message }) => process.stderr.write(`pg-boss: ${message}\n`));
    await boss.start();
    return boss;
  };
  const connect = async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return client;
  };
  const sender = await start(sending_connections);
  const worker = await start(workers * 2 + 2);
  await sender.createQueue(queue, { notify });

  const handle = async (jobs: readonly Job[]) => jobs.map(({ id }) => ({ id, status: "completed", output }));
  const ids: string[] = [];
  for (let nth = 0; nth < workers; nth += 1) ids.push(await worker.work(queue, work, handle));
  const [reader, ear, mouth] = [await connect(), await connect(), await connect()];
  if (!notify) {
    await ear.query("LISTEN wake");
    ear.on("notification", () => {
      for (const id of ids) worker.notifyWorker(id);
    });
  }
  const answers = new Answers(async (asked) => {
    const { rows } = await reader.query({ name: "finished", text: finished, values: [asked] });
    return rows;
  });
  const wake = notify ? () => {} : oneAtATime(() => mouth.query("NOTIFY wake"), answers.fail);
  return {
    handoff: async () => {
      const id = randomUUID();
      await sender.send(queue, input, { id });
      wake();
      checkAnswer(await answers.wait(id), output);
    },
    close: async () => {
      for (const boss of [worker, sender]) await boss.stop({ graceful: false, close: true });
      for (const client of [reader, ear, mouth]) await client.end();
    },
  };
}
