/**
 * One wait that many share. It begins with the first who waits and is given up when the last of them has gone; what it
 * came to is kept, a failure is not: whoever waits after that begins anew.
 */

import { orAborted } from "./or-aborted.ts";

interface Running<T> {
  readonly promise: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

export class SharedWait<T> {
  readonly #begin: (signal: AbortSignal) => Promise<T>;
  #running: Running<T> | null = null;
  #value: { readonly value: T } | null = null;

  constructor(begin: (signal: AbortSignal) => Promise<T>) {
    this.#begin = begin;
  }

  /** It is known by other means. */
  settle(value: T): void {
    this.#value = { value };
  }

  async join(signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    if (this.#value !== null) return this.#value.value;
    const running = this.#running ?? this.#start();
    running.waiting += 1;
    try {
      return await orAborted(running.promise, signal);
    } finally {
      running.waiting -= 1;
      if (running.waiting === 0 && this.#running === running) this.#stop(running);
    }
  }

  #start(): Running<T> {
    const controller = new AbortController();
    const promise = this.#begin(controller.signal);
    const running = { promise, controller, waiting: 0 };
    this.#running = running;
    promise.then(
      (value) => {
        this.#value = { value };
        this.#running = null;
      },
      () => {
        if (this.#running === running) this.#running = null;
      },
    );
    return running;
  }

  #stop(running: Running<T>): void {
    this.#running = null;
    running.controller.abort();
  }
}
