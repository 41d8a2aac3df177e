/**
 * One wait that many share. It begins with the first who waits and is given up when the last of them has gone; what it
 * came to is kept, a failure is not: whoever waits after that begins anew.
 */

import { orAborted } from "./or-aborted.ts";

interface Running<T> {
  readonly promise: Promise<T>;
  /** Null: begun by somebody who cannot go. */
  readonly controller: AbortController | null;
  waiting: number;
}

export class SharedWait<T> {
  readonly #begin: (signal: AbortSignal | undefined) => Promise<T>;
  #running: Running<T> | null = null;
  #value: { readonly value: T } | null = null;

  constructor(begin: (signal: AbortSignal | undefined) => Promise<T>) {
    this.#begin = begin;
  }

  /** It is known by other means. */
  settle(value: T): void {
    this.#value = { value };
  }

  /** Whoever comes without a signal stays until the end. */
  async join(signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#value !== null) return this.#value.value;
    const running = this.#running ?? this.#start(signal !== undefined);
    running.waiting += 1;
    if (signal === undefined) return running.promise;
    try {
      return await orAborted(running.promise, signal);
    } finally {
      running.waiting -= 1;
      if (running.waiting === 0 && this.#running === running) this.#stop(running);
    }
  }

  #start(can_stop: boolean): Running<T> {
    const controller = can_stop ? new AbortController() : null;
    const promise = this.#begin(controller?.signal);
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
    running.controller?.abort();
  }
}
