/** Outcomes of what a served graph handed on: each is taken, and none before the graph's own state has it. */

import { type Client, Fail, type HandoffView } from "@handfast/client";
import { type Fake, type TestRelay, testRelay } from "@handfast/client/testing";
import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sentBy } from "../../kit/src/testing/stage.ts";
import { addHandoff, handoffOf, type Outcome, serveGraph } from "./mod.ts";
import { sqliteSaver } from "./testing/sqlite-saver.ts";

const State = Annotation.Root({ topic: Annotation<string>, report: Annotation<Outcome>, text: Annotation<string> });
type Write = (config: LangGraphRunnableConfig) => unknown;
type Writer = { readonly write?: Write; readonly output?: (outcome: Outcome) => { report: Outcome } };

let relay: TestRelay;
let sender: Client;
let researcher: Fake;
let saver: ReturnType<typeof sqliteSaver>;
beforeEach(async () => {
  relay = await testRelay();
  sender = await relay.connect("alice");
  saver = sqliteSaver(":memory:");
  researcher = relay.fake("research", (topic) => `about ${topic}`);
});
afterEach(() => relay.stop());

/** Serves START → research → research_outcome → write → END. */
async function serving({ write = () => {}, output = (report) => ({ report }) }: Writer = {}): Promise<Client> {
  const worker = await relay.connect("writer", { onWarning: () => {} });
  const graph = new StateGraph(State).addNode("write", async ({ report }, config) => {
    await write(config);
    return { text: report.status === "completed" ? String(report.output) : report.status };
  });
  const handing = addHandoff(graph, "research", {
    ...{ hf: worker, capability: "research", input: ({ topic }) => topic, output, next: "write" },
  })
    .addEdge(START, "research")
    .addEdge("write", END)
    .compile({ checkpointer: saver });
  await serveGraph(worker, "write", handing, { graphOutput: "text" }, { signals: false, grace: 0 });
  return worker;
}

/** Runs `then` when what was handed on has ended, and before the graph waits for it. */
function endsFirst(worker: () => Client, then: (child: HandoffView) => unknown = () => {}): void {
  const put = saver.put.bind(saver);
  saver.put = async (...given: Parameters<typeof put>) => {
    const kept = await put(...given);
    if (!JSON.stringify(given[1].channel_values).includes("research_outcome")) return kept;
    saver.put = put;
    const hf = worker();
    const [child] = await sentBy(hf);
    await then(await hf.handle(child?.id ?? "").outcome({ take: false }));
    return kept;
  };
}

async function children(worker: Client): Promise<readonly Pick<HandoffView, "state" | "taken_at">[]> {
  return (await sentBy(worker)).filter(({ capability }) => capability === "research");
}

const taken = { state: "completed", taken_at: expect.any(Number) };
const untaken = { state: "completed", taken_at: null };

test("an outcome that is there before the graph waits for it is taken as well", async () => {
  endsFirst(() => worker);
  const worker = await serving();
  const handoff = await sender.send("write", { topic: "fsync" });
  expect(await relay.until(handoff.result())).toBe("about fsync");
  expect(await children(worker)).toMatchObject([taken]);
});

test("a worker that dies with an outcome in its hands, and is away for longer than what was taken is kept, has it again", async () => {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const { put, putWrites } = saver;
  saver.putWrites = (...given: Parameters<typeof putWrites>) => {
    if (!given[1].some(([channel]) => channel === "__resume__")) return putWrites.apply(saver, given);
    // From here on nothing is kept of what this worker does.
    saver.put = saver.putWrites = () => new Promise<never>(() => reach());
    return saver.putWrites(...given);
  };
  const first = await serving();
  const handoff = await sender.send("write", { topic: "fsync" }, { timeout: "20d" });
  await relay.until(reached);
  expect(await children(first)).toMatchObject([untaken]);
  Object.assign(saver, { put, putWrites });
  for (const each of [first, researcher, sender]) await relay.crash(each);
  await relay.advance("8d");
  const second = await serving();
  const again = (await relay.connect("alice")).handle(handoff.id);
  expect(await relay.until(again.result())).toBe("about fsync");
  expect(await children(second)).toMatchObject([taken]);
});

test("what a worker used and did not come to take is taken by the next, and what its nodes sent themselves is not", async () => {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const first = await serving({
    write: async (config) => {
      await handoffOf(config)?.send("research", "its own", { detached: true });
      reach();
      await new Promise(() => {});
    },
  });
  const handoff = await sender.send("write", { topic: "fsync" });
  await relay.until(reached);
  await relay.crash(first);
  const second = await serving();
  expect(await relay.until(handoff.result())).toBe("about fsync");
  expect(await children(second)).toMatchObject([taken, untaken]);
});

test("so is that of a graph that had ended and whose own outcome was lost", async () => {
  const first = await serving({ write: () => relay.disconnect(first) });
  const handoff = await sender.send("write", { topic: "fsync" });
  await relay.settle();
  await relay.crash(first);
  const ran: string[] = [];
  const second = await serving({ write: () => void ran.push("write") });
  expect(await relay.until(handoff.result())).toBe("about fsync");
  expect(ran).toEqual([]);
  expect(await children(second)).toMatchObject([taken]);
});

test("a graph that fails after it used an outcome has taken it", async () => {
  const worker = await serving({
    write: () => {
      throw new Fail("Too long.");
    },
  });
  const handoff = await sender.send("write", { topic: "fsync" });
  expect(await relay.until(handoff.outcome())).toMatchObject({ state: "failed" });
  expect(await children(worker)).toMatchObject([taken]);
});

test("a graph that fails while it uses an outcome has not taken it, until another attempt is through", async () => {
  const seen: unknown[] = [];
  const worker = await serving({
    output: (report) => {
      seen.push(report);
      if (seen.length === 1) throw new Error("away");
      return { report };
    },
  });
  const handoff = await sender.send("write", { topic: "fsync" });
  await relay.until(
    (async () => {
      for await (const event of handoff.events()) if (event.type === "requeued") return;
    })(),
  );
  expect(await children(worker)).toMatchObject([untaken]);
  expect(await relay.until(handoff.result())).toBe("about fsync");
  expect(seen).toHaveLength(2);
  expect(await children(worker)).toMatchObject([taken]);
});

test("a dead letter that was redriven before the graph waited for it: the outcome of the redrive counts, and both are taken", async () => {
  await relay.crash(researcher);
  let runs = 0;
  const late = () => {
    runs += 1;
    if (runs === 1) throw new Fail("Not today.");
    return "found at last";
  };
  relay.fake("research", late, { agent: "late" });
  endsFirst(
    () => worker,
    ({ id }) => worker.call("redrive", { params: { id }, body: {} }),
  );
  const worker = await serving();
  const handoff = await sender.send("write", { topic: "fsync" });
  expect(await relay.until(handoff.result())).toBe("found at last");
  expect(await children(worker)).toMatchObject([{ ...taken, state: "failed" }, taken]);
});
