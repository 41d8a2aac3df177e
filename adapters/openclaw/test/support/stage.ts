/** A relay, a gateway with the plugin, the model behind it, and agents of the test beside them. All real but the model. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, type ConnectOptions, connect } from "@handfast/client";
import { operator_token, TestRelay } from "../../../../packages/relay/src/testing/test-relay.ts";
import type { Told } from "../../src/told.ts";
import { FakeModel } from "./fake-model.ts";
import { Gateway } from "./gateway.ts";

/** The gateway's name among agents. */
export const claw = "claw";

export class Stage {
  readonly relay: TestRelay;
  readonly model: FakeModel;
  readonly gateway: Gateway;
  /** The plugin's configuration that the gateway began with. */
  readonly handfast: object;
  readonly #home: string;
  readonly #clients: Client[] = [];
  #operator: Promise<Client> | null = null;

  private constructor(relay: TestRelay, model: FakeModel, gateway: Gateway, handfast: object, home: string) {
    this.relay = relay;
    this.model = model;
    this.gateway = gateway;
    this.handfast = handfast;
    this.#home = home;
  }

  /** `handfast`: the plugin's configuration over what the guide shows, beside url, agent and home. */
  static async open(handfast: object): Promise<Stage> {
    const relay = await TestRelay.start();
    const model = await FakeModel.start();
    const home = mkdtempSync(join(tmpdir(), "handfast-keys-"));
    try {
      const config = { url: relay.url, agent: claw, home, ...handfast };
      const gateway = await Gateway.start({ model_url: model.url, handfast: config });
      return new Stage(relay, model, gateway, config, home);
    } catch (error) {
      await model.stop();
      await relay.stop();
      throw error;
    }
  }

  async connect(agent: string, more: ConnectOptions = {}): Promise<Client> {
    const client = await connect({ url: this.relay.url, agent, home: this.#home, ...more });
    this.#clients.push(client);
    return client;
  }

  operator(): Promise<Client> {
    this.#operator ??= this.connect("operator", { token: operator_token });
    return this.#operator;
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await client.close();
    await this.gateway.stop();
    await this.model.stop();
    await this.relay.stop();
    rmSync(this.#home, { recursive: true, force: true });
  }
}

/** Asks until the answer is there; the test's own time limit ends it. */
export async function until<Value>(
  ask: () => Value | null | undefined | false | Promise<Value | null | undefined | false>,
) {
  for (;;) {
    const value = await ask();
    if (value !== null && value !== undefined && value !== false) return value;
    await sleep(50);
  }
}

/** The JSON that a tool told the model. */
export function toldBy(result: string | undefined): unknown {
  return JSON.parse(result ?? "null");
}

/** The handoff that was told of. */
export function handoffIn(told: unknown): Told {
  if (!isTold(told)) throw new Error(`no handoff was told of: ${JSON.stringify(told)}`);
  return told;
}

/** The handoffs that were awaited together. */
export function handoffsIn(told: unknown): readonly Told[] {
  const handoffs = memberOf(told, "handoffs");
  if (!Array.isArray(handoffs)) throw new Error(`no handoffs were told of: ${JSON.stringify(told)}`);
  return handoffs.map(handoffIn);
}

function isTold(told: unknown): told is Told {
  return typeof memberOf(told, "handoff") === "string";
}

/** Undefined where there is none. */
export function memberOf(told: unknown, name: string): unknown {
  return typeof told === "object" && told !== null ? Reflect.get(told, name) : undefined;
}
