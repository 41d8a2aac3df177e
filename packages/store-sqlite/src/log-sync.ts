/**
 * Makes the write-ahead log safe on disk without holding up the thread. One sync at a time, because the kernel tells of an
 * error once: of two at once, one could take the other's. What is written while one runs is covered by the next.
 */

import { closeSync, fdatasync, openSync } from "node:fs";

/** As `fdatasync` of node:fs. */
export type Sync = (file: number, done: (error: Error | null) => void) => void;

export class LogSync {
  readonly #file: number;
  readonly #sync: Sync;
  /** Stays where it failed: nothing after it is known to be safe either. */
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  constructor(log: string, sync: Sync = fdatasync) {
    this.#file = openSync(log, "r");
    this.#sync = sync;
  }

  /** Settles when everything that was written before the last `sync()` is safe, or known not to be; null: it is. */
  get pending(): Promise<void> | null {
    return this.#next ?? this.#running;
  }

  /** Resolves when everything that was written before this call is on disk. Rejects from the first failure on. */
  sync(): Promise<void> {
    if (this.#running === null) return this.#start();
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      return this.#start();
    });
    return this.#next;
  }

  async close(): Promise<void> {
    while (this.pending !== null) {
      const last = this.pending;
      await last.catch(() => {});
      if (this.pending === last) break;
    }
    closeSync(this.#file);
  }

  #start(): Promise<void> {
    this.#running = new Promise((resolve, reject) => {
      this.#sync(this.#file, (error) => {
        if (error !== null) return reject(error);
        this.#running = null;
        resolve();
      });
    });
    return this.#running;
  }
}
