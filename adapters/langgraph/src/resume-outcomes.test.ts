/** Waking threads when something goes wrong on the way: nodes that throw or hang, redrives, several processes. */

import { type Client, Fail } from "@handfast/client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Stage, sentBy, until } from "../../kit/src/testing/stage.ts";
import { type Lock, resumeOutcomes, type Woken } from "./mod.ts";
import { onThread, planner } from "./testing/planner.ts";
import { sqliteSaver } from "./testing/sqlite-saver.ts";

let stage: Stage;
let hf: Client;
let saver: ReturnType<typeof sqliteSaver>;
beforeEach(async () => {
  stage = await Stage.open();
  hf = await stage.agent("planner");
  saver = sqliteSaver(":memory:");
});
afterEach(() => stage.close());

async function servedBy(research: (input: unknown) => unknown): Promise<Client> {
  const worker = await stage.agent("researcher");
  await worker.serve({ research }, { signals: false, grace: 0 });
  return worker;
}

/** A thread that sleeps, whose outcome is at the relay. */
async function asleep(graph: ReturnType<typeof planner>, end: () => void): Promise<string> {
  await graph.invoke({ topic: "fsync" }, onThread("t"));
  end();
  return until(async () => (await sentBy(hf)).find(({ ended_at }) => ended_at !== null)?.id);
}

function gate(): readonly [Promise<string>, () => void] {
  const { promise, resolve } = Promise.withResolvers<string>();
  return [promise, () => resolve("found")];
}

async function isTaken(id: string): Promise<boolean> {
  return (await hf.handle(id).status()).taken_at !== null;
}

test("a node that throws is tried again where it stands; what came before it is not run again", async () => {
  const [found, end] = gate();
  await servedBy(() => found);
  const ran: string[] = [];
  const graph = planner({
    hf,
    saver,
    ran: (node) => {
      ran.push(node);
      if (node === "write" && ran.filter((each) => each === "write").length < 3) throw new Error("no ink");
    },
  });
  const id = await asleep(graph, end);
  const woken: Woken[] = [];
  const resumer = resumeOutcomes(hf, graph, { pause: 1, onWoken: (each) => woken.push(each) });
  await until(() => woken.length === 1);
  await resumer.stop();
  expect(ran).toEqual(["plan", "note", "write", "write", "write"]);
  expect(woken).toEqual([{ handoff: id, key: "langgraph/graph/t", how: "continued" }]);
  expect(await isTaken(id)).toBe(true);
});

test("a thread cut off between a step that was done and the next goes on, and is not taken for awake", async () => {
  const [found, end] = gate();
  await servedBy(() => found);
  const ran: string[] = [];
  const graph = planner({ hf, saver, ran: (node) => void ran.push(node) });
  const id = await asleep(graph, end);
  const put = saver.put.bind(saver);
  saver.put = async (config, checkpoint, metadata) => {
    // The writes of "note" are kept; the state that follows from them is not.
    if (ran.at(-1) === "note") {
      saver.put = put;
      throw new Error("the disk was away");
    }
    return put(config, checkpoint, metadata);
  };
  const woken: Woken[] = [];
  const resumer = resumeOutcomes(hf, graph, { pause: 1, onWoken: (each) => woken.push(each) });
  await until(() => woken.length === 1);
  await resumer.stop();
  expect(ran).toEqual(["plan", "note", "write"]);
  expect(woken).toEqual([{ handoff: id, key: "langgraph/graph/t", how: "continued" }]);
});

test("one that throws every time keeps its outcome at the relay, and the next start goes on", async () => {
  const [found, end] = gate();
  await servedBy(() => found);
  let is_broken = true;
  const graph = planner({
    hf,
    saver,
    ran: (node) => {
      if (is_broken && node === "note") throw new Error("no paper");
    },
  });
  const id = await asleep(graph, end);
  const { promise: told, resolve: tell } = Promise.withResolvers<unknown>();
  const first = resumeOutcomes(hf, graph, { attempts: 2, pause: 1, onError: tell });
  expect(await told).toMatchObject({ message: "no paper" });
  await first.stop();
  expect(await isTaken(id)).toBe(false);

  is_broken = false;
  const second = resumeOutcomes(hf, graph, { follow: false });
  await second.stopped;
  expect(await isTaken(id)).toBe(true);
  expect((await graph.getState(onThread("t"))).values).toMatchObject({ text: '"found"' });
});

test("a node that hangs holds up its own thread only, and is let go when the resumer stops", async () => {
  const [found, end] = gate();
  await servedBy(() => found);
  const graph = planner({
    hf,
    saver,
    ran: (node, { topic }) => (node === "note" && topic === "slow" ? new Promise(() => {}) : undefined),
  });
  await graph.invoke({ topic: "slow" }, onThread("slow"));
  await graph.invoke({ topic: "quick" }, onThread("quick"));
  end();
  const woken: Woken[] = [];
  const resumer = resumeOutcomes(hf, graph, { onWoken: (each) => woken.push(each) });
  await until(() => woken.length === 1);
  expect(woken).toMatchObject([{ key: "langgraph/graph/quick" }]);
  await resumer.stop({ grace: 50 });
  const slow = (await sentBy(hf)).find(({ labels }) => labels["langgraph.thread"] === "slow");
  expect(slow?.taken_at).toBeNull();
});

test("a graph that stops by its own plan, for a person to look at it, is not led past that", async () => {
  const [found, end] = gate();
  await servedBy(() => found);
  const graph = planner({ hf, saver });
  graph.interruptBefore = ["write"];
  const id = await asleep(graph, end);
  for (const _ of [1, 2]) {
    const resumer = resumeOutcomes(hf, graph, { follow: false });
    await resumer.stopped;
    expect((await graph.getState(onThread("t"))).next).toEqual(["write"]);
  }
  expect(await isTaken(id)).toBe(true);
});

test("a dead letter that is redriven before its thread was woken wakes it with the outcome of the redrive", async () => {
  const [found, end] = gate();
  let runs = 0;
  await servedBy(async () => {
    runs += 1;
    if (runs > 1) return "found at last";
    await found;
    throw new Fail("Not today.");
  });
  const graph = planner({ hf, saver });
  const id = await asleep(graph, end);
  await hf.call("redrive", { params: { id }, body: {} });
  await until(
    async () => (await sentBy(hf)).length === 2 && (await sentBy(hf)).every(({ ended_at }) => ended_at !== null),
  );
  const woken: Woken[] = [];
  const resumer = resumeOutcomes(hf, graph, { follow: false, onWoken: (each) => woken.push(each) });
  await resumer.stopped;
  expect(woken.map(({ how }) => how).toSorted()).toEqual(["redriven", "resumed"]);
  expect((await graph.getState(onThread("t"))).values).toMatchObject({ text: '"found at last"' });
});

test("a thread that was cut off before it waited has the outcome of the redrive", async () => {
  let runs = 0;
  await servedBy(async () => {
    runs += 1;
    if (runs > 1) return "found at last";
    throw new Fail("Not today.");
  });
  const put = saver.put.bind(saver);
  saver.put = async (...given: Parameters<typeof put>) => {
    const kept = await put(...given);
    // As a process that is killed when what it sent is kept, and before it waits.
    if (JSON.stringify(given[1].channel_values).includes("research_outcome")) {
      saver.put = put;
      throw new Error("killed here");
    }
    return kept;
  };
  const graph = planner({ hf, saver });
  await expect(graph.invoke({ topic: "fsync" }, onThread("t"))).rejects.toThrow("killed here");
  const id = await until(async () => (await sentBy(hf)).find(({ ended_at }) => ended_at !== null)?.id);
  await hf.call("redrive", { params: { id }, body: {} });
  await until(async () => (await sentBy(hf)).filter(({ ended_at }) => ended_at !== null).length === 2);
  const woken: Woken[] = [];
  await resumeOutcomes(hf, graph, { follow: false, onWoken: (each) => woken.push(each) }).stopped;
  expect(woken.map(({ how }) => how).toSorted()).toEqual(["continued", "redriven"]);
  expect((await graph.getState(onThread("t"))).values).toMatchObject({ text: '"found at last"' });
});

test("several processes wake each thread once, by a lock that holds across them", async () => {
  const [found, end] = gate();
  await servedBy(() => found);
  const ran: string[] = [];
  // Two savers on one store, as two processes have them: only the lock is common.
  const held = new Set<string>();
  const lock: Lock = async (key, run) => {
    await until(() => !held.has(key));
    held.add(key);
    try {
      return await run();
    } finally {
      held.delete(key);
    }
  };
  const graphs = [1, 2].map(() => planner({ hf, saver, ran: (node) => void ran.push(node) }));
  const id = await asleep(graphs[0] as ReturnType<typeof planner>, end);
  const resumers = graphs.map((graph) => resumeOutcomes(hf, graph, { lock, follow: false }));
  await Promise.all(resumers.map(({ stopped }) => stopped));
  expect(ran).toEqual(["plan", "note", "write"]);
  expect(await isTaken(id)).toBe(true);
});

test("with such a lock, a thread that is neither asleep nor done may run in another process, and gets time for that", async () => {
  const [found, end] = gate();
  await servedBy(() => found);
  let is_broken = true;
  const graph = planner({
    hf,
    saver,
    ran: (node) => {
      if (node === "note" && is_broken) throw new Error("cut off");
    },
  });
  await asleep(graph, end);
  const lock: Lock = (_, run) => run();
  await resumeOutcomes(hf, graph, { lock, follow: false, attempts: 1, onError: () => {} }).stopped;
  is_broken = false;
  const { createdAt = "" } = await graph.getState(onThread("t"));
  await resumeOutcomes(hf, graph, { lock, patience: 500, follow: false }).stopped;
  const after = await graph.getState(onThread("t"));
  expect(after.values).toMatchObject({ text: '"found"' });
  expect(Date.parse(after.createdAt ?? "") - Date.parse(createdAt)).toBeGreaterThanOrEqual(500);
});
