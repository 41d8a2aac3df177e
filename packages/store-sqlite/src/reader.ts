/** The near side of the reader thread: sends requests, matches answers to them. */

import { Worker } from "node:worker_threads";
import type { BackupProgress } from "./backup.ts";
import { SqliteStoreError } from "./errors.ts";
import type { LongReads, ReadRequest } from "./long-reads.ts";

interface Pending {
  resolve(value: unknown): void;
  reject(reason: unknown): void;
  progress?: BackupProgress | undefined;
}
type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: unknown }
  | { readonly id: number; readonly progress: readonly [number, number] };

/** The thread's answers are the results of `answerRead`, so each method knows the type of its own. */
export function startReader(path: string): LongReads {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const worker = new Worker(new URL(`./reader-thread.${extension}`, import.meta.url), { workerData: { path } });
  const pending = new Map<number, Pending>();
  let sent = 0;
  let ended: SqliteStoreError | null = null;

  const end = (cause: unknown) => {
    ended ??= new SqliteStoreError("unknown", "The store's reader thread ended: recover the store.", cause);
    for (const { reject } of pending.values()) reject(ended);
    pending.clear();
  };
  worker.on("message", (answer: Answer) => {
    const waiting = pending.get(answer.id);
    if ("progress" in answer) return waiting?.progress?.(...answer.progress);
    pending.delete(answer.id);
    if ("error" in answer) waiting?.reject(answer.error);
    else waiting?.resolve(answer.value);
  });
  worker.on("error", end);
  worker.on("exit", end);

  const ask = <Result>(request: ReadRequest, progress?: BackupProgress): Promise<Result> =>
    new Promise<unknown>((resolve, reject) => {
      if (ended !== null) return reject(ended);
      sent += 1;
      pending.set(sent, { resolve, reject, progress });
      worker.postMessage({ id: sent, request });
    }) as Promise<Result>;

  return {
    list: (query) => ask({ type: "list", query }),
    events: (query) => ask({ type: "events", query }),
    counts: (namespace) => ask({ type: "counts", namespace }),
    backup: (copy, progress) => ask({ type: "backup", path: copy }, progress),
    checkpoint: () => ask({ type: "checkpoint" }),
    close: async () => {
      if (ended === null) await ask({ type: "close" });
      await worker.terminate();
    },
  };
}
