/** What a transaction posts by `handfast.submit` is handed over after its commit, once, and judged like any other submit. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { startProxy } from "../../../store-postgres/src/testing/cutting-proxy.ts";
import { startServer, type TestServer } from "../../../store-postgres/src/testing/server.ts";
import { type TestAgent, TestRelay } from "../testing/test-relay.ts";

type Client = ReturnType<TestServer["client"]>;
type Json = Parameters<Client["json"]>[0];

let server: TestServer;
let relay: TestRelay;
let database: string;
let app: Client;
let orders: TestAgent;
let shipper: TestAgent;

const schema = {
  type: "object",
  properties: { order: { type: "integer" } },
  required: ["order"],
  additionalProperties: false,
};

beforeAll(async () => {
  server = await startServer({ durable: true });
  database = await server.createDatabase();
  relay = await TestRelay.start({ flags: ["--store", server.url(database)] });
  orders = await relay.agent("orders");
  shipper = await relay.agent("shipper", { name: "ship", input_schema: schema });
  await server.ask(database, "CREATE ROLE app LOGIN; CREATE ROLE stranger LOGIN");
  await server.ask(database, "SELECT handfast.bind_role('app', 'orders'), handfast.bind_role('stranger', 'nobody')");
  app = server.client(database, "app");
});
afterAll(async () => {
  await app.end();
  await relay.stop();
  await server.stop();
});

async function post(input: Json, options: Json = {}, capability: string | null = "ship") {
  const [row] = await app`SELECT handfast.submit(${capability}, ${app.json(input)}, ${app.json(options)}) AS id`;
  return String(row?.["id"]);
}

/** Once the relay has picked it up; the test's own time is the limit. */
async function handoff(id: string, by: TestAgent = orders) {
  for (;;) {
    const got = await by.get(`/v1/handoffs/${id}`);
    if (got.status === 200) return got.body;
  }
}

async function emptied(): Promise<void> {
  for (;;) {
    const [row] = await server.ask(database, "SELECT count(*)::integer AS rows FROM handfast.outbox");
    if (row?.["rows"] === 0) return;
  }
}

test("a transaction that commits hands over, one that is rolled back does not; the outcome goes to the bound agent", async () => {
  await app`CREATE TEMP TABLE job (id uuid)`;
  const id = await app.begin(async (tx) => {
    const [row] = await tx`SELECT handfast.submit('ship', '{"order": 7}', '{"labels": {"order": "7"}}') AS id`;
    await tx`INSERT INTO job VALUES (${row?.["id"]})`;
    return String(row?.["id"]);
  });
  const undone = app.begin(async (tx) => {
    await tx`SELECT handfast.submit('ship', '{"order": 8}')`;
    throw new Error("undone");
  });
  await expect(undone).rejects.toThrow("undone");
  const lease = await shipper.claim();
  expect(lease).toMatchObject({ id, input: { order: 7 }, from: "orders" });
  await shipper.act(id, "complete", { fence: 1, output: { shipped: true } });
  expect(await handoff(id)).toMatchObject({
    state: "completed",
    from: "orders",
    evidence: "attested",
    labels: { order: "7" },
    outcome: { output: { shipped: true } },
  });
  await emptied();
});

test.each([
  ["input that does not fit", { order: "seven" }, {}, "ship", 422, /order/],
  ["a capability that nobody offers", {}, {}, "sail", 406, /sail/],
  ["an agent that is not there", {}, { to: "ghost" }, null, 404, /ghost/],
  ["a field that there is not", { order: 1 }, { colour: "red" }, "ship", 400, /colour/],
  ["a limit that is no number", { order: 1 }, { limits: { deadline_ms: "soon" } }, "ship", 400, /deadline_ms/],
  ["an ordering key that is null", { order: 1 }, { ordering_key: null }, "ship", 400, /ordering_key/],
  ["an agent's name that is none", { order: 1 }, { to: 5 }, null, 400, /to/],
  [
    "an artifact that is not there",
    { order: 1 },
    { artifacts: [{ sha256: "e".repeat(64), size: 1, media_type: "a/b" }] },
    "ship",
    404,
    /artifact/i,
  ],
  ["nesting without end", nested(100), {}, "ship", 400, /deep/],
  [
    "a parent that is not there",
    { order: 1 },
    { causation: { id: "0192f000-0000-7000-8000-000000000000", fence: 1 } },
    "ship",
    404,
    /parent/,
  ],
])("%s becomes a dead letter", async (_, input, options, capability, code, message) => {
  const id = await post(input, options, capability);
  const dead = await handoff(id);
  expect(dead).toMatchObject({ state: "failed", code, from: "orders" });
  expect(dead.outcome.error.message).toMatch(message);
  const letter = await orders.get(`/v1/dead-letters/${id}`);
  expect(letter.body).toMatchObject({ handoff: { id, code } });
  await emptied();
});

function nested(levels: number): Json {
  let value: Json = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

test("a dead letter is redriven with its input once what it lacked is there", async () => {
  const id = await post({ order: 1 }, {}, "sail");
  expect(await handoff(id)).toMatchObject({ code: 406 });
  const sailor = await relay.agent("sailor", "sail");
  expect((await orders.post(`/v1/dead-letters/${id}/redrive`)).status).toBe(202);
  expect(await sailor.claim()).toMatchObject({ input: { order: 1 } });
});

test("what is picked up twice, as after a crash, is one handoff; so is what is posted twice under one key", async () => {
  const again = (id: string, capability: string) =>
    server.ask(
      database,
      `INSERT INTO handfast.outbox (namespace, id, agent, capability, input, options)
       VALUES ('default', '${id}', 'orders', '${capability}', '{"order": 9}', '{}')`,
    );
  const taken = await post({ order: 9 });
  const before = await handoff(taken);
  const dead = await post({ order: 9 }, {}, "fly");
  const died = await handoff(dead);
  await emptied();
  await again(taken, "ship");
  await again(dead, "fly");
  await emptied();
  expect(await handoff(taken)).toEqual(before);
  expect(await handoff(dead)).toEqual(died);
  const first = await post({ order: 10 }, { idempotency_key: "ten" });
  const same = await post({ order: 10 }, { idempotency_key: "ten" });
  const other = await post({ order: 11 }, { idempotency_key: "ten" });
  expect(await handoff(other)).toMatchObject({ state: "failed", code: 409 });
  await emptied();
  expect((await orders.get(`/v1/handoffs/${first}`)).status).toBe(200);
  expect((await orders.get(`/v1/handoffs/${same}`)).status).toBe(404);
});

test("a role cannot speak for another agent, and of one that is not registered nothing is lost", async () => {
  const stranger = server.client(database, "stranger");
  const [row] = await stranger`SELECT handfast.submit('ship', '{"order": 1}') AS id`;
  await stranger.end();
  await emptied();
  const id = String(row?.["id"]);
  expect((await orders.get(`/v1/handoffs/${id}`)).status).toBe(404);
  const nobody = await relay.agent("nobody");
  expect(await handoff(id, nobody)).toMatchObject({ state: "failed", code: 404, from: "nobody" });
});

test("what is posted while no relay runs is handed over when one does, in the order of one key", async () => {
  await shipper.post("/v1/claims", { worker: "shipper-1", request_id: "drain", slots: 50 });
  await relay.pause();
  const ids: string[] = [];
  for (const order of [1, 2, 3]) ids.push(await post({ order }, { ordering_key: "lane" }));
  await server.ask(database, "UPDATE handfast.outbox SET posted_at = now() - interval '20 days'");
  await relay.resume();
  for (const id of ids) {
    const lease = await shipper.claim({ worker: "shipper-2" });
    expect(lease.id).toBe(id);
    await shipper.act(id, "complete", { fence: 1, output: {} });
  }
});

test("while the sender is over its quota, what it posted waits, and is handed over once there is room", async () => {
  await relay.pause();
  await relay.resume("--open-handoffs-per-sender", "1", "--production");
  await server.ask(database, "CREATE ROLE busy LOGIN; SELECT handfast.bind_role('busy', 'sailor')");
  const busy = server.client(database, "busy");
  const posted = await busy`SELECT handfast.submit('ship', '{"order": 1}') AS id FROM generate_series(1, 2)`;
  await busy.end();
  const waiting = async () =>
    (await server.ask(database, "SELECT id::text AS id FROM handfast.outbox WHERE tries > 0"))[0]?.["id"];
  let second: unknown;
  while (second === undefined) second = await waiting();
  expect(second).toBe(posted[1]?.["id"]);
  const lease = await shipper.claim({ worker: "shipper-3" });
  expect(lease.id).toBe(posted[0]?.["id"]);
  await shipper.act(lease.id, "complete", { fence: 1, output: {} });
  expect((await shipper.claim({ worker: "shipper-3" })).id).toBe(second);
});

test("far from the database what is to be in order is dropped as it is handed over, not taken again and again", async () => {
  const far = await server.createDatabase();
  const network = await startProxy(server.port);
  const node = await TestRelay.start({
    flags: ["--store", server.url(far).replace(`:${server.port}`, `:${network.port}`)],
  });
  const rows = async (table: string) =>
    Number((await server.ask(far, `SELECT count(*)::integer AS n FROM handfast.${table}`))[0]?.["n"]);
  await node.agent("orders");
  await node.agent("shipper", { name: "ship" });
  await server.ask(far, "SELECT handfast.bind_role('postgres', 'orders')");
  // Each of them takes a few of these; all of them more than the server keeps a transaction open that says nothing.
  network.delay(100);
  await server.ask(far, `SELECT handfast.submit('ship', '{}', '{"ordering_key": "lane"}') FROM generate_series(1, 16)`);
  while ((await rows("outbox")) === 16) expect(await rows("accepted")).toBeLessThan(16);
  network.delay(0);
  while ((await rows("outbox")) > 0);
  expect(await rows("accepted")).toBe(16);
  await server.ask(
    far,
    `SELECT handfast.submit('ship', '{}', jsonb_build_object('ordering_key', 'lane ' || n)) FROM generate_series(1, 16) AS n`,
  );
  while ((await rows("outbox")) > 0);
  const commits =
    "SELECT count(DISTINCT xmin::text)::integer AS n FROM (SELECT xmin FROM handfast.accepted ORDER BY num DESC LIMIT 16) AS last";
  expect(Number((await server.ask(far, commits))[0]?.["n"])).toBeLessThan(8);
  await node.stop();
  await network.close();
});
