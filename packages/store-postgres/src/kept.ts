/**
 * The transaction that keeps what was found for the next commit: begun by the first look for work of a batch, gone on with by
 * its commit. Nothing else writes on the connection in between.
 */

import type { Session } from "./session.ts";

export interface Keeping {
  /** The session that it was begun in. */
  readonly begun: Promise<Session>;
  /** Committed, rolled back or lost: the next transaction may begin. */
  end(): void;
}

export class Kept {
  #open: Keeping | null = null;

  get open(): Keeping | null {
    return this.#open;
  }

  /** `over` is settled when the transaction has ended. */
  begin(start: (over: Promise<void>) => Promise<Session>): Keeping {
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const begun = start(over);
    // Whoever looks for something is told; whether anybody does, is not for this one to know.
    begun.catch(() => {});
    const opened: Keeping = {
      begun,
      end: () => {
        if (this.#open === opened) this.#open = null;
        resolve();
      },
    };
    this.#open = opened;
    return opened;
  }

  /** For the commit that goes on with it: nothing more is kept in it. */
  take(): Keeping | null {
    const taken = this.#open;
    this.#open = null;
    return taken;
  }
}
