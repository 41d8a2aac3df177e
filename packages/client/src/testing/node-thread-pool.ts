/**
 * What Node does on other threads just now: signatures, digests, keys, files. No public figure tells it, and a clock that
 * moves on while a signature is on its way would make the outcome of a test a matter of luck. So would a signature that is
 * done now before, now after something else: while a test relay runs, each begins when all else has come to rest, and one
 * after the other.
 */

import { createHook } from "node:async_hooks";
import type { Stir } from "./settle.ts";

export interface ThreadPool {
  /** Something is under way whose end will run code here. */
  isBusy(): boolean;
  stop(): void;
}

/** What node:crypto and WebCrypto alike hand to another thread. */
interface Job {
  /** Done at once, it gives the result as a list. */
  run?: () => unknown;
  /** Set where the end is told by a callback. */
  readonly ondone?: unknown;
}

const fileWork = /^(FSReq|CloseReq)/;

export function watchThreadPool(stir: Stir): ThreadPool {
  const jobs = new Jobs(stir);
  const hook = createHook({
    init: (id, type, _trigger, job: Job) => {
      if (type.endsWith("REQUEST")) jobs.take(id, job);
    },
    after: (id) => jobs.done(id),
  });
  hook.enable();
  const fileRequests = () => process.getActiveResourcesInfo().filter((type) => fileWork.test(type)).length;
  // What was under way before may go on for ever, such as reading from a terminal.
  const besides = fileRequests();
  return {
    isBusy: () => jobs.isBusy || fileRequests() > besides,
    stop: () => {
      hook.disable();
      jobs.letGo();
    },
  };
}

class Jobs {
  readonly #stir: Stir;
  readonly #running = new Set<number>();
  readonly #waiting: (() => void)[] = [];
  #is_starting = false;
  #is_over = false;

  constructor(stir: Stir) {
    this.#stir = stir;
  }

  get isBusy(): boolean {
    return this.#running.size + this.#waiting.length > 0;
  }

  /** The kinds look the same until they run; one that tells its end by a callback can be made to wait. */
  take(id: number, job: Job): void {
    const { run } = job;
    if (run === undefined) return;
    const start = () => {
      const result = run.call(job);
      if (!Array.isArray(result) && !this.#is_over) this.#running.add(id);
      return result;
    };
    job.run = () => {
      if (this.#is_over || job.ondone === undefined) return start();
      this.#waiting.push(start);
      if (!this.#is_starting) void this.#startAll();
      return undefined;
    };
  }

  done(id: number): void {
    this.#running.delete(id);
  }

  async #startAll(): Promise<void> {
    this.#is_starting = true;
    while (this.#waiting.length > 0) {
      await this.#stir.settleBriefly(() => this.#running.size > 0);
      this.#waiting.shift()?.();
    }
    this.#is_starting = false;
  }

  /** Nobody is told of an end any more. */
  letGo(): void {
    this.#is_over = true;
    this.#running.clear();
    for (const start of this.#waiting.splice(0)) start();
  }
}
