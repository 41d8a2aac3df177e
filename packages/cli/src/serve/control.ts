/** What a program says on file descriptor 3, line by line: a checkpoint to keep, or how far it is. Anything else is ignored. */

import type { Context } from "@handfast/client";

export class Control {
  readonly #ctx: Context;
  /** The newest that waits while another is on its way: what lies between need not be kept. */
  #waiting: { readonly state: unknown } | null = null;
  #keeping: Promise<void> | null = null;

  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  line(line: string): void {
    const said = read(line);
    if (said === null) return;
    const { progress, note, checkpoint } = said;
    if (typeof progress === "number" || typeof note === "string") {
      const fraction = typeof progress === "number" && progress >= 0 && progress <= 1 ? progress : undefined;
      this.#ctx.progress(fraction, typeof note === "string" ? note : undefined);
    }
    if (checkpoint === undefined) return;
    this.#waiting = { state: checkpoint };
    this.#keeping ??= this.#keep();
  }

  /** The last checkpoint is kept before the outcome is told, or the next attempt would not find it. */
  async settled(): Promise<void> {
    await this.#keeping;
  }

  async #keep(): Promise<void> {
    for (let next = this.#waiting; next !== null; next = this.#waiting) {
      this.#waiting = null;
      try {
        await this.#ctx.checkpoint(next.state);
      } catch (error) {
        // It costs time, not correctness: the next attempt begins further back.
        const why = error instanceof Error ? error.message : String(error);
        this.#ctx.progress(undefined, `a checkpoint was not kept: ${why}`);
      }
    }
    this.#keeping = null;
  }
}

function read(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const said: unknown = JSON.parse(line);
    return typeof said === "object" && said !== null ? (said as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null;
  }
}
