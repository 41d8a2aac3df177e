/** Relays on one database, of which one is taken out and brought back. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer, type TestServer } from "../../../store-postgres/src/testing/server.ts";
import { type Got, operator_token, type TestAgent, TestRelay } from "../testing/test-relay.ts";
import { TestPeer } from "../transports/websocket/testing/test-peer.ts";

const limits = { node_signs_every_ms: 50, node_gone_ms: 2_000 };
let server: TestServer;
let database: string;
let store: string;
let one: TestRelay;
let two: TestRelay;
const start = (node: string) => TestRelay.start({ flags: ["--store", store, "--node", node], limits });
beforeAll(async () => {
  server = await startServer({ durable: true });
  database = await server.createDatabase();
  store = server.url(database);
  one = await start("n1");
  two = await start("n2");
}, 60_000);
afterAll(async () => {
  await Promise.all([one.stop(), two.stop()]);
  await server.stop();
});

const ask = (relay: TestRelay, method: "POST" | "DELETE", node: string, token = operator_token) =>
  relay.call(method, `/v1/nodes/${node}/drain`, { token, ...(method === "POST" && { body: {} }) });

/** How a node is, as another one knows it. */
async function state(of: string, asked: TestRelay): Promise<string> {
  const { body } = await asked.get("/v1/nodes", operator_token);
  const states = body.nodes.filter(({ name }: { name: string }) => name === of).map((node: Got["body"]) => node.state);
  return states.at(-1) ?? "unknown";
}
const becomes = (of: string, wanted: string, asked = one) =>
  expect.poll(() => state(of, asked), { timeout: 30_000 }).toBe(wanted);

/** The same agent, as another node knows it. */
const at = (relay: TestRelay, { token }: TestAgent) => ({
  post: (path: string, body: unknown, headers?: Readonly<Record<string, string>>) =>
    relay.post(path, body, token, headers),
  get: (path: string) => relay.get(path, token),
});

describe("the nodes", () => {
  it("are listed at each of them: name, life, version, and what is under way", async () => {
    const { body } = await one.get("/v1/nodes", operator_token);
    const { body: other } = await two.get("/v1/nodes", operator_token);
    expect(body.nodes.map(({ name, state: how }: Got["body"]) => [name, how])).toEqual([
      ["n1", "running"],
      ["n2", "running"],
    ]);
    expect(body.nodes.map(({ life }: Got["body"]) => life)).toEqual([body.answered_by, other.answered_by]);
    const worker = await two.agent("listed", "listing");
    const peer = await TestPeer.greet(two, worker.token);
    peer.send({ calls: [{ n: 1, op: "claim", body: { worker: "w" }, wait_ms: 30_000 }] });
    const figures = async () => {
      const { body: page } = await one.get("/v1/nodes", operator_token);
      const { connections, calls, claims } = page.nodes[1];
      return { connections, calls, claims };
    };
    await expect.poll(figures).toEqual({ connections: 1, calls: 1, claims: 1 });
    await peer.close();
    await expect.poll(figures).toEqual({ connections: 0, calls: 0, claims: 0 });
  });

  it("are for operators only", async () => {
    const { token } = await one.agent("curious");
    expect(await one.get("/v1/nodes", token)).toMatchObject({ status: 403, body: { reason: "operator_only" } });
    expect(await ask(one, "POST", "n2", token)).toMatchObject({ status: 403 });
    expect((await two.get("/readyz")).status).toBe(200);
  });
});

describe("a node that another one was asked to drain", () => {
  let worker: TestAgent;
  let lease: { readonly id: string; readonly fence: number };
  it("says so, and sends away what waits: claims end empty, streams end, WebSockets are closed with 1001", async () => {
    worker = await two.agent("bob", "upper");
    const id = await worker.submit({ capability: "upper", text: "held" });
    lease = await worker.claim();
    expect(lease.id).toBe(id);
    const peer = await TestPeer.greet(two, worker.token);
    peer.send({ calls: [{ n: 1, op: "claim", body: { worker: "bob-2" }, wait_ms: 30_000 }] });
    const waiting = worker.post("/v1/claims", { worker: "bob-3" }, { prefer: "wait=50" });
    const followed = worker.get(`/v1/handoffs/${id}/events`, { accept: "text/event-stream" });
    await expect.poll(() => two.figure('handfast_engine{what="waiting_claims"}')).toBe(2);
    const asked = await ask(one, "POST", "n2");
    expect(asked.status).toBe(200);
    expect(asked.body.nodes).toMatchObject([{ name: "n2", state: "draining" }]);

    expect((await waiting).body).toEqual({ leases: [] });
    expect((await waiting).headers.get("connection")).toBe("close");
    expect((await followed).text).toContain("retry: 3000");
    expect((await peer.reply(1)).body).toEqual({ leases: [] });
    expect(await peer.ended).toEqual({ code: 1001, reason: "draining" });
    await becomes("n2", "drained");
    const { status, body } = await two.get("/readyz");
    expect({ status, body }).toEqual({ status: 503, body: { status: "not_ready", reasons: ["draining"], node: "n2" } });
    expect((await one.get("/readyz")).status).toBe(200);
  });

  it("refuses new work and new connections with 503 and when to come back", async () => {
    const refused = await worker.post("/v1/handoffs", { capability: "upper", text: "new" });
    expect(refused).toMatchObject({ status: 503, body: { code: 429, reason: "draining", retryable: true } });
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(refused.headers.get("connection")).toBe("close");
    expect((await worker.post("/v1/claims", { worker: "bob-1" })).status).toBe(503);
    await expect(TestPeer.open(two)).rejects.toThrow("503");
    expect((await at(one, worker).post("/v1/handoffs", { capability: "upper", text: "new" })).status).toBe(202);
  });

  it("takes what holders of leases say, as any other node does", async () => {
    const { id, fence } = lease;
    expect((await worker.act(id, "ack", { fence })).status).toBe(200);
    expect((await worker.act(id, "heartbeat", { fence })).status).toBe(200);
    expect((await at(one, worker).post(`/v1/handoffs/${id}/complete`, { fence, output: "HELD" })).status).toBe(200);
    expect((await at(one, worker).get(`/v1/handoffs/${id}`)).body).toMatchObject({ state: "completed", fence });
  });

  it("answers operators, and takes work again when that is taken back, at itself", async () => {
    const { body } = await ask(two, "DELETE", "n2");
    expect(body.nodes).toMatchObject([{ name: "n2", state: "running" }]);
    expect((await two.get("/readyz")).status).toBe(200);
    const id = await worker.submit({ capability: "upper", text: "again" });
    const greeted = await TestPeer.greet(two, worker.token);
    const reply = await greeted.call("claim", { body: { worker: "bob-4", slots: 2 }, wait_ms: 10_000 });
    expect(reply.body.leases.map((each: { id: string }) => each.id)).toContain(id);
    await greeted.close();
    // Asked of itself it need not wait for its next sign.
    expect((await ask(two, "POST", "n2")).body.nodes).toMatchObject([{ state: "drained" }]);
  });

  it("takes work when it is started again; the life that ended is known to have", async () => {
    const before = (await one.get("/v1/nodes", operator_token)).body.nodes.length;
    await two.pause();
    expect(await state("n2", one)).toBe("ended");
    await two.resume();
    expect((await two.get("/readyz")).status).toBe(200);
    expect(await state("n2", one)).toBe("running");
    expect((await one.get("/v1/nodes", operator_token)).body.nodes.length).toBe(before + 1);
  });
});

describe("nodes that all drain", () => {
  it("leave what transactions post until one of them takes work again", async () => {
    const poster = await one.agent("poster", "ship");
    await server.ask(database, "SELECT handfast.bind_role('postgres', 'poster')");
    for (const node of ["n1", "n2"]) expect((await ask(one, "POST", node)).status).toBe(200);
    for (const node of ["n1", "n2"]) await becomes(node, "drained");
    await server.ask(database, "SELECT handfast.submit('ship', '{}')");
    const posted = async () => (await server.ask(database, "SELECT id::text AS id FROM handfast.outbox")).length;
    const clock = async () => {
      const [row] = await server.ask(database, "SELECT max(heard_at)::float8 AS at FROM handfast.node");
      return Number(row?.["at"]);
    };
    // Longer than either of them leaves what was posted alone.
    const began = await clock();
    await expect.poll(clock, { timeout: 30_000 }).toBeGreaterThan(began + 1_500);
    expect(await posted()).toBe(1);
    for (const node of ["n1", "n2"]) expect((await ask(one, "DELETE", node)).status).toBe(200);
    await becomes("n1", "running");
    expect(await poster.claim()).toMatchObject({ capability: "ship" });
    await expect.poll(posted).toBe(0);
  }, 60_000);
});

describe("what cannot be drained", () => {
  it("is a node that nobody heard of: those that live are named", async () => {
    const { status, body } = await ask(one, "POST", "n9");
    expect({ status, reason: body.reason }).toEqual({ status: 404, reason: "unknown_node" });
    expect(body.detail).toContain('there is "n1", "n2"');
  });

  it("is a node that has ended, or is silent", async () => {
    const three = await start("n3");
    await three.stop();
    const ended = await ask(one, "POST", "n3");
    expect(ended).toMatchObject({
      status: 404,
      body: { reason: "node_gone", detail: expect.stringContaining("ended") },
    });
    await server.ask(database, "UPDATE handfast.node SET ended = false WHERE name = 'n3'");
    await becomes("n3", "gone");
    const silent = await ask(one, "DELETE", "n3");
    expect(silent.body.detail).toContain("was last heard of");
  });

  it("is a relay that is alone with its store", async () => {
    const alone = await TestRelay.start();
    const listed = await alone.get("/v1/nodes", operator_token);
    expect(listed.body.nodes).toMatchObject([{ name: null, state: "running", connections: 0 }]);
    const { status, body } = await ask(alone, "POST", "n1");
    expect({ status, reason: body.reason }).toEqual({ status: 409, reason: "not_among_several" });
    expect((await alone.get("/readyz")).status).toBe(200);
    await alone.stop();
  });
});
