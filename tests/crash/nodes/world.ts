/** Relays as processes on a primary and its synchronous standby, each with a network of its own to both. */

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type CuttingProxy, startProxy } from "../../../packages/store-postgres/src/testing/cutting-proxy.ts";
import { PostgresPair } from "../../../packages/store-postgres/src/testing/pair.ts";
import { goesWithUs } from "../../support/end-at-once.ts";
import { freePort, RelayProcess } from "../../support/relay-process.ts";
import type { LoggedEvent } from "./verdict.ts";

const database = "handoffs";
const generous = ["--dev", "--requests-per-second", "100000", "--request-burst", "100000", "--log-level", "warn"];
const look_every_ms = 100;

interface MemberNode {
  readonly relay: RelayProcess;
  /** One for each of the two servers. */
  readonly network: readonly CuttingProxy[];
}

export class World {
  readonly pair: PostgresPair;
  readonly #nodes: MemberNode[] = [];

  private constructor(pair: PostgresPair) {
    this.pair = pair;
  }

  static async start(nodes: number, directory: string): Promise<World> {
    const pair = await PostgresPair.start();
    goesWithUs(pair.directory);
    const world = new World(pair);
    try {
      await pair.ask("postgres", `CREATE DATABASE ${database}`);
      const ports: number[] = [];
      for (let nth = 0; nth < nodes; nth += 1) ports.push(await freePort());
      const public_urls = ports.map((port) => `http://127.0.0.1:${port}`).join(",");
      for (const port of ports) await world.#add(port, join(directory, `node-${port}`), public_urls);
      return world;
    } catch (error) {
      await world.stop();
      throw error;
    }
  }

  async #add(port: number, directory: string, public_urls: string): Promise<void> {
    const network = await Promise.all(this.pair.ports.map((server) => startProxy(server)));
    const hosts = network.map((proxy) => `127.0.0.1:${proxy.port}`).join(",");
    const store = ["--store", `postgres://postgres@${hosts}/${database}`, "--public-url", public_urls];
    const environment = { NODE_COMPILE_CACHE: join(directory, "..", "cache") };
    const relay = await RelayProcess.start([...store, ...generous], directory, { port, environment });
    this.#nodes.push({ relay, network });
  }

  get urls(): readonly string[] {
    return this.#nodes.map(({ relay }) => relay.url);
  }

  relay(nth: number): RelayProcess {
    return this.#node(nth).relay;
  }

  network(nth: number): readonly CuttingProxy[] {
    return this.#node(nth).network;
  }

  /** Resolves once the node says so of itself, for as long as it lives. */
  async readiness(nth: number, is_ready: boolean): Promise<void> {
    const { relay } = this.#node(nth);
    for (;;) {
      const answer = await fetch(`${relay.url}/readyz`);
      await answer.body?.cancel();
      if (answer.ok === is_ready) return;
      if (!relay.isAlive) throw new Error(`node ${nth} has ended by itself:\n${relay.output}`);
      await sleep(look_every_ms);
    }
  }

  async log(): Promise<readonly LoggedEvent[]> {
    const rows = await this.pair.ask(
      database,
      "SELECT pos, handoff, (json::json->>'seq')::integer AS seq, json::json->>'type' AS type FROM handfast.event ORDER BY pos",
    );
    return rows.map(({ pos, handoff, seq, type }) => ({
      pos: Number(pos),
      handoff: String(handoff),
      seq: Number(seq),
      type: String(type),
    }));
  }

  async stop(): Promise<void> {
    for (const { network } of this.#nodes) for (const proxy of network) proxy.mend();
    await Promise.all(this.#nodes.map(({ relay }) => relay.end("SIGKILL")));
    await Promise.all(this.#nodes.flatMap(({ network }) => network.map((proxy) => proxy.close())));
    await this.pair.stop();
  }

  #node(nth: number): MemberNode {
    const node = this.#nodes[nth];
    if (node === undefined) throw new Error(`there is no node ${nth}`);
    return node;
  }
}
