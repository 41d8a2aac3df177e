/** The one who looks after the relay: reads handoffs and redrives dead letters, with a client of its own. */

import type { Client, HandoffView } from "@handfast/client";

const wait_ms = 60_000;

export class Operator {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  handoff(id: string): Promise<HandoffView> {
    return this.#client.call("get", { params: { id } });
  }

  /** Those that were sent under one correlation. */
  async correlated(correlation_id: string): Promise<readonly HandoffView[]> {
    return (await this.#client.call("list", { query: { correlation_id, limit: 500 } })).handoffs;
  }

  /** Gives an open dead letter another life; the id of that. */
  async redrive(id: string): Promise<string> {
    const letter = await this.#client.call("dead_letter", { params: { id } });
    if (letter.handoff.dead_letter?.status !== "open") throw new Error(`${id} is no open dead letter`);
    return (await this.#client.call("redrive", { params: { id }, body: {} })).redriven_as;
  }

  async ended(id: string): Promise<HandoffView> {
    const view = await this.#client.call("get", { params: { id }, query: { until: "ended" } }, { wait_ms });
    if (view.outcome === null) throw new Error(`${id} is still ${view.state}`);
    return view;
  }
}
