import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { testAgent } from "../../identity/testing/test-agent.ts";
import { limits } from "../../limits.ts";
import { operator_token, TestRelay } from "../../testing/test-relay.ts";
import { Strangers } from "./strangers.ts";
import { registered } from "./testing/signing.ts";
import { connectUrl, TestPeer } from "./testing/test-peer.ts";

let relay: TestRelay;
const peers: TestPeer[] = [];
beforeAll(async () => {
  relay = await TestRelay.start({ limits: { ws_sweep_ms: 20, ws_connections_per_agent: 2 } });
});
afterAll(() => relay.stop());
afterEach(async () => {
  for (const peer of peers.splice(0)) await peer.break();
});

const greet = async (credential: string) => {
  const peer = await TestPeer.greet(relay, credential);
  peers.push(peer);
  return peer;
};
const open = async () => {
  const peer = await TestPeer.open(relay);
  peers.push(peer);
  return peer;
};
const told = (peer: TestPeer) => peer.problems.at(-1)?.reason;

/** What a refused upgrade is answered with. */
function refused(protocol: string | undefined, headers: Record<string, string> = {}): Promise<number | undefined> {
  const socket = new WebSocket(connectUrl(relay), protocol, { headers });
  return new Promise((resolve) => {
    socket.on("unexpected-response", (request, response) => {
      resolve(response.statusCode);
      request.destroy();
    });
    socket.on("error", () => {});
  });
}

describe("an upgrade is refused", () => {
  it("without the subprotocol, or with another", async () => {
    expect(await refused(undefined)).toBe(400);
    expect(await refused("handfast.v9")).toBe(400);
  });

  it("from a foreign Origin or for a foreign Host, in development mode", async () => {
    expect(await refused("handfast.v1", { origin: "https://evil.example" })).toBe(403);
    expect(await refused("handfast.v1", { host: "evil.example" })).toBe(403);
  });
});

describe("connections that say nothing", () => {
  it("keep nobody out: the oldest makes room for whoever comes next", async () => {
    const crowded = await TestRelay.start({ limits: { ws_strangers_per_address: 3, ws_stranger_spared_ms: 0 } });
    const silent: TestPeer[] = [];
    try {
      for (let count = 0; count < 10; count += 1) silent.push(await TestPeer.open(crowded));
      const { token } = await crowded.agent("newcomer");
      const peer = await TestPeer.greet(crowded, token);
      expect((await peer.call("healthz")).status).toBe(200);
      expect((await silent[0]?.ended)?.code).toBe(1006);
      expect(silent.filter(({ socket }) => socket.readyState === WebSocket.OPEN)).toHaveLength(2);
      await peer.break();
    } finally {
      for (const peer of silent) await peer.break();
      await crowded.stop();
    }
  });

  it("are bounded in all, from however many addresses", () => {
    const cut: string[] = [];
    const strangers = new Strangers({ ...limits, ws_strangers: 2 });
    const come = (address: string, saidHello = false) =>
      strangers.add({ address, began_at: 0, saidHello, cut: () => cut.push(address) });
    come("192.0.2.1", true);
    come("192.0.2.2");
    come("192.0.2.3");
    expect(cut).toEqual(["192.0.2.2"]);
    come("192.0.2.4");
    expect(cut).toEqual(["192.0.2.2", "192.0.2.3"]);
  });

  it("are spared for a moment, however many come from their address", () => {
    const cut: number[] = [];
    const few = { ...limits, ws_strangers_per_address: 2, ws_stranger_spared_ms: 100 };
    const strangers = new Strangers(few);
    for (const began_at of [0, 10, 20, 30, 115]) {
      strangers.add({ address: "192.0.2.1", began_at, saidHello: false, cut: () => cut.push(began_at) });
    }
    expect(cut).toEqual([0, 10]);
  });
});

describe("a hello", () => {
  it("is answered with who that is, and what the limits are", async () => {
    const { token } = await relay.agent("greeting");
    const [first] = (await greet(token)).frames;
    expect(first?.hello).toMatchObject({
      protocol: "handfast.v1",
      agent: "greeting",
      role: "agent",
      expires_in_ms: null,
    });
    expect(first?.hello?.limits).toEqual({
      frame_bytes: 16_000_000,
      frame_calls: 1_024,
      calls_in_flight: 4_096,
      wait_ms: 300_000,
    });
    expect((await greet(operator_token)).frames[0]?.hello?.role).toBe("operator");
  });

  it("may bring calls with it, and be followed by others before it is answered", async () => {
    const { token } = await relay.agent("hasty");
    const peer = await open();
    peer.send({ hello: { credential: token }, calls: [{ n: 1, op: "healthz" }] });
    peer.send({ calls: [{ n: 2, op: "outcomes" }] });
    expect([(await peer.reply(1)).status, (await peer.reply(2)).status]).toEqual([200, 200]);
    expect(peer.frames[0]?.hello?.agent).toBe("hasty");
  });

  it("must come first", async () => {
    const peer = await open();
    peer.send({ calls: [{ n: 1, op: "healthz" }] });
    expect(await peer.ended).toEqual({ code: 4401, reason: "identity" });
    expect(told(peer)).toBe("hello_missing");
  });

  it("with an unknown token, an empty one, or one of a megabyte proves nothing", async () => {
    for (const credential of ["hft_unknown", "", "x".repeat(500_000)]) {
      const peer = await open();
      peer.send({ hello: { credential } });
      expect((await peer.ended).code).toBe(4401);
    }
  });

  it("that never ends is cut before it fills the memory", async () => {
    const peer = await open();
    peer.send(`{"hello":{"credential":"${"x".repeat(8_000_000)}`);
    expect((await peer.ended).code).toBe(1006);
  });

  it("with an expired credential proves nothing", async () => {
    const key = testAgent("expired");
    await registered(relay, key);
    const peer = await open();
    peer.send({ hello: { credential: await key.credential(relay.url, Date.now() - 600_000) } });
    expect((await peer.ended).code).toBe(4401);
    expect(told(peer)).toBe("credential_expired");
  });

  it("of an agent that has all the connections it may have is refused", async () => {
    const { token } = await relay.agent("crowded");
    await greet(token);
    await greet(token);
    const third = await open();
    third.send({ hello: { credential: token } });
    expect(await third.ended).toEqual({ code: 4429, reason: "too_many" });
    expect(told(third)).toBe("too_many_connections");
  });
});

describe("a credential", () => {
  it("of another agent is refused, and changes nothing", async () => {
    const one = await relay.agent("one");
    const two = await relay.agent("two");
    const peer = await greet(one.token);
    const refusal = await peer.call("authenticate", { body: { credential: two.token } });
    expect(refusal).toMatchObject({ status: 403, problem: { reason: "another_agent" } });
    expect((await peer.call("authenticate", { body: { credential: "hft_wrong" } })).status).toBe(401);
    expect((await peer.call("authenticate", { body: {} })).status).toBe(400);
    const id = (await peer.call("submit", { body: { to: "one", input: 1 } })).body.id;
    expect((await one.get(`/v1/handoffs/${id}`)).body.from).toBe("one");
  });

  it("whose key was revoked ends the connection, and what waits on it", async () => {
    const key = testAgent("revoked");
    const { post } = await registered(relay, key);
    const peer = await greet(await key.credential(relay.url, Date.now()));
    const made = await post("/v1/tokens", { agent: "revoked" });
    const other = await greet(made.body.token);
    peer.send({ calls: [{ n: 1, op: "outcomes", wait_ms: 60_000 }] });
    await relay.call("DELETE", `/v1/agents/revoked/keys/${key.key}`, { token: operator_token });
    expect(await peer.ended).toEqual({ code: 4401, reason: "identity" });
    // What the key made ended with it.
    expect((await other.ended).code).toBe(4401);
  });

  it("stays good while another token of its agent is revoked", async () => {
    const { token } = await relay.agent("two-tokens");
    const { body } = await relay.post("/v1/tokens", { agent: "two-tokens" }, operator_token);
    const stays = await greet(token);
    const goes = await greet(body.token);
    const gone = await relay.call("DELETE", `/v1/tokens/${body.id}?agent=two-tokens`, { token: operator_token });
    expect(gone.status).toBe(200);
    expect((await goes.ended).code).toBe(4401);
    expect((await stays.call("outcomes")).status).toBe(200);
  });
});
