import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type TestAgent, TestRelay } from "../../testing/test-relay.ts";
import { TestPeer } from "./testing/test-peer.ts";

let relay: TestRelay;
let sender: TestAgent;
let peer: TestPeer;
beforeAll(async () => {
  relay = await TestRelay.start({ limits: { ws_sweep_ms: 20, ws_ping_ms: 150, ws_drain_ms: 400 } });
  sender = await relay.agent("streaming", "work");
});
afterAll(() => relay.stop());
afterEach(() => peer.break());

const submit = () => sender.submit({ capability: "work", input: 1 });
const follow = (n: number, id: string) => ({ n, op: "handoff_events", params: { id }, stream: true });

describe("streams", () => {
  it("tell what happened and what happens, to the end", async () => {
    peer = await TestPeer.greet(relay, sender.token);
    const id = await submit();
    peer.send({ calls: [follow(1, id)] });
    const { data, id: cursor } = await peer.event(1, "accepted");
    expect(data).toMatchObject({ handoff: id, type: "accepted" });
    await sender.act(id, "cancel");
    expect((await peer.event(1, "end")).data).toMatchObject({ state: "canceled" });
    peer.send({ calls: [{ ...follow(2, id), last_event_id: cursor }] });
    expect((await peer.event(2, "canceled")).data.handoff).toBe(id);
    await peer.event(2, "end");
    expect(
      peer.frames.flatMap(({ events = [] }) => events).filter(({ n, event }) => n === 2 && event === "accepted"),
    ).toEqual([]);
  });

  it("are cut without a word of their own when the relay stops, and go on from the last id after", async () => {
    const own = await TestRelay.start();
    try {
      const from = await own.agent("from", "work");
      const id = await from.submit({ capability: "work", input: 1 });
      peer = await TestPeer.greet(own, from.token);
      peer.send({ calls: [follow(1, id)] });
      const { id: cursor } = await peer.event(1, "accepted");
      await own.pause();
      expect((await peer.ended).code).toBe(1001);
      expect(peer.frames.filter(({ replies }) => replies !== undefined)).toEqual([]);
      await own.resume();
      peer = await TestPeer.greet(own, from.token);
      peer.send({ calls: [{ ...follow(1, id), last_event_id: cursor }] });
      await from.act(id, "cancel");
      expect((await peer.event(1, "canceled")).data.handoff).toBe(id);
    } finally {
      await peer.break();
      await own.stop();
    }
  });

  it("go 300 at a time over one connection", async () => {
    peer = await TestPeer.greet(relay, sender.token);
    const ids = await Promise.all(Array.from({ length: 300 }, submit));
    peer.send({ calls: ids.map((id, index) => follow(index + 1, id)) });
    for (let n = 1; n <= 300; n += 1) await peer.event(n, "accepted");
    await expect.poll(() => relay.figure("handfast_streams")).toBe(300);
    peer.send({ abandon: ids.map((_, index) => index + 1).slice(1) });
    await expect.poll(() => relay.figure("handfast_streams")).toBe(1);
    await sender.act(ids[0] ?? "", "cancel");
    await peer.event(1, "end");
  });

  it("of somebody else's handoff end with a problem", async () => {
    const other = await relay.agent("nosy");
    peer = await TestPeer.greet(relay, other.token);
    peer.send({ calls: [follow(1, await submit())] });
    expect(await peer.reply(1)).toMatchObject({ status: 404, problem: { reason: "unknown_handoff" } });
  });

  it("and waits that are abandoned are not answered, and their numbers are free", async () => {
    peer = await TestPeer.greet(relay, sender.token);
    const id = await submit();
    peer.send({ calls: [{ n: 1, op: "get", params: { id }, query: { until: "ended" }, wait_ms: 60_000 }] });
    await expect.poll(() => relay.figure('handfast_engine{what="waiters"}')).toBe(1);
    peer.send({ abandon: [1, 77] });
    await expect.poll(() => relay.figure('handfast_engine{what="waiters"}')).toBe(0);
    peer.send({ calls: [{ n: 1, op: "healthz" }] });
    expect((await peer.reply(1)).body).toEqual({ status: "ok", reasons: [] });
    expect((await sender.get(`/v1/handoffs/${id}`)).body.state).toBe("queued");
  });
});

describe("a peer that is not there any more", () => {
  it("and sends nothing, no pong either, is dropped", async () => {
    peer = await TestPeer.greet(relay, sender.token, { autoPong: false });
    expect((await peer.ended).code).toBe(1006);
  });

  it("is not one that answers pings and says nothing else", async () => {
    peer = await TestPeer.greet(relay, sender.token);
    let pings = 0;
    await new Promise<void>((resolve) => {
      peer.socket.on("ping", () => {
        pings += 1;
        if (pings === 4) resolve();
      });
    });
    expect((await peer.call("healthz")).status).toBe(200);
  });

  it("and does not read is cut, and finds the reason when it does", async () => {
    peer = await TestPeer.greet(relay, sender.token);
    const id = await sender.submit({ capability: "work", input: "x".repeat(900_000) });
    peer.socket.pause();
    const get = { op: "get", params: { id }, query: { input: true } };
    peer.send({ calls: Array.from({ length: 30 }, (_, index) => ({ n: index + 1, ...get })) });
    await expect.poll(() => relay.figure("handfast_streams_cut_total")).toBe(1);
    peer.socket.resume();
    expect(await peer.ended).toEqual({ code: 4430, reason: "slow_reader" });
    expect(peer.problems.at(-1)?.reason).toBe("slow_reader");
  });
});
