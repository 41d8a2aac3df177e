/**
 * What tools and service share. OpenClaw may load a plugin more than once in one process (for a turn, for a look at its
 * tools, for another configuration), and deletes the files of a loading that it has replaced. What is under way must be
 * one all the same, so it hangs on the process: as data alone, for code and classes of one loading are not those of the
 * next. The one thing with code of its own is the connection of the service that runs, and it is there only while it does.
 */

import type { Context } from "@handfast/client";
import type { Connection } from "./connection.ts";

/** A handoff being worked on, as the tools of its session see it. */
export interface Work {
  readonly context: Context;
  /** The agent's own word that it does not go on; null: it has said none. */
  failure: Failure | null;
}

export interface Failure {
  readonly message: string;
  readonly reason: string;
  readonly retryable: boolean;
}

interface Data {
  readonly working: Map<string, Work>;
  readonly runs: Map<string, string>;
  readonly telling: Map<string, string>;
  readonly awaited: Map<string, number>;
  serving: Pick<Connection, "client"> | null;
}

export class Shared {
  /** Handoffs worked on here, by the key of the session that each runs in. */
  readonly working: Map<string, Work>;
  /** The run that is under way in a session, by its key. */
  readonly runs: Map<string, string>;
  /** The run that brings news into a session, by the id of what it tells. */
  readonly telling: Map<string, string>;
  readonly #data: Data;

  constructor(data: Data) {
    this.#data = data;
    this.working = data.working;
    this.runs = data.runs;
    this.telling = data.telling;
  }

  /** The connection of the service that runs, whichever loading it is of; null: none runs in this process. */
  get serving(): Data["serving"] {
    return this.#data.serving;
  }

  serve(connection: Connection): void {
    this.#data.serving = connection;
  }

  /** Another service may serve meanwhile: its connection stays. */
  unserve(connection: Connection): void {
    if (this.#data.serving === connection) this.#data.serving = null;
  }

  /** Whether a tool waits for it at this moment. */
  isAwaited(id: string): boolean {
    return this.#data.awaited.has(id);
  }

  async whileAwaiting<Value>(ids: readonly string[], wait: () => Promise<Value>): Promise<Value> {
    const { awaited } = this.#data;
    for (const id of ids) awaited.set(id, (awaited.get(id) ?? 0) + 1);
    try {
      return await wait();
    } finally {
      for (const id of ids) {
        const left = (awaited.get(id) ?? 1) - 1;
        if (left > 0) awaited.set(id, left);
        else awaited.delete(id);
      }
    }
  }
}

/** Of this shape: other versions of the plugin that are loaded in the same process have a place of their own. */
const place = Symbol.for("@handfast/openclaw data 2");

export function shared(): Shared {
  const process_wide = globalThis as { [place]?: Data };
  process_wide[place] ??= {
    working: new Map(),
    runs: new Map(),
    telling: new Map(),
    awaited: new Map(),
    serving: null,
  };
  return new Shared(process_wide[place]);
}
