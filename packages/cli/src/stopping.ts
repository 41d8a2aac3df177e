/** Ctrl-C and SIGTERM as an AbortSignal, from when somebody asks for it; the second one ends the process at once. */

import { exitCode } from "./exit-codes.ts";

const signals = ["SIGINT", "SIGTERM"] as const;

export class Stopping {
  #controller: AbortController | null = null;

  signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      for (const signal of signals) process.on(signal, this.#stop);
    }
    return this.#controller.signal;
  }

  /** The signal, if somebody asked for it; else Ctrl-C ends the process as it does everywhere. */
  get asked(): AbortSignal | undefined {
    return this.#controller?.signal;
  }

  /** What the signal aborted with; null: it did not. */
  get reason(): unknown {
    return this.#controller?.signal.aborted === true ? this.#controller.signal.reason : null;
  }

  readonly #stop = () => {
    if (this.#controller?.signal.aborted === true) process.exit(exitCode("interrupted"));
    this.#controller?.abort();
  };

  release(): void {
    for (const signal of signals) process.off(signal, this.#stop);
  }
}
