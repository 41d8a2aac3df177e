/** What a worker does, told to the person at its terminal, or as JSON lines; and what of it still runs. */

import type { Context } from "@handfast/client";
import { shortTime } from "../send/timeline.ts";
import type { Terminal } from "../terminal.ts";
import { cleanLine } from "../text.ts";

type Work = Pick<Context, "handoff" | "signal">;

export interface Worker {
  readonly capability: string;
  readonly agent: string;
  readonly worker: string;
  readonly relay: string;
}

export class Running {
  readonly #terminal: Terminal;
  readonly #open = new Set<Promise<unknown>>();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  began({ capability, agent, worker, relay }: Worker): void {
    this.#say({ event: "serving", capability, agent, worker, relay }, `serving ${capability} as ${agent} · ${relay}`);
  }

  stopping(): void {
    const count = this.#open.size;
    const what = count === 0 ? "" : `: ${count} running, and the next Ctrl-C ends them at once`;
    this.#say({ event: "stopping", running: count }, `stopping${what}`);
  }

  ended(): void {
    this.#say({ event: "stopped" }, "stopped");
  }

  async follow<T>({ handoff, signal }: Work, work: Promise<T>): Promise<T> {
    const { id, from, fence } = handoff;
    const began = performance.now();
    this.#open.add(work);
    const say = (how: string, error: string | null) => {
      const took_ms = Math.round(performance.now() - began);
      const what = error === null ? "" : ` · ${cleanLine(error)}`;
      const line = `${id} from ${cleanLine(from)} · ${how} ${shortTime(took_ms)}${what}`;
      this.#say({ event: how, handoff: id, from, fence, took_ms, ...(error === null ? {} : { error }) }, line);
    };
    try {
      const output = await work;
      say("completed", null);
      return output;
    } catch (error) {
      if (signal.aborted) say("stopped", messageOf(signal.reason));
      else say("failed", messageOf(error));
      throw error;
    } finally {
      this.#open.delete(work);
    }
  }

  /** Resolves when nothing runs any more, at the latest after so long. */
  async settled(most_ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, most_ms);
    Promise.allSettled(this.#open).then(() => resolve());
    await promise;
    clearTimeout(timer);
  }

  #say(record: object, line: string): void {
    if (this.#terminal.json) this.#terminal.jsonLine(record);
    else this.#terminal.note(line);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
