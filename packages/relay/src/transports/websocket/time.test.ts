import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MemoryRelay } from "./testing/memory-relay.ts";

let relay: MemoryRelay;
beforeEach(async () => {
  relay = await MemoryRelay.start();
});
afterEach(() => relay.stop());

const second = 1_000;

describe("time, on a clock of the test's own", () => {
  it("a peer that says no hello within ten seconds is closed", async () => {
    const silent = relay.connect();
    await relay.time.advance(9 * second);
    expect(silent.ended).toBeNull();
    await relay.time.advance(2 * second);
    expect(silent.ended).toEqual({ code: 4408, reason: "hello_timeout" });
    expect(silent.sent.at(-1)?.problem?.reason).toBe("hello_timeout");
  });

  it("a connection ends with its credential", async () => {
    const peer = await relay.greet("short", { life_ms: 60 * second });
    expect(peer.sent[0]?.hello?.expires_in_ms).toBe(60 * second);
    await relay.time.advance(58 * second);
    expect(peer.ended).toBeNull();
    await relay.time.advance(4 * second);
    expect(peer.ended).toEqual({ code: 4401, reason: "identity" });
    expect(peer.sent.at(-1)?.problem?.reason).toBe("credential_expired");
  });

  it("a connection goes on with a new credential of the same agent", async () => {
    const peer = await relay.greet("renewing", { life_ms: 60 * second });
    const credential = await relay.token("renewing", { life_ms: 300 * second, capabilities: undefined });
    peer.say({ calls: [{ n: 1, op: "authenticate", body: { credential } }] });
    await relay.time.advance(100 * second);
    expect(peer.reply(1)).toMatchObject({ status: 200, body: { expires_in_ms: 300 * second } });
    expect(peer.ended).toBeNull();
    await relay.time.advance(201 * second);
    expect(peer.ended).toEqual({ code: 4401, reason: "identity" });
  });

  it("a peer is pinged, and dropped when it has answered nothing for two pings", async () => {
    const alive = await relay.greet("alive");
    const dead = await relay.greet("dead");
    dead.answersPings = false;
    await relay.time.advance(300 * second);
    expect(alive.pings).toBeGreaterThan(8);
    expect(alive.ended).toBeNull();
    expect(dead.ended?.code).toBe(1006);
  });

  it("a peer that speaks by itself is not pinged", async () => {
    const peer = await relay.greet("talkative");
    for (let n = 1; n <= 30; n += 1) {
      peer.say({ ping: n });
      await relay.time.advance(10 * second);
    }
    expect(peer.pings).toBe(0);
    expect(peer.ended).toBeNull();
  });

  it("a stall of the relay is not taken for the silence of its peers", async () => {
    const peer = await relay.greet("patient");
    await relay.time.stall(300 * second);
    await relay.time.advance(30 * second);
    expect(peer.ended).toBeNull();
  });

  it("a peer that takes nothing for fifteen seconds is cut, with its reason", async () => {
    const peer = await relay.greet("slow");
    peer.holds = true;
    peer.say({ calls: [{ n: 1, op: "healthz" }] });
    await relay.time.advance(13 * second);
    expect(peer.ended).toBeNull();
    await relay.time.advance(4 * second);
    expect(peer.ended).toEqual({ code: 4430, reason: "slow_reader" });
  });

  it("a peer that takes something now and then is not", async () => {
    const peer = await relay.greet("leisurely");
    peer.holds = true;
    for (let n = 1; n <= 10; n += 1) {
      peer.say({ calls: [{ n, op: "healthz" }] });
      await relay.time.advance(10 * second);
      peer.release();
    }
    expect(peer.ended).toBeNull();
  });
});
