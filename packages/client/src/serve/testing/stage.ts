/** A relay and the agents of a test, with what each was warned of; everything is stopped at the end. */

import { toBase64url } from "@handfast/protocol";
import { TestRelay, type TestRelayOptions } from "../../../../relay/src/testing/test-relay.ts";
import type { Warning } from "../../base.ts";
import type { Client } from "../../client.ts";
import { type ConnectOptions, connect } from "../../connect.ts";

export class Stage {
  readonly relay: TestRelay;
  readonly #clients: Client[] = [];
  readonly #warnings: (Warning & { readonly agent: string })[] = [];
  readonly #listeners = new Set<() => void>();

  private constructor(relay: TestRelay) {
    this.relay = relay;
  }

  static async open(options: TestRelayOptions = {}): Promise<Stage> {
    return new Stage(await TestRelay.start(options));
  }

  /** With a key of its own that nobody else has. */
  async agent(agent: string, options: ConnectOptions = {}): Promise<Client> {
    const client = await connect({
      url: this.relay.url,
      agent,
      key: toBase64url(crypto.getRandomValues(new Uint8Array(32))),
      heartbeats: "here",
      onWarning: (warning) => {
        this.#warnings.push({ ...warning, agent });
        for (const listen of this.#listeners) listen();
      },
      ...options,
    });
    this.#clients.push(client);
    return client;
  }

  warnings(agent: string): readonly Warning[] {
    return this.#warnings.filter((warning) => warning.agent === agent);
  }

  /** Resolves with the agent's first warning of this reason, once there is one. */
  warned(agent: string, reason: string): Promise<Warning> {
    const { promise, resolve } = Promise.withResolvers<Warning>();
    const listen = () => {
      const found = this.warnings(agent).find((warning) => warning.reason === reason);
      if (found === undefined) return;
      this.#listeners.delete(listen);
      resolve(found);
    };
    this.#listeners.add(listen);
    listen();
    return promise;
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.relay.stop();
  }
}

/** Opened by the test when it is time. */
export function gate<Value = void>(): PromiseWithResolvers<Value> {
  return Promise.withResolvers<Value>();
}

/** Resolves with the reason once the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  if (signal.aborted) resolve(signal.reason);
  signal.addEventListener("abort", () => resolve(signal.reason));
  return promise;
}
