/** What /metrics says of a relay on PostgreSQL: each figure moves for its cause. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresPair } from "../../store-postgres/src/testing/pair.ts";
import { startServer, type TestServer } from "../../store-postgres/src/testing/server.ts";
import { type TestAgent, TestRelay } from "./testing/test-relay.ts";

let server: TestServer;
let database: string;
let one: TestRelay;
let two: TestRelay;
let agent: TestAgent;
beforeAll(async () => {
  server = await startServer({ durable: true, settings: { max_prepared_transactions: "2" } });
  database = await server.createDatabase();
  const flags = ["--store", server.url(database)];
  one = await TestRelay.start({ flags });
  two = await TestRelay.start({ flags });
  agent = await one.agent("counted", "counting");
}, 60_000);
afterAll(async () => {
  await Promise.all([one.stop(), two.stop()]);
  await server.stop();
});

const figure = (name: string, relay = one) => relay.figure(name);
const xmin = (what: "transactions" | "seconds", holder: string, relay = one) =>
  figure(`handfast_oldest_xmin_${what}{holder="${holder}"}`, relay);
/** What the database says is asked anew after some seconds. */
const patient = { timeout: 30_000, interval: 300 };

describe("commits and claims", () => {
  it("are counted with how long they took, and how many units shared a commit", async () => {
    const count = async (name: string) => (await figure(`${name}_count`)) || 0;
    const before = await Promise.all(["handfast_commit_seconds", "handfast_commit_units"].map(count));
    const units = await figure("handfast_commit_units_sum");
    await agent.submit({ capability: "counting", input: 1 });
    const after = await Promise.all(["handfast_commit_seconds", "handfast_commit_units"].map(count));
    for (const [nth, each] of after.entries()) expect(each).toBeGreaterThan(before[nth] ?? 0);
    expect(await figure("handfast_commit_units_sum")).toBeGreaterThan(units);
  });

  it("of a batch show in the sizes", async () => {
    const large = async () =>
      (await figure("handfast_commit_units_count")) - (await figure('handfast_commit_units_bucket{le="4"}'));
    const before = await large();
    // What comes while a commit is under way shares the next one.
    const sent = () =>
      Promise.all(Array.from({ length: 40 }, () => agent.submit({ capability: "counting", input: 1 })));
    await expect.poll(async () => (await sent()) && (await large()), { timeout: 30_000 }).toBeGreaterThan(before);
  });

  it("are told of a claim when it has work, or has to wait for some; the wait itself is not", async () => {
    const other = await one.agent("idle", "nothing");
    const before = await figure("handfast_claim_seconds_count");
    const waiting = other.post("/v1/claims", { worker: "idle-1" }, { prefer: "wait=3" });
    await expect.poll(() => figure("handfast_claim_seconds_count")).toBe(before + 1);
    const sum = await figure("handfast_claim_seconds_sum");
    expect((await waiting).body).toEqual({ leases: [] });
    expect(await figure("handfast_claim_seconds_sum")).toBe(sum);
    await agent.claim();
    expect(await figure("handfast_claim_seconds_count")).toBe(before + 2);
  });
});

describe("the pool", () => {
  it("is idle, until more is asked than it has connections", async () => {
    await expect.poll(() => figure('handfast_pool_connections{state="idle"}')).toBeGreaterThan(0);
    expect(await figure("handfast_pool_waiting")).toBe(0);
    expect(await figure("handfast_store_answers")).toBe(1);
    // Whoever reads events waits for whoever has their table.
    const client = server.client(database, "postgres");
    const id = await agent.submit({ capability: "counting", input: 1 });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
    const held = client.begin(async (sql) => {
      await sql`LOCK TABLE handfast.event IN ACCESS EXCLUSIVE MODE`;
      lock();
      await released;
    });
    await locked;
    const reads = Array.from({ length: 9 }, () => agent.get(`/v1/handoffs/${id}/events`));
    await expect.poll(() => figure("handfast_pool_waiting"), { timeout: 20_000 }).toBeGreaterThan(0);
    // The figures come all the same.
    expect(await figure("handfast_store_answers")).toBe(0);
    release();
    await held;
    for (const { status } of await Promise.all(reads)) expect(status).toBe(200);
    await client.end();
    await expect.poll(() => figure("handfast_pool_waiting"), { timeout: 20_000 }).toBe(0);
  });
});

describe("signals", () => {
  it("are heard by the other node, and how long after the commit", async () => {
    const before = (await figure("handfast_signal_lag_seconds_count", two)) || 0;
    await agent.submit({ capability: "counting", input: 1 });
    await expect.poll(() => figure("handfast_signal_lag_seconds_count", two), patient).toBeGreaterThan(before);
    const mean = async () =>
      (await figure("handfast_signal_lag_seconds_sum", two)) / (await figure("handfast_signal_lag_seconds_count", two));
    // By one clock: it is neither that of the start of the process nor of 1970.
    expect(await mean()).toBeLessThan(10);
  });
});

type Client = ReturnType<TestServer["client"]>;

/** Somebody reads, and goes on to need what was there when it began. */
async function holdSnapshot(client: Client): Promise<() => Promise<void>> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const held = client.begin("ISOLATION LEVEL REPEATABLE READ", async (sql) => {
    await sql`SELECT 1`;
    begin();
    await released;
  });
  await begun;
  return async () => {
    release();
    await held;
  };
}

describe("what holds the database back", () => {
  it("is a transaction that somebody holds open: by its transactions and its seconds", async () => {
    const client = server.client(database, "postgres");
    const release = await holdSnapshot(client);
    for (let n = 0; n < 40; n += 1) await agent.submit({ capability: "counting", input: n });
    await expect.poll(() => xmin("transactions", "session"), patient).toBeGreaterThan(40);
    expect(await xmin("seconds", "session")).toBeGreaterThan(0);
    await release();
    await client.end();
    await expect.poll(() => xmin("transactions", "session"), patient).toBeLessThan(40);
  }, 90_000);

  it("is a prepared transaction that nobody ended", async () => {
    expect(await xmin("transactions", "prepared")).toBe(0);
    const gid = "'left behind'";
    await server.ask(
      database,
      `CREATE TABLE public.t (n integer); BEGIN; INSERT INTO public.t VALUES (1); PREPARE TRANSACTION ${gid}`,
    );
    await agent.submit({ capability: "counting", input: 1 });
    await expect.poll(() => xmin("transactions", "prepared"), patient).toBeGreaterThan(0);
    expect(await xmin("seconds", "prepared")).toBeGreaterThan(0);
    await server.ask(database, `ROLLBACK PREPARED ${gid}`);
    await expect.poll(() => xmin("transactions", "prepared"), patient).toBe(0);
    expect(await xmin("seconds", "prepared")).toBeNaN();
  }, 90_000);
});

describe("what a standby asks to be kept for its readers", () => {
  let pair: PostgresPair;
  let relay: TestRelay;
  let sender: TestAgent;
  let standby: Client;
  beforeAll(async () => {
    pair = await PostgresPair.start();
    await pair.ask("postgres", "CREATE DATABASE handoffs");
    relay = await TestRelay.start({ flags: ["--store", pair.url("handoffs")] });
    sender = await relay.agent("counted", "counting");
    standby = pair.standby("postgres");
    await set("wal_receiver_status_interval", "1s");
    await set("hot_standby_feedback", "on");
  }, 60_000);
  afterAll(async () => {
    await standby.end();
    await relay.stop();
    await pair.stop();
  });

  async function set(name: string, value: string): Promise<void> {
    await standby.unsafe(`ALTER SYSTEM SET ${name} = '${value}'`);
    await standby.unsafe("SELECT pg_reload_conf()");
  }

  async function work(): Promise<void> {
    for (let n = 0; n < 40; n += 1) await sender.submit({ capability: "counting", input: n });
  }

  it("holds the primary back as the standby's own, until the reader ends", async () => {
    const reader = pair.standby("postgres");
    const release = await holdSnapshot(reader);
    await work();
    await expect.poll(() => xmin("transactions", "standby", relay), patient).toBeGreaterThan(40);
    await release();
    await reader.end();
    await expect.poll(() => xmin("transactions", "standby", relay), patient).toBeLessThan(40);
  }, 90_000);

  it("is kept by a slot where it has one, also when nobody uses the slot any more, until that is dropped", async () => {
    expect(await xmin("transactions", "slot", relay)).toBe(0);
    await pair.ask("postgres", "SELECT pg_create_physical_replication_slot('readers')");
    const reader = pair.standby("postgres");
    const release = await holdSnapshot(reader);
    await set("primary_slot_name", "readers");
    await work();
    await expect.poll(() => xmin("transactions", "slot", relay), patient).toBeGreaterThan(40);
    expect(await xmin("seconds", "slot", relay)).toBeNaN();
    await set("primary_slot_name", "");
    await release();
    await reader.end();
    const active = "SELECT active FROM pg_replication_slots WHERE slot_name = 'readers'";
    await expect.poll(() => pair.ask("postgres", active), patient).toMatchObject([{ active: false }]);
    // How many transactions came while the standby still moved the slot on is not known: it stands now, so they only get more. The
    // relay's own figure may be of a moment before.
    const [slot] = await pair.ask("postgres", "SELECT age(xmin) AS transactions FROM pg_replication_slots");
    const before = Number(slot?.["transactions"]);
    await work();
    await expect.poll(() => xmin("transactions", "slot", relay), patient).toBeGreaterThanOrEqual(before + 40);
    await pair.ask("postgres", "SELECT pg_drop_replication_slot('readers')");
    await expect.poll(() => xmin("transactions", "slot", relay), patient).toBe(0);
  }, 90_000);
});

it("a relay on a file tells of commits and claims, and of no server", async () => {
  const alone = await TestRelay.start();
  const own = await alone.agent("counted", "counting");
  await own.submit({ capability: "counting", input: 1 });
  await own.claim();
  expect(await figure("handfast_claim_seconds_count", alone)).toBe(1);
  expect(await figure("handfast_commit_units_count", alone)).toBeGreaterThan(0);
  expect((await alone.get("/metrics")).text).not.toMatch(/handfast_(pool|oldest|signal)/);
  await alone.stop();
});
