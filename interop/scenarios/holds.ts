/**
 * Work that waits for a word: the worker makes `<path>.begun`, and goes on when `<path>.go` is there. Told to stop before that,
 * it makes `<path>.stopped`.
 */

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const look_every_ms = 20;

export class Holds {
  readonly #folder: string;
  readonly #patience_ms: number;
  #made = 0;

  constructor(folder: string, patience_ms: number) {
    this.#folder = folder;
    this.#patience_ms = patience_ms;
  }

  make(): Hold {
    this.#made += 1;
    return new Hold(join(this.#folder, `hold-${this.#made}`), this.#patience_ms);
  }
}

export class Hold {
  readonly path: string;
  readonly #patience_ms: number;

  constructor(path: string, patience_ms: number) {
    this.path = path;
    this.#patience_ms = patience_ms;
  }

  /** Resolves when a worker is in the middle of it. */
  async begun(): Promise<void> {
    await this.#seen("begun", "the work did not begin");
  }

  /** Resolves when the worker has heard that it is to stop, and has. */
  async stopped(): Promise<void> {
    await this.#seen("stopped", "the worker did not stop");
  }

  go(): void {
    writeFileSync(`${this.path}.go`, "");
  }

  async #seen(mark: string, otherwise: string): Promise<void> {
    const until = performance.now() + this.#patience_ms;
    while (!existsSync(`${this.path}.${mark}`)) {
      if (performance.now() > until) throw new Error(`${otherwise} in ${this.#patience_ms} ms`);
      await sleep(look_every_ms);
    }
  }
}
