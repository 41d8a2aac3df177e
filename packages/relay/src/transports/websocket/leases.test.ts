import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type TestAgent, TestRelay } from "../../testing/test-relay.ts";
import { TestPeer } from "./testing/test-peer.ts";

let relay: TestRelay;
let sender: TestAgent;
let worker: TestAgent;
let peers: TestPeer[] = [];
beforeAll(async () => {
  relay = await TestRelay.start();
  sender = await relay.agent("sender");
  worker = await relay.agent("worker", "work");
});
afterAll(() => relay.stop());
afterEach(async () => {
  for (const peer of peers) await peer.break();
  peers = [];
});

async function greet({ token }: TestAgent = worker): Promise<TestPeer> {
  const peer = await TestPeer.greet(relay, token);
  peers.push(peer);
  return peer;
}
const submit = (more: object = {}) => sender.submit({ to: "worker", input: 1, ...more });
const claim = { worker: "w", slots: 4 };
/** The next lease of this peer's worker. */
async function lease(peer: TestPeer) {
  const { body } = await peer.call("claim", { body: claim, wait_ms: 10_000 });
  const [first] = body.leases;
  if (first === undefined) throw new Error("nothing was leased");
  return first;
}
const state = async (id: string) => (await sender.get(`/v1/handoffs/${id}`)).body;

describe("a worker over a WebSocket", () => {
  it("is given what comes, up to its slots, and does it in few frames", async () => {
    const peer = await greet();
    const claimed = peer.call("claim", { body: { worker: "w", slots: 2 }, wait_ms: 10_000 });
    const ids = await Promise.all([submit(), submit(), submit()]);
    const { body } = await claimed;
    expect(body.leases.length).toBeLessThanOrEqual(2);
    let done = 0;
    for (let leases = body.leases; done < 3; ) {
      for (const { id, fence } of leases) {
        const [acked] = await peer.calls([{ op: "ack", params: { id }, body: { fence } }]);
        expect(acked?.status).toBe(200);
        expect((await peer.call("complete", { params: { id }, body: { fence, output: 1 } })).status).toBe(200);
        done += 1;
      }
      if (done < 3) leases = (await peer.call("claim", { body: claim, wait_ms: 10_000 })).body.leases;
    }
    for (const id of ids) expect((await state(id)).state).toBe("completed");
    // Its own acts are no news to it.
    expect(peer.frames.filter(({ over }) => over !== undefined)).toEqual([]);
  });

  it("is told at once when its sender cancels, whether it acknowledged or not", async () => {
    const peer = await greet();
    for (const acknowledges of [false, true]) {
      const id = await submit();
      const { fence } = await lease(peer);
      if (acknowledges) await peer.call("ack", { params: { id }, body: { fence } });
      await sender.act(id, "cancel", { reason: "changed my mind" });
      const notice = await peer.over(id);
      expect(notice).toMatchObject({ fence, code: 410, reason: "canceled" });
      expect(notice.detail).toContain("changed my mind");
    }
  });

  it("is told when a deadline passes while it works", async () => {
    const peer = await greet();
    const id = await submit({ limits: { deadline_ms: 700 } });
    const { fence } = await lease(peer);
    await peer.call("ack", { params: { id }, body: { fence } });
    expect(await peer.over(id)).toMatchObject({ fence, code: 408, reason: "deadline_passed" });
  });

  it("is told when it did not acknowledge in time", async () => {
    const peer = await greet();
    const id = await submit({ limits: { ack_ms: 300, deadline_ms: 20_000 } });
    const { fence } = await lease(peer);
    expect(await peer.over(id)).toMatchObject({ fence, code: 412, reason: "lease_lost" });
    await sender.act(id, "cancel");
  });

  it("is told over the connection on which it acknowledged, after a break", async () => {
    const first = await greet();
    const id = await submit();
    const { fence } = await lease(first);
    await first.break();
    const second = await greet();
    expect((await second.call("ack", { params: { id }, body: { fence } })).status).toBe(200);
    await sender.act(id, "cancel");
    expect(await second.over(id)).toMatchObject({ code: 410 });
  });

  it("hears nothing of a failure that it told over HTTP", async () => {
    const peer = await greet();
    const id = await submit();
    const { fence } = await lease(peer);
    await worker.act(id, "ack", { fence });
    await worker.act(id, "fail", { fence, error: { reason: "no", message: "No." }, retryable: false });
    await peer.call("healthz");
    expect(peer.frames.filter(({ over }) => over !== undefined)).toEqual([]);
  });
});

describe("a connection that breaks", () => {
  it("while its claim waits takes nothing with it", async () => {
    const peer = await greet();
    peer.send({ calls: [{ n: 1, op: "claim", body: claim, wait_ms: 60_000 }] });
    await expect.poll(() => relay.figure('handfast_engine{what="waiting_claims"}')).toBe(1);
    await peer.break();
    await expect.poll(() => relay.figure('handfast_engine{what="waiting_claims"}')).toBe(0);
    const id = await submit();
    expect((await state(id)).state).toBe("queued");
    const again = await greet();
    expect(await lease(again)).toMatchObject({ id, fence: 1 });
    await sender.act(id, "cancel");
  });

  it("between claim and reply gives the lease back, and the next one gets it", async () => {
    const peer = await greet();
    const id = await submit();
    // The close is on its way when the relay has the lease ready: nobody takes its reply.
    peer.send({ calls: [{ n: 1, op: "claim", body: claim }] });
    await peer.break();
    const again = await greet();
    const got = await lease(again);
    expect(got.id).toBe(id);
    expect((await again.call("ack", { params: { id }, body: { fence: got.fence } })).status).toBe(200);
    await sender.act(id, "cancel");
  });

  it("after the lease was written leaves it, and the ack over the next one works under the same fence", async () => {
    const peer = await greet();
    const id = await submit();
    const { fence } = await lease(peer);
    await peer.break();
    const again = await greet();
    expect((await again.call("ack", { params: { id }, body: { fence } })).status).toBe(200);
    expect((await again.call("complete", { params: { id }, body: { fence, output: 2 } })).status).toBe(200);
  });

  it("is followed by one whose claim, with the same request id, returns the same leases", async () => {
    const peer = await greet();
    const id = await submit();
    const body = { ...claim, request_id: "claim-1" };
    const first = await peer.call("claim", { body, wait_ms: 10_000 });
    await peer.break();
    const again = await greet();
    const second = await again.call("claim", { body, wait_ms: 10_000 });
    const shown = ({ leases }: { leases: readonly { id: string; fence: number }[] }) =>
      leases.map((each) => [each.id, each.fence]);
    expect(shown(second.body)).toEqual(shown(first.body));
    expect(shown(second.body)).toEqual([[id, 1]]);
    await sender.act(id, "cancel");
  });

  it("by the relay's restart loses nothing: the worker finishes under its fence", async () => {
    const own = await TestRelay.start();
    try {
      const from = await own.agent("from");
      const to = await own.agent("to", "work");
      const peer = await TestPeer.greet(own, to.token);
      const id = await from.submit({ to: "to", input: 1 });
      const { body } = await peer.call("claim", { body: claim, wait_ms: 10_000 });
      const fence = body.leases[0]?.fence;
      await peer.call("ack", { params: { id }, body: { fence } });
      peer.send({ calls: [{ n: 99, op: "claim", body: claim, wait_ms: 60_000 }] });
      await expect.poll(() => own.figure('handfast_engine{what="waiting_claims"}')).toBe(1);
      await own.pause();
      expect(await peer.ended).toEqual({ code: 1001, reason: "stopping" });
      // Who waited was answered before.
      expect((await peer.reply(99)).body.leases).toEqual([]);
      await own.resume();
      const again = await TestPeer.greet(own, to.token);
      expect((await again.call("complete", { params: { id }, body: { fence, output: 3 } })).status).toBe(200);
      await again.break();
    } finally {
      await own.stop();
    }
  });
});
