import { afterEach, beforeEach, expect, it } from "vitest";
import { type TestAgent, TestRelay } from "../../../relay/src/testing/test-relay.ts";
import { Errands } from "./errands.ts";
import { SentHandle } from "./handle.ts";
import type { Sender } from "./sender.ts";
import { type OpenSender, openSender } from "./testing/open-sender.ts";
import { claimed, completes, failure, type Work } from "./testing/works.ts";
import { Waits } from "./waits.ts";

let relay: TestRelay;
let client: OpenSender;
let worker: TestAgent;
/** One that may hold a single call open. */
let sender: Sender;
beforeEach(async () => {
  relay = await TestRelay.start({ limits: { stop_ms: 500 } });
  worker = await relay.agent("worker", "work");
  client = await openSender(relay, "sender");
  const { base } = client;
  sender = { base, waits: new Waits(base, 1), errands: new Errands(base), parent: null, patience_ms: null };
});
afterEach(async () => {
  await sender.errands.settled();
  await client.close();
  await relay.stop();
});

async function sent(count: number): Promise<SentHandle<number>[]> {
  const scatter = client.scatter(Array.from({ length: count }, (_, input) => ({ capability: "work", input })));
  return (await scatter.handles()).map(({ id }) => new SentHandle<number>(sender, id));
}

it("brings every result also to those that hold no call of their own, in whatever order they end", async () => {
  const handles = await sent(5);
  const results = handles.map((handle) => handle.result());
  const works: Work[] = [];
  for (const _handle of handles) works.push(await claimed(worker));
  for (const { id, fence, input } of works.reverse()) await worker.act(id, "complete", { fence, output: input });
  expect(await Promise.all(results)).toEqual([0, 1, 2, 3, 4]);
});

it("does so while outcomes that nobody takes stay in the list", async () => {
  const [left, ...handles] = await sent(4);
  await completes(worker, () => "never taken");
  await left?.outcome({ take: false });
  const results = handles.map((handle) => handle.result());
  for (const _handle of handles) await completes(worker, (input) => input);
  expect(await Promise.all(results)).toEqual([1, 2, 3]);
});

it("tells those without a call what is wrong with theirs", async () => {
  const [first] = await sent(1);
  const held = first?.result();
  const unknown = new SentHandle(sender, "01890000-0000-7000-8000-000000000000");
  expect(await failure(unknown.result())).toMatchObject({ code: 404 });
  await completes(worker, () => 1);
  expect(await held).toBe(1);
});

it("gives up a wait without a call by its signal, and the next one is heard", async () => {
  const [first, second] = await sent(2);
  const held = first?.result();
  const controller = new AbortController();
  const bored = failure(second?.result({ signal: controller.signal }) ?? Promise.resolve());
  controller.abort(new Error("bored"));
  expect((await bored).message).toBe("bored");
  const again = second?.result();
  for (let count = 0; count < 2; count++) await completes(worker, (input) => input);
  expect(await Promise.all([held, again])).toEqual([0, 1]);
});

it("waits for the ack without a call of its own", async () => {
  const [first, second] = await sent(2);
  const held = first?.result();
  const works = [await claimed(worker), await claimed(worker)];
  expect((await second?.acknowledged())?.state).toBe("working");
  for (const { id, fence, input } of works) await worker.act(id, "complete", { fence, output: input });
  expect(await held).toBe(0);
});
