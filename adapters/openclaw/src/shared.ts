/**
 * What tools and service share. OpenClaw may load a plugin more than once in one process (for a turn, for a look at its
 * tools): the connection, and what is under way, must be one all the same. So it hangs on the process; and since classes of
 * one loading are not those of another, nothing here is told by its class.
 */

import { type Client, type Context, connect, Fail, Retry } from "@handfast/client";
import type { Logger } from "./openclaw.ts";
import type { Settings } from "./settings.ts";

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

export class Shared {
  /** Handoffs worked on here, by the key of the session that each runs in. */
  readonly working = new Map<string, Work>();
  /** The run that is under way in a session, by its key. */
  readonly runs = new Map<string, string>();
  /** Handoffs that a tool waits for at this moment, with how many do. */
  readonly #awaited = new Map<string, number>();
  #client: Promise<Client> | null = null;

  /** The connection, made when it is first needed; a failed one is made anew the next time. */
  client(settings: Settings, logger: Logger): Promise<Client> {
    this.#client ??= connect({
      ...settings.connect,
      onWarning: ({ reason, message }) => logger.warn(`handfast: ${message} [${reason}]`),
      onConnection: (state) => logger.info(`handfast: the relay is ${state}`),
    }).catch((error: unknown) => {
      this.#client = null;
      throw error;
    });
    return this.#client;
  }

  /** As the client of `client()` knows it: of the same loading. */
  thrown({ message, reason, retryable }: Failure): Error {
    return retryable ? new Retry(message) : new Fail(message, { reason });
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => null);
    this.#client = null;
    await client?.close();
  }

  isAwaited(id: string): boolean {
    return this.#awaited.has(id);
  }

  async whileAwaiting<Value>(ids: readonly string[], wait: () => Promise<Value>): Promise<Value> {
    for (const id of ids) this.#awaited.set(id, (this.#awaited.get(id) ?? 0) + 1);
    try {
      return await wait();
    } finally {
      for (const id of ids) {
        const left = (this.#awaited.get(id) ?? 1) - 1;
        if (left > 0) this.#awaited.set(id, left);
        else this.#awaited.delete(id);
      }
    }
  }
}

const place = Symbol.for("@handfast/openclaw 0.1");

export function shared(): Shared {
  const process_wide = globalThis as { [place]?: Shared };
  process_wide[place] ??= new Shared();
  return process_wide[place];
}
