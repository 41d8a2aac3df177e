/**
 * A crash run of several nodes: they are killed, cut off from the database or slowed down, the database restarts or fails over, one
 * after the other under load. Then everything is drained, and what senders were told is held against the log.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { goesWithUs } from "../../support/end-at-once.ts";
import type { Verdict } from "../verdict.ts";
import { ClientsAtNodes } from "./client-load.ts";
import { type Fault, type FaultCounts, planFaults } from "./faults.ts";
import { judgeNodes } from "./verdict.ts";
import { World } from "./world.ts";

export interface NodesPlan extends FaultCounts {
  readonly nodes: number;
  readonly seed: number;
  /** Told now and then how it goes. */
  readonly say: (line: string) => void;
}

/** What was done to them, by its name. */
type Done = Record<"nodes killed" | "failovers" | "restarts of the database" | Partitioned, number>;
type Partitioned = "partitions: cut" | "partitions: swallowing" | "partitions: delaying";

export interface NodesReport extends Verdict {
  readonly done: Readonly<Done>;
  /** Handoffs that were under way when a fault came, summed up over all faults; and faults that met none. */
  readonly met: { readonly handoffs: number; readonly idle: number };
  readonly took_ms: number;
}

const tell_every_ms = 10_000;
const drain_within_ms = 300_000;
const slow_ms = 200;

export async function runNodes(plan: NodesPlan): Promise<NodesReport> {
  const began = performance.now();
  const directory = mkdtempSync(join(tmpdir(), "handfast-crash-nodes-"));
  goesWithUs(directory);
  const run = new Run(plan, directory);
  const verdict = await run.verdict();
  rmSync(directory, { recursive: true });
  return { ...verdict, done: run.done, met: run.met, took_ms: performance.now() - began };
}

class Run {
  readonly done: Done = {
    "nodes killed": 0,
    failovers: 0,
    "restarts of the database": 0,
    "partitions: cut": 0,
    "partitions: swallowing": 0,
    "partitions: delaying": 0,
  };
  readonly met = { handoffs: 0, idle: 0 };
  readonly #plan: NodesPlan;
  readonly #directory: string;

  constructor(plan: NodesPlan, directory: string) {
    this.#plan = plan;
    this.#directory = directory;
  }

  async verdict(): Promise<Verdict> {
    try {
      const world = await World.start(this.#plan.nodes, this.#directory);
      try {
        return await this.#under(world);
      } finally {
        await world.stop();
      }
    } catch (error) {
      // A node that ends by itself, a client that gives up, a drain that does not end: each is a finding.
      return { violations: [error instanceof Error ? error.message : String(error)], figures: {} };
    }
  }

  async #under(world: World): Promise<Verdict> {
    const { nodes, seed, say } = this.#plan;
    const load = await ClientsAtNodes.start(world.urls, this.#directory);
    const began = performance.now();
    const timer = setInterval(() => {
      const faults = Object.values(this.done).reduce((sum, count) => sum + count, 0);
      const seconds = Math.round((performance.now() - began) / 1_000);
      say(`${seconds} s: ${faults} faults; ${load.accepted.size} accepted, ${load.finished.size} ended`);
    }, tell_every_ms);
    try {
      for (const { fault, after } of planFaults(this.#plan, nodes, seed)) {
        await load.more(after);
        const under_way = "node" in fault ? load.openAt(fault.node) : load.open;
        this.met.handoffs += under_way;
        if (under_way === 0) this.met.idle += 1;
        await this.#strike(fault, world, load);
      }
      await load.more(nodes);
      say("no more faults: draining");
      await inTime(load.finish());
      return judgeNodes(load, await world.log());
    } finally {
      clearInterval(timer);
      await load.close();
    }
  }

  async #strike(fault: Fault, world: World, load: ClientsAtNodes): Promise<void> {
    switch (fault.kind) {
      case "kill": {
        const relay = world.relay(fault.node);
        await relay.end("SIGKILL");
        this.done["nodes killed"] += 1;
        return relay.start();
      }
      case "failover":
        await world.pair.failOver();
        this.done.failovers += 1;
        return;
      case "restart":
        await world.pair.restart();
        this.done["restarts of the database"] += 1;
        return;
      case "partition":
        return this.#part(fault, world, load);
    }
  }

  /** Cut off, a node says that it is not ready; the others go on. Mended, it is ready again by itself. */
  async #part(
    { node, how }: Fault & { readonly kind: "partition" },
    world: World,
    load: ClientsAtNodes,
  ): Promise<void> {
    const network = world.network(node);
    if (how === "delay") {
      for (const proxy of network) proxy.delay(slow_ms);
      this.done["partitions: delaying"] += 1;
      await load.more(10);
      for (const proxy of network) proxy.delay(0);
      return;
    }
    for (const proxy of network) how === "cut" ? proxy.cut() : proxy.swallow();
    this.done[how === "cut" ? "partitions: cut" : "partitions: swallowing"] += 1;
    await world.readiness(node, false);
    await load.more(5);
    for (const proxy of network) proxy.mend();
    await world.readiness(node, true);
  }
}

async function inTime(drained: Promise<void>): Promise<void> {
  const over = new AbortController();
  const late = async () => {
    await sleep(drain_within_ms, undefined, { signal: over.signal });
    throw new Error(`not everything has ended ${drain_within_ms / 1_000} s after the last fault`);
  };
  try {
    await Promise.race([drained, late()]);
  } finally {
    over.abort();
  }
}
