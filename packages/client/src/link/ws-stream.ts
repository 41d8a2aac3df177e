/** A stream over a WebSocket: events gather until their reader comes for them, and no more than it can be hoped to take. */

import { linkLimits } from "./limits.ts";
import type { StreamEvent } from "./link.ts";
import type { Resume } from "./resume.ts";

type Said = { readonly event: StreamEvent } | { readonly error: unknown } | "end";

export class StreamFeed {
  readonly #resume: Resume;
  #said: Said[] = [];
  #wake: (() => void) | null = null;

  constructor(resume: Resume) {
    this.#resume = resume;
  }

  /** False: too many wait already, and the stream should be let go until the reader has caught up. */
  push(event: StreamEvent): boolean {
    if (event.event === "end") {
      this.#say("end");
      return true;
    }
    const taken = this.#resume.take(event);
    if (taken !== null) this.#say({ event: taken });
    return this.#said.length < linkLimits.stream_events;
  }

  fail(error: unknown): void {
    this.#say({ error });
  }

  /** What came so far, at least one; whatever waits can be ended by `fail`. */
  async next(): Promise<readonly Said[]> {
    if (this.#said.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#said.splice(0);
  }

  get isEmpty(): boolean {
    return this.#said.length === 0;
  }

  #say(said: Said): void {
    this.#said.push(said);
    this.#wake?.();
    this.#wake = null;
  }
}
