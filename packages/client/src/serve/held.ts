/** One lease in this process: whether it still lives, how long it has, and the signal that tells its handler. */

import type { LeaseView } from "@handfast/protocol/wire";
import { HandoffError } from "../errors.ts";
import type { Surroundings } from "../surroundings.ts";

export class Held {
  readonly lease: LeaseView;
  readonly worker: string;
  readonly #surroundings: Surroundings;
  readonly #controller = new AbortController();
  readonly #ended = new AbortController();
  #deadline_at: number;
  #left = false;

  constructor(surroundings: Surroundings, lease: LeaseView, worker: string) {
    this.lease = lease;
    this.worker = worker;
    this.#surroundings = surroundings;
    this.#deadline_at = surroundings.now() + lease.deadline_ms;
  }

  /** What every act of the holder names. */
  get holder(): { readonly fence: number; readonly worker: string } {
    return { fence: this.lease.fence, worker: this.worker };
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Nothing that is said under it changes anything any more. */
  get isOver(): boolean {
    return this.#ended.signal.aborted;
  }

  /** Aborted when it is over, and not before: a handler that is told to stop may still say something under it. */
  get over(): AbortSignal {
    return this.#ended.signal;
  }

  /** What is left of the deadline, by what the relay said last. */
  deadline_ms(): number {
    return Math.max(0, this.#deadline_at - this.#surroundings.now());
  }

  hear({ deadline_ms }: { readonly deadline_ms: number }): void {
    this.#deadline_at = this.#surroundings.now() + deadline_ms;
  }

  /** Its handler's result is nobody's any more, not even as a late one. */
  get isLeft(): boolean {
    return this.#left;
  }

  /** The relay says that it is over: canceled, expired or lost. What the handler still returns is kept as late. */
  end(reason: Error): void {
    this.#ended.abort(reason);
    this.#controller.abort(reason);
  }

  /** A call under it was refused: by these codes the relay says that it is over, before any heartbeat does. */
  refused(error: unknown): void {
    if (error instanceof HandoffError && [408, 410, 412].includes(error.code)) this.end(error);
  }

  /** This worker let go of it: parked or given back. */
  leave(reason: Error): void {
    this.#left = true;
    this.end(reason);
  }

  /** The handler is to come to its end; the lease still lives. */
  hurry(reason: Error): void {
    this.#controller.abort(reason);
  }
}

export const keyOf = ({ id, fence }: { readonly id: string; readonly fence: number }): string => `${id} ${fence}`;
