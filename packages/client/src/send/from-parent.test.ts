import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestAgent, TestRelay } from "../../../relay/src/testing/test-relay.ts";
import type { Parent } from "./parent.ts";
import { type OpenSender, openSender } from "./testing/open-sender.ts";
import { claimed, completes, failure } from "./testing/works.ts";

let relay: TestRelay;
let asker: OpenSender;
let middle: OpenSender;
let worker: TestAgent;
const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
beforeAll(async () => {
  relay = await TestRelay.start({ limits: { stop_ms: 500 } });
  worker = await relay.agent("worker", "leaf");
  asker = await openSender(relay, "asker");
  middle = await openSender(relay, "middle");
});
afterAll(async () => {
  await asker.close();
  await middle.close();
  await relay.stop();
});

/** The agent in the middle has claimed and acknowledged a handoff of the asker. */
async function parent(): Promise<{ parent: Parent; controller: AbortController; cancel: () => Promise<unknown> }> {
  const root = await asker.send({ to: "middle" }, 1, { correlation: "tree", conversation: "talk", timeout: "2m" });
  const body = { worker: "middle-1", slots: 1 };
  const { leases } = await middle.base.link.call("claim", { body }, { wait_ms: 5_000 });
  const [lease] = leases;
  if (lease === undefined) throw new Error("no lease");
  const { id, fence, correlation_id, conversation_id } = lease;
  await middle.base.link.call("ack", { params: { id }, body: { fence, worker: "middle-1" } });
  const controller = new AbortController();
  const { signal } = controller;
  const deadline_ms = () => lease.deadline_ms;
  return {
    parent: { id, fence, correlation_id, conversation_id, traceparent: trace, deadline_ms, signal, lost: () => {} },
    controller,
    cancel: () => root.cancel(),
  };
}

it("names its cause and carries correlation, conversation, trace and deadline down", async () => {
  const { parent: own, cancel } = await parent();
  const child = await middle.from(own).send<number>("leaf", 1, { timeout: "1h" });
  const lease = await worker.claim();
  expect(lease).toMatchObject({
    causation_id: own.id,
    correlation_id: "tree",
    conversation_id: "talk",
    traceparent: trace,
  });
  const view = await child.status();
  expect(view.causation).toEqual({ id: own.id, fence: own.fence });
  expect(view.deadline_at).toBe((await asker.handle(own.id).status()).deadline_at);
  await cancel();
  expect(await failure(child.result())).toMatchObject({ code: 410 });
});

it("goes on after its cause has ended where it is detached", async () => {
  const { parent: own, cancel } = await parent();
  const child = await middle.from(own).send<number>("leaf", 1, { detached: true });
  await cancel();
  await completes(worker, () => 7);
  expect(await child.result()).toBe(7);
});

it("scatters and notifies in its name", async () => {
  const { parent: own, cancel } = await parent();
  const scatter = middle.from(own).scatter<number>([1, 2].map((input) => ({ capability: "leaf", input })));
  const outputs = scatter.all();
  await scatter.handles();
  const note = await middle.from(own).notify("leaf", "news");
  for (let count = 0; count < 2; count++) await completes(worker, (input) => Number(input) * 2);
  expect(await outputs).toEqual([2, 4]);
  const views = [...(await scatter.handles()), middle.handle(note.id)].map((handle) => handle.status());
  expect((await Promise.all(views)).map(({ causation }) => causation?.id)).toEqual([own.id, own.id, own.id]);
  await claimed(worker);
  await cancel();
});

it("sends nothing for a handoff without any time left", async () => {
  const { parent: own, cancel } = await parent();
  const late = middle.from({ ...own, deadline_ms: () => 0 });
  expect(await failure(late.send("leaf", 1))).toMatchObject({ code: 408, handoff: own.id });
  expect(await failure(late.scatter([{ capability: "leaf", input: 1 }]).all())).toMatchObject({ code: 408 });
  await cancel();
});

it("ends the waits of its children with its own signal, and sends no more", async () => {
  const { parent: own, controller, cancel } = await parent();
  const sending = middle.from(own);
  const child = await sending.send("leaf", 1);
  const result = failure(child.result());
  controller.abort(new Error("the lease is lost"));
  expect((await result).message).toBe("the lease is lost");
  expect((await failure(sending.send("leaf", 2))).message).toBe("the lease is lost");
  await cancel();
});
