/** Three relays as processes on one database: whoever speaks to one of them has spoken to all. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { remedyOf } from "@handfast/protocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer } from "../../store-postgres/src/testing/server.ts";
import { testAgent } from "./identity/testing/test-agent.ts";
import { RelayProcess } from "./testing/relay-process.ts";
import { TestPeer } from "./transports/websocket/testing/test-peer.ts";

const public_url = "https://relay.example";
const patience = { prefer: "wait=20" };
let server: TestServer;
let database: string;
let directory: string;
const relays: RelayProcess[] = [];
const urls: string[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "handfast-nodes-"));
  server = await startServer({ durable: true });
  database = await server.createDatabase();
  const store = server.url(database);
  // All at once: one of them makes the tables, the key and the operator's token.
  for (const node of ["n1", "n2", "n3"]) {
    const places = ["--port", "0", "--data", join(directory, node), "--store", store, "--node", node];
    relays.push(new RelayProcess(...places, "--dev", "--public-url", public_url));
  }
  for (const relay of relays) {
    await relay.url();
    urls.push(/listens on (\S+)/.exec(relay.stdout)?.[1] ?? "");
  }
}, 60_000);
afterAll(async () => {
  const codes = await Promise.all(relays.map((relay) => relay.stop("SIGTERM")));
  await server.stop();
  rmSync(directory, { recursive: true });
  expect(codes).toEqual([0, 0, 0]);
});

type Method = "GET" | "POST" | "PUT" | "DELETE";
async function call(node: 1 | 2 | 3, method: Method, path: string, token = "", body?: object, headers = {}) {
  const answer = await fetch(urls[node - 1] + path, {
    method,
    headers: {
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(token !== "" && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const is_json = (answer.headers.get("content-type") ?? "").includes("json");
  return { status: answer.status, body: is_json ? JSON.parse(text) : text };
}
type Got = Awaited<ReturnType<typeof call>>;

/** Asks again until the answer is so; the test's own time is the limit. */
async function until(ask: () => Promise<Got>, isSo: (got: Got) => boolean): Promise<Got> {
  for (;;) {
    const got = await ask();
    if (isSo(got)) return got;
  }
}

const operatorToken = () => readFileSync(join(directory, "n1", "operator-token"), "utf8").trim();

async function tokenOf(node: 1 | 2 | 3, agent: string, capabilities: readonly object[] = []): Promise<string> {
  const made = await call(node, "POST", "/v1/tokens", "", { agent, capabilities });
  expect(made.status).toBe(201);
  return made.body.token;
}

test("each says which it is; all have one key and one operator's token", async () => {
  const keys = new Set<string>();
  const tokens = new Set<string>();
  for (const node of [1, 2, 3] as const) {
    expect((await call(node, "GET", "/readyz")).body).toEqual({ status: "ok", reasons: [], node: `n${node}` });
    expect((await call(node, "GET", "/metrics")).body).toContain(`handfast_node_info{node="n${node}"} 1`);
    keys.add((await call(node, "GET", "/.well-known/handfast")).body.relay_key.x);
    tokens.add(readFileSync(join(directory, `n${node}`, "operator-token"), "utf8").trim());
  }
  expect([keys.size, tokens.size]).toEqual([1, 1]);
  const [operator = ""] = tokens;
  for (const node of [1, 2, 3] as const) expect((await call(node, "GET", "/v1/routes", operator)).status).toBe(200);
});

test("registered on 1, serving through 2, found on 3, sent through 1, awaited on 3, followed on 2 and resumed on 1", async () => {
  const bob = await tokenOf(1, "bob", [{ name: "upper" }]);
  const alice = await tokenOf(3, "alice");
  const claimed = call(2, "POST", "/v1/claims", bob, { worker: "bob-1", request_id: "first" }, patience);
  const find = () => call(3, "POST", "/v1/discover", alice, { capability: "upper" });
  const found = await until(find, ({ status }) => status === 200);
  expect(found.body.hits[0].agent_id).toBe("bob");

  const sent = await call(1, "POST", "/v1/handoffs", alice, { capability: "upper", text: "hello" });
  expect(sent.status).toBe(202);
  const at = `/v1/handoffs/${sent.body.id}`;
  const [lease] = (await claimed).body.leases;
  expect(lease).toMatchObject({ id: sent.body.id, fence: 1 });
  const awaited = call(3, "GET", at, alice, undefined, patience);
  const followed = await call(2, "GET", `${at}/events`, alice, undefined, patience);
  expect((await call(2, "POST", `${at}/ack`, bob, { fence: 1 })).status).toBe(200);
  expect((await call(2, "POST", `${at}/complete`, bob, { fence: 1, output: "HELLO" })).status).toBe(200);
  expect((await awaited).body).toMatchObject({ state: "completed", code: 200 });

  const { cursor, events } = followed.body;
  const rest = await call(1, "GET", `${at}/events?cursor=${cursor}`, alice);
  const all = [...events, ...rest.body.events];
  expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1));
  expect(all.map(({ type }) => type)).toEqual(expect.arrayContaining(["accepted", "acknowledged", "completed"]));
  expect(rest.body.ended).toBe(true);
}, 60_000);

test("a token of one node is good at another at once, and ended at a third it ends everywhere, with what waits by it", async () => {
  await tokenOf(1, "carol", [{ name: "lower" }]);
  const operator = operatorToken();
  const made = await call(1, "POST", "/v1/tokens", operator, { agent: "carol", label: "second" });
  const { token, id } = made.body;
  // Without waiting for anything: whoever is not known is looked for.
  expect((await call(2, "GET", "/v1/agents/carol", token)).status).toBe(200);
  const waiting = call(2, "POST", "/v1/claims", token, { worker: "carol-1", request_id: "waits" }, patience);
  const peer = await TestPeer.greet({ url: urls[0] ?? "" }, token);
  expect((await call(3, "GET", "/v1/agents/carol", token)).status).toBe(200);
  expect((await call(3, "DELETE", `/v1/tokens/${id}?agent=carol`, operator)).status).toBeLessThan(300);
  const ended_at = performance.now();
  for (const node of [1, 2, 3] as const) {
    await until(
      () => call(node, "GET", "/v1/agents/carol", token),
      ({ status }) => status === 401,
    );
  }
  expect(performance.now() - ended_at).toBeLessThan(2_000);
  expect(await peer.ended).toMatchObject({ code: 4401 });
  // It does not go on to wait, and is given nothing.
  expect((await waiting).body).toMatchObject({ leases: [] });
  expect(performance.now() - ended_at).toBeLessThan(5_000);
}, 60_000);

test("whoever waits at one node is given what it comes to offer at another", async () => {
  const oscar = await tokenOf(2, "oscar");
  const peggy = await tokenOf(1, "peggy");
  const claimed = call(2, "POST", "/v1/claims", oscar, { worker: "oscar-1", request_id: "early" }, patience);
  const claims = () => call(2, "GET", "/metrics");
  await until(claims, ({ body }) => body.includes('handfast_engine{what="waiting_claims"} 1'));
  const capabilities = [{ name: "late" }];
  expect((await call(1, "PUT", "/v1/agents/oscar/capabilities", oscar, { capabilities })).status).toBe(200);
  const sent_at = performance.now();
  const sent = await call(1, "POST", "/v1/handoffs", peggy, { capability: "late", text: "hello" });
  expect(sent.status).toBe(202);
  expect((await claimed).body.leases).toMatchObject([{ id: sent.body.id, fence: 1 }]);
  expect(performance.now() - sent_at).toBeLessThan(5_000);
}, 60_000);

test("whoever names what it takes is not refused at a node that does not know of it yet", async () => {
  const rupert = await tokenOf(2, "rupert");
  for (let n = 0; n < 10; n += 1) {
    const name = `skill-${n}`;
    const body = { capabilities: [{ name }] };
    expect((await call(1, "PUT", "/v1/agents/rupert/capabilities", rupert, body)).status).toBe(200);
    const claimed = await call(2, "POST", "/v1/claims", rupert, { worker: "rupert-1", capabilities: [name] });
    expect(claimed).toMatchObject({ status: 200, body: { leases: [] } });
  }
  const strange = await call(2, "POST", "/v1/claims", rupert, { worker: "rupert-1", capabilities: ["none"] });
  expect(strange).toMatchObject({ status: 404, body: { reason: "not_offered" } });
}, 60_000);

test("a manifest changed on one node is what another checks input by", async () => {
  const dave = await tokenOf(1, "dave", [{ name: "count", input_schema: { type: "string" } }]);
  const erin = await tokenOf(2, "erin");
  const send = (input: unknown) => call(2, "POST", "/v1/handoffs", erin, { capability: "count", input });
  await until(
    () => send("text"),
    ({ status }) => status === 202,
  );
  expect((await send(7)).status).toBe(422);
  const capabilities = [{ name: "count", input_schema: { type: "integer" } }];
  const changed = await call(1, "PUT", "/v1/agents/dave/capabilities", dave, { capabilities });
  expect(changed.status).toBe(200);
  await until(
    () => send(7),
    ({ status }) => status === 202,
  );
  expect((await send("text")).status).toBe(422);
}, 60_000);

test("nodes that change one agent at the same time all get through, and agree in the end", async () => {
  const frank = await tokenOf(1, "frank");
  const nodes = [1, 2, 3] as const;
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) => {
      const capabilities = [{ name: `skill-${n}` }];
      return call(nodes[n % 3] ?? 1, "PUT", "/v1/agents/frank/capabilities", frank, { capabilities });
    }),
  );
  const statuses = answers.map(({ status }) => status);
  // Whoever was overtaken again and again is told so, and nothing of it stays.
  expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);
  expect(statuses).toContain(200);
  const last = await call(3, "PUT", "/v1/agents/frank/capabilities", frank, { capabilities: [{ name: "last" }] });
  expect(last.status).toBe(200);
  for (const node of nodes) {
    const look = () => call(node, "GET", "/v1/agents/frank", frank);
    const { body } = await until(look, (got) => got.body.manifest.digest === last.body.digest);
    expect(body.capabilities).toMatchObject([{ name: "last" }]);
    const offered = await call(node, "POST", "/v1/discover", frank, { capability: "skill-11" });
    expect(offered.status).toBe(406);
  }
}, 60_000);

test("a challenge of one node is answered at another, and the agent's own credential is good at the third", async () => {
  const { challenge } = (await call(1, "POST", "/v1/agents/challenge", "", {})).body;
  const grace = testAgent("grace");
  const document = {
    v: 1,
    typ: "registration",
    relay: public_url,
    namespace: "default",
    agent_id: "grace",
    challenge,
    key: grace.jwk,
    capabilities: [{ name: "sign" }],
  };
  const signed = await grace.sign("registration", document);
  expect((await call(2, "POST", "/v1/agents", "", { signed })).status).toBe(201);
  const credential = await grace.credential(public_url, Date.now());
  expect((await call(3, "GET", "/v1/agents/grace", credential)).status).toBe(200);
  const changed = { ...document, capabilities: [{ name: "forge" }] };
  const again = await call(3, "POST", "/v1/agents", "", { signed: await grace.sign("registration", changed) });
  expect(again).toMatchObject({ status: 401, body: { reason: "challenge_used" } });
}, 60_000);

test("asked for on 1, proposed on 2, agreed on 3, and handed over under the contract on 1", async () => {
  const judy = await tokenOf(2, "judy", [{ name: "quote", proposes: true, timeout_seconds: 30 }]);
  const ivan = await tokenOf(1, "ivan");
  await until(
    () => call(1, "POST", "/v1/discover", ivan, { capability: "quote" }),
    ({ status }) => status === 200,
  );
  const { mark } = (await call(2, "GET", "/v1/proposals", judy)).body;
  const told = call(2, "GET", `/v1/proposals?since=${mark}`, judy, undefined, patience);
  const asked = call(1, "POST", "/v1/negotiations", ivan, { capability: "quote", reply_by_ms: 20_000 }, patience);
  const [proposal] = (await told).body.proposals;
  const cost = { amount: 70, per: "handoff" };
  expect((await call(2, "POST", `/v1/proposals/${proposal.id}`, judy, { cost })).status).toBeLessThan(300);
  const [offer] = (await asked).body.offers;
  expect(offer).toMatchObject({ made_by: "proposal", cost });
  const { offer_id } = offer;
  const agreed = await until(
    () => call(3, "POST", "/v1/contracts", ivan, { offer_id }),
    ({ status }) => status !== 404,
  );
  expect(agreed.status).toBe(201);
  const work = { capability: "quote", contract: agreed.body.id, input: "hello" };
  const sent = await until(
    () => call(1, "POST", "/v1/handoffs", ivan, work),
    ({ status }) => status !== 404,
  );
  expect(sent.status).toBe(202);
}, 60_000);

test("an agent that one node forgets is gone everywhere, and its name is free at any", async () => {
  const heidi = await tokenOf(1, "heidi", [{ name: "vanish" }]);
  expect((await call(3, "GET", "/v1/agents/heidi", heidi)).status).toBe(200);
  expect((await call(2, "DELETE", "/v1/agents/heidi", operatorToken())).status).toBe(200);
  await until(
    () => call(1, "GET", "/v1/agents/heidi", operatorToken()),
    ({ status }) => status === 404,
  );
  const again = await until(
    () => call(3, "POST", "/v1/tokens", "", { agent: "heidi" }),
    ({ status }) => status !== 403,
  );
  expect(again.status).toBe(201);
  expect((await call(1, "GET", "/v1/agents/heidi", again.body.token)).status).toBe(200);
}, 60_000);

test("a backup is left to the tools of the database, and the refusal says which", async () => {
  const { status, body } = await call(1, "POST", "/v1/backup", operatorToken(), {});
  expect({ status, reason: body.reason }).toEqual({ status: 409, reason: "backup_elsewhere" });
  const { remedy } = remedyOf(body.code, body.reason);
  for (const said of [body.detail, remedy]) expect(said).toMatch(/pg_dump.*pg_basebackup/);
});

test("a node that slept for longer than changes are kept reads everything anew", async () => {
  const mallory = await tokenOf(3, "mallory", [{ name: "sleep" }]);
  expect((await call(1, "GET", "/v1/agents/mallory", mallory)).status).toBe(200);
  relays[2]?.signal("SIGSTOP");
  await tokenOf(1, "niaj", [{ name: "wake" }]);
  expect((await call(1, "DELETE", "/v1/agents/mallory", operatorToken())).status).toBe(200);
  const newest = "(SELECT max(pos) FROM handfast.record_change)";
  await server.ask(database, `DELETE FROM handfast.record_change WHERE pos < ${newest}`);
  relays[2]?.signal("SIGCONT");
  const look = () => call(3, "POST", "/v1/discover", operatorToken(), { capability: "wake" });
  await until(look, ({ status }) => status === 200);
  await until(
    () => call(3, "GET", "/v1/agents/mallory", mallory),
    ({ status }) => status === 401,
  );
}, 60_000);
