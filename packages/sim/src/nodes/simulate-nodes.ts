/**
 * One seed, one world of several nodes on one disk: real core, engine and SQLite, virtual time. Nodes die between any two steps
 * and come back; then the world heals, everything must end, and what is on the disk is checked.
 */

import type { Duration, Time } from "@handfast/core";
import { openSqliteStore } from "@handfast/store-sqlite";
import { Random } from "../random.ts";
import { Timeline } from "../world/timeline.ts";
import { type Stage, send, type Told, work } from "./actors.ts";
import { checkNodes, NodesViolation } from "./checks.ts";
import { type DiskMistakes, SharedDisk } from "./shared-disk.ts";
import { SimNode } from "./sim-node.ts";

const start_of_time: Time = 1_800_000_000_000;
const minute: Duration = 60_000;

export interface NodesResult {
  readonly handoffs: number;
  readonly events: number;
  readonly crashes: number;
}

export async function simulateNodes(seed: number, handoffs: number, mistakes: DiskMistakes = {}): Promise<NodesResult> {
  const random = new Random(seed);
  const timeline = new Timeline(start_of_time);
  const store = await openSqliteStore({ memory: true });
  const disk = new SharedDisk(store, timeline, mistakes);
  const bugs: unknown[] = [];
  const onBug = (error: unknown) => void bugs.push(error);
  const slow_ms = random.pick([2, 20, 100]);
  const nodes = Array.from(
    { length: random.between(2, 4) },
    () => new SimNode({ disk, timeline, random: random.fork(), slow_ms, onBug }),
  );
  const told: Told = { accepted: new Set(), completed: new Map(), beats: new Map() };
  let healed = false;
  let crashes = 0;
  const stage: Stage = { nodes, timeline, told, isHealed: () => healed };
  const keepCrashing = async (node: SimNode, chance: Random, every_ms: Duration) => {
    for (;;) {
      await timeline.sleep(chance.skewed(every_ms / 10, every_ms));
      if (healed) return;
      node.crash();
      crashes += 1;
      await timeline.sleep(chance.skewed(10, 5_000));
      await node.start();
    }
  };
  let failure: unknown = null;
  const run = (act: Promise<void>) => {
    act.catch((error: unknown) => {
      failure ??= error;
    });
    return act;
  };
  try {
    const starting = Promise.all(nodes.map((node) => node.start()));
    await timeline.run(() => nodes.every(({ isUp }) => isUp), start_of_time + minute);
    await starting;
    const every_ms = random.pick([2_000, 10_000, 40_000]);
    for (const node of nodes) void run(keepCrashing(node, random.fork(), every_ms));
    const senders = ["ann", "ben", "cleo"];
    let sending = senders.length;
    for (const from of senders) {
      const share = Math.ceil(handoffs / senders.length);
      void run(send(stage, random.fork(), from, share, 3)).then(() => {
        sending -= 1;
      });
    }
    const isDone = () => failure !== null || (sending === 0 && told.completed.size >= told.accepted.size);
    const workers = random.between(2, 6);
    for (let nth = 0; nth < workers; nth += 1)
      void run(work(stage, random.fork(), `bob-${nth}`, () => healed && isDone()));
    await timeline.run(() => failure !== null || sending === 0, start_of_time + 30 * minute);
    healed = true;
    await timeline.run(isDone, timeline.now + 10 * minute);
    // What a worker was not told of may have ended all the same; the last leases run out.
    await timeline.run(() => failure !== null, timeline.now + 2 * minute);
    if (failure !== null) throw failure;
    if (sending > 0) throw new NodesViolation("a sender was never answered");
    if (bugs.length > 0) throw bugs[0];
    return { ...(await checkNodes(store, told)), crashes };
  } finally {
    for (const node of nodes) node.crash();
    await store.close();
  }
}
