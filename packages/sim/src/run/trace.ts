/** Everything that happened, line by line: hashed, so that two runs of a seed can be compared, and kept per handoff. */

import { createHash } from "node:crypto";
import type { Time } from "@handfast/core";

const lines_shown = 40;

export class Trace {
  readonly #hash = createHash("sha256");
  readonly #lines = new Map<string, string[]>();
  readonly #start: Time;
  readonly #print: ((line: string) => void) | null;

  constructor(start: Time, print: ((line: string) => void) | null) {
    this.#start = start;
    this.#print = print;
  }

  /** `about`: a handoff's id, or what else the line is about. */
  add(now: Time, about: string, text: string): void {
    const line = `${((now - this.#start) / 1_000).toFixed(3)} ${about} ${text}`;
    this.#hash.update(line);
    this.#print?.(line);
    const lines = this.#lines.get(about);
    if (lines === undefined) this.#lines.set(about, [line]);
    else lines.push(line);
  }

  /** The last lines about this handoff. */
  tail(about: string): readonly string[] {
    return (this.#lines.get(about) ?? []).slice(-lines_shown);
  }

  digest(): string {
    return this.#hash.digest("hex");
  }
}
