/**
 * A connection to the relay. It belongs to the loading of the plugin that made it: what the client loads later (its
 * heartbeat thread, the checks of documents) comes from that loading's own files, which OpenClaw deletes with it.
 */

import { type Client, connect } from "@handfast/client";
import type { Logger } from "./openclaw.ts";
import type { Settings } from "./settings.ts";

interface Opening {
  readonly client: Promise<Client>;
  readonly given_up: AbortController;
}

export class Connection {
  readonly #settings: Settings;
  readonly #logger: Logger;
  #opening: Opening | null = null;

  constructor(settings: Settings, logger: Logger) {
    this.#settings = settings;
    this.#logger = logger;
  }

  /** Made when it is first needed; one that failed or was closed is made anew the next time. */
  client(): Promise<Client> {
    this.#opening ??= this.#open();
    return this.#opening.client;
  }

  /** What is still connecting is given up at once. */
  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = null;
    opening?.given_up.abort(new Error("the plugin was stopped"));
    const client = await opening?.client.catch(() => null);
    await client?.close();
  }

  #open(): Opening {
    const given_up = new AbortController();
    const client = connect({
      ...this.#settings.connect,
      signal: given_up.signal,
      onWarning: ({ reason, message }) => this.#logger.warn(`handfast: ${message} [${reason}]`),
      onConnection: (state) => this.#logger.info(`handfast: the relay is ${state}`),
    });
    const opening = { client, given_up };
    client.catch(() => {
      if (this.#opening === opening) this.#opening = null;
    });
    return opening;
  }
}
