/** Calls made in the background, such as takes: tried again by the link, awaited by `client.close()`, warned of if they fail. */

import type { Base } from "../base.ts";
import { sendLimits } from "./limits.ts";

export class Errands {
  readonly #base: Base;
  readonly #open = new Set<Promise<unknown>>();

  constructor(base: Base) {
    this.#base = base;
  }

  /** Runs it now. `failed` is the beginning of the sentence that a person reads, such as "The outcome was not taken". */
  run(reason: string, failed: string, handoff: string, errand: () => Promise<unknown>): void {
    const warn = (error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      this.#base.warn({ reason, message: `${failed}: ${why}`, handoff });
    };
    const done: Promise<unknown> = errand().then(
      () => this.#open.delete(done),
      (error: unknown) => {
        this.#open.delete(done);
        warn(error);
      },
    );
    this.#open.add(done);
  }

  /** Resolves when none is left, also of those that began meanwhile; or when it has waited long enough for them. */
  async settled(): Promise<void> {
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    let is_enough = false;
    const callOff = this.#base.surroundings.after(sendLimits.errand_grace_ms, () => {
      is_enough = true;
      resolve();
    });
    while (this.#open.size > 0 && !is_enough) await Promise.race([Promise.all(this.#open), enough]);
    callOff();
  }
}
