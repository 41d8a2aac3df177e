/** A real relay and the agents of a test; everything is stopped at the end. */

import { randomBytes } from "node:crypto";
import { type Client, type ConnectOptions, connect, type HandoffView } from "@handfast/client";
import { TestRelay } from "../../../../packages/relay/src/testing/test-relay.ts";

export class Stage {
  readonly relay: TestRelay;
  readonly #closing: (() => Promise<unknown>)[] = [];

  private constructor(relay: TestRelay) {
    this.relay = relay;
  }

  static async open(): Promise<Stage> {
    return new Stage(await TestRelay.start());
  }

  /** With a key of its own. */
  async agent(agent: string, options: ConnectOptions = {}): Promise<Client> {
    const key = randomBytes(32).toString("base64url");
    const hf = await connect({ url: this.relay.url, agent, key, heartbeats: "here", onWarning: () => {}, ...options });
    this.atEnd(() => hf.close());
    return hf;
  }

  /** The last is done first. */
  atEnd(close: () => Promise<unknown>): void {
    this.#closing.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closing.toReversed()) await close();
    await this.relay.stop();
  }
}

/** Those that the agent sent, oldest first. */
export async function sentBy(hf: Client): Promise<readonly HandoffView[]> {
  return (await hf.call("list", { query: { from: hf.agent, order: "oldest" } })).handoffs;
}

/** Resolves once the condition holds; it is looked at often, and the test's own timeout ends a vain wait. */
export async function until<T>(look: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (;;) {
    const found = await look();
    if (found !== null && found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
