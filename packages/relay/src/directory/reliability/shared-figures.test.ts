/** Several nodes on one store: each counts what all of them did, one writes it, and any of them may die. */

import { setImmediate } from "node:timers/promises";
import { type Handoff, hasEnded } from "@handfast/core";
import { realSurroundings, wakeKey } from "@handfast/engine";
import { afterAll, beforeAll, expect, test } from "vitest";
import { failing, Node } from "../../../../store-postgres/src/testing/nodes.ts";
import { startServer, type TestServer } from "../../../../store-postgres/src/testing/server.ts";
import { Tally } from "../../contracts/tally.ts";
import { limits as defaults } from "../../limits.ts";
import { KeptReliability } from "./kept-reliability.ts";
import { Reliability } from "./reliability.ts";
import { record_kind } from "./snapshot.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const namespace = "default";
const limits = { ...defaults, reliability_write_ms: 100, contract_write_ms: 100, reliability_chunk_pairs: 1 };
const patience_ms = 20_000;
const short_ms = 500;
/** Numbers of the nodes whose writes of figures were taken, in order. */
const written: number[] = [];

class Counting {
  readonly node: Node;
  readonly kept: KeptReliability;
  readonly tally: Tally;
  isDead = false;

  private constructor(node: Node, kept: KeptReliability, tally: Tally) {
    this.node = node;
    this.kept = kept;
    this.tally = tally;
  }

  static async start(url: string, nth: number): Promise<Counting> {
    const node = await Node.open(url, {
      // A lease as short as the relay gives by default is held against whoever loses it.
      coreLimits: { default_lease_ms: short_ms, default_ack_ms: short_ms },
      onEvents: (events, resumed_at, pos) => {
        if (counting.isDead) return;
        counting.kept.apply(events, resumed_at, pos);
        counting.tally.apply(events, pos);
      },
      reread: async (resumed_at) => {
        await counting.kept.reread(resumed_at);
        await counting.tally.reread();
      },
    });
    const { schedule } = realSurroundings();
    const options = {
      namespace,
      store: node.store,
      limits,
      put: async (writes: Parameters<Node["engine"]["putRecords"]>[0]) => {
        const is_written = await node.engine.putRecords(writes);
        if (is_written && writes[0]?.kind === record_kind) written.push(nth);
        return is_written;
      },
      hasRoom: () => true,
      schedule: (delay_ms: number, callback: () => void) =>
        schedule(delay_ms, () => {
          if (!counting.isDead) callback();
        }),
      knownSince: () => 0,
      onUnwritten: (error: unknown) => node.bugs.push(error),
    };
    const counting = new Counting(node, await KeptReliability.open(options), await Tally.open(options));
    await node.engine.start();
    return counting;
  }

  /** Nothing more is written of what it counted. */
  async die(): Promise<void> {
    this.isDead = true;
    await this.node.stop();
  }

  async stop(): Promise<void> {
    await this.kept.stop();
    await this.tally.stop();
    await this.node.stop();
    expect(this.node.bugs).toEqual([]);
  }

  get pairs(): unknown {
    const stored = Array.from(this.kept.figures.pairs.all(), (pair) => pair.stored());
    return stored.sort((a, b) => a.heard - b.heard);
  }
}

/** One after the other: sent here, done there, as the numbers say. */
async function work(from: Node, at: Node, agent: string, outcome: "done" | "again" | "failed"): Promise<void> {
  await from.submit({ terms: { max_attempts: 1 } });
  const [leased] = await at.claim(`${agent}-1`, { agent, wait_ms: patience_ms });
  if (leased === undefined) throw new Error("nothing was leased");
  await at.ack(leased);
  await end(at, leased, outcome);
}

async function end(at: Node, leased: Handoff, outcome: "done" | "again" | "failed"): Promise<void> {
  if (outcome === "done") await at.complete(leased);
  else await at.perform(leased, failing(leased, outcome === "again"));
}

/** Taken and never heard of again, until its lease is lost. */
async function lose(from: Node, at: Node): Promise<void> {
  const { accepted } = await from.submit({ terms: { max_attempts: 1, lease_ms: short_ms, ack_ms: short_ms } });
  const [leased] = await at.claim("silent-1", { agent: "silent", wait_ms: patience_ms });
  if (leased?.accepted.id !== accepted.id) throw new Error("another was leased");
  await at.ack(leased);
  for (;;) {
    const woken = from.engine.wakeups.wait(wakeKey.handoff(namespace, accepted.id), patience_ms);
    const handoff = await from.engine.get(namespace, accepted.id);
    if (handoff === null || hasEnded(handoff.status)) return;
    await woken;
  }
}

/** What the log alone gives. */
async function expected(node: Node): Promise<unknown> {
  const figures = new Reliability({ limits, knownSince: () => 0 });
  for (const { json, resumed_at = 0 } of (await node.store.sharing?.follow(0, 10_000)) ?? []) {
    figures.apply(JSON.parse(json), resumed_at);
  }
  return Array.from(figures.pairs.all(), (pair) => pair.stored()).sort((a, b) => a.heard - b.heard);
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await setImmediate();
}

async function sameEverywhere(all: readonly Counting[]): Promise<void> {
  const [first] = all;
  if (first === undefined) throw new Error("no node");
  const right = JSON.stringify(await expected(first.node));
  await until(() => all.every(({ pairs }) => JSON.stringify(pairs) === right));
}

test("the figures are the same on every node, one writes them, and another goes on when it dies", async () => {
  const url = server.url(await server.createDatabase());
  const all = await Promise.all([0, 1, 2].map((nth) => Counting.start(url, nth)));
  const outcomes = ["done", "failed", "again", "done"] as const;
  const round = async (nodes: readonly Counting[], count: number) => {
    for (let nth = 0; nth < count; nth += 1) {
      const [from, at] = [nodes[nth % nodes.length], nodes[(nth + 1) % nodes.length]];
      if (!from || !at) throw new Error("too few nodes");
      await work(from.node, at.node, `agent-${nth % 3}`, outcomes[nth % 4] ?? "done");
      if (nth % 12 === 0) await lose(from.node, at.node);
    }
  };
  await round(all, 24);
  await sameEverywhere(all);
  await until(() => written.length > 0);

  const [writer = 0] = written.slice(-1);
  const dead = all[writer];
  const others = all.filter((one) => one !== dead);
  await dead?.die();
  const before = written.length;
  await round(others, 24);
  await sameEverywhere(others);
  await until(() => written.length > before);
  expect(written.slice(before)).not.toContain(writer);

  const [last] = others;
  const newcomer = await Counting.start(url, 3);
  await sameEverywhere([...others, newcomer]);
  const records = (await last?.node.store.records(namespace, record_kind)) ?? [];
  expect(records.map(({ key }) => key).sort()).toEqual(["chunk-0", "chunk-1", "chunk-2", "chunk-3", "head"]);
  const silent = newcomer.kept.figures.of("silent", "summarize", newcomer.node.engine.now());
  expect([silent.n > 0, silent.successes]).toEqual([true, 0]);
  for (const one of [...others, newcomer]) await one.stop();
  // Once there is a writer, the others leave it to that one.
  const turns = written.filter((nth, place) => place > 0 && nth !== written[place - 1]).length;
  expect(turns).toBeLessThan(written.length);
}, 60_000);
