/** What a store says when it cannot be opened, and how it is migrated. */

import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { accept, sampleHandoff, unit } from "../../engine/src/store.samples.ts";
import { migrations } from "./migrations/mod.ts";
import { openPostgresStore, type PostgresStoreOptions } from "./mod.ts";
import { startServer, type TestServer } from "./testing/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

/** What PgBouncer says to a setting that it does not know, as the server's protocol has it. */
const fields = ["SFATAL", "C08P01", "Munsupported startup parameter: jit"].map((field) => `${field}\0`).join("");
const length = Buffer.alloc(4);
length.writeInt32BE(4 + fields.length + 1);
const refusedSetting = Buffer.concat([Buffer.from("E"), length, Buffer.from(`${fields}\0`)]);

const open = (url: string, options: PostgresStoreOptions = {}) =>
  openPostgresStore(url, { may_lose: true, ...options });
const refusal = async (url: string, options: PostgresStoreOptions = {}) => {
  try {
    const store = await open(url, options);
    await store.close();
  } catch (error) {
    return error;
  }
  throw new Error("it was opened");
};

describe("a store that cannot be opened says why, and what to do", () => {
  test("a URL that is none", async () => {
    for (const url of [
      "postgres:/db",
      "postgres//host/db",
      "mysql://host/db",
      "postgres://a@b@c:x/",
      "postgres://a:%zz@h/db",
    ]) {
      expect(await refusal(url)).toMatchObject({
        fault: "bad_url",
        message: expect.stringContaining("postgres://USER"),
      });
    }
  });

  test("nobody listens there", async () => {
    const error = await refusal("postgres://someone:secret@127.0.0.1:1/db");
    expect(error).toMatchObject({ fault: "unreachable", message: expect.stringContaining("someone@127.0.0.1:1/db") });
    expect(String(error)).not.toContain("secret");
  });

  test("a synchronous standby that is away, at the first start and at another behind its lock", async () => {
    const own = await startServer({ settings: { synchronous_standby_names: "away" } });
    onTestFinished(() => own.stop());
    const error = { fault: "unconfirmed", message: expect.stringContaining("synchronous_standby_names") };
    const url = own.url("postgres");
    expect(await Promise.all([refusal(url), refusal(url)])).toMatchObject([error, error]);
  });

  test("a pool that does not take the settings of a connection", async () => {
    const pool = createServer((client) => {
      client.once("data", () => client.end(refusedSetting));
    }).listen(0, "127.0.0.1");
    await once(pool, "listening");
    const address = pool.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const error = await refusal(`postgres://someone@127.0.0.1:${port}/db`);
    pool.close();
    expect(error).toMatchObject({ fault: "refused", message: expect.stringContaining("name the server itself") });
  });

  test("no such database, and no such user", async () => {
    const database = await refusal(server.url("nowhere"));
    expect(database).toMatchObject({ fault: "refused", message: expect.stringContaining("createdb") });
    const user = await refusal(`postgres://nobody_here@127.0.0.1:${server.port}/postgres`);
    expect(user).toMatchObject({ fault: "refused", message: expect.stringContaining("nobody_here") });
  });

  test("a user who may not create anything", async () => {
    const database = await server.createDatabase();
    await server.ask(database, "CREATE ROLE guest LOGIN");
    const error = await refusal(server.url(database).replace("postgres@", "guest@"));
    expect(error).toMatchObject({ fault: "no_rights", message: expect.stringContaining("GRANT CREATE ON DATABASE") });
  });

  test("a user who may not connect to the database, and a database that takes no connections", async () => {
    const database = await server.createDatabase();
    await server.ask("postgres", `CREATE ROLE outsider LOGIN; REVOKE CONNECT ON DATABASE ${database} FROM PUBLIC`);
    const error = await refusal(server.url(database).replace("postgres@", "outsider@"));
    expect(error).toMatchObject({ fault: "no_rights", message: expect.stringContaining("GRANT CONNECT ON DATABASE") });
    const closed = await refusal(server.url("template0"));
    expect(closed).toMatchObject({ fault: "refused", message: expect.stringContaining("ALLOW_CONNECTIONS") });
  });

  test("a setting in the URL that no connection can have of its own", async () => {
    const error = await refusal(`${server.url("postgres")}?fsync=on`);
    expect(error).toMatchObject({ fault: "bad_url", message: expect.stringContaining('"fsync"') });
  });

  test("anything else that the server says, with its code", async () => {
    const error = await refusal(`${server.url("postgres")}?session_preload_libraries=not_there`);
    expect(error).toMatchObject({ fault: "refused", message: expect.stringMatching(/not_there.* 58P01 .*own log/) });
  });

  test("a server that speaks as PostgreSQL does, and says that it is something else", async () => {
    const database = await server.createDatabase();
    const said = "CockroachD";
    // Of the same length, since a message begins with its own.
    const between = createServer((client) => {
      const far = connect(server.port, "127.0.0.1");
      client.pipe(far).on("error", () => client.destroy());
      far.on("data", (data) => client.write(data.toString("latin1").replace(/PostgreSQL(?= \d)/, said), "latin1"));
      client.on("error", () => far.destroy()).on("close", () => far.destroy());
    }).listen(0, "127.0.0.1");
    await once(between, "listening");
    const { port } = between.address() as AddressInfo;
    const error = await refusal(server.url(database).replace(`:${server.port}`, `:${port}`));
    between.close();
    expect(error).toMatchObject({ fault: "foreign", message: expect.stringContaining(`answers as "${said} `) });
    const schemas = await server.ask(database, "SELECT nspname FROM pg_namespace WHERE nspname = 'handfast'");
    expect(schemas).toEqual([]);
  });

  test("a schema of another product is left as it was", async () => {
    const database = await server.createDatabase();
    await server.ask(database, "CREATE SCHEMA handfast; CREATE TABLE handfast.boats (name text)");
    expect(await refusal(server.url(database))).toMatchObject({
      fault: "foreign",
      message: expect.stringContaining("boats"),
    });
    const tables = await server.ask(
      database,
      "SELECT relname FROM pg_class WHERE relnamespace = 'handfast'::regnamespace",
    );
    expect(tables).toEqual([{ relname: "boats" }]);
  });

  test("a database in another encoding", async () => {
    await server.ask("postgres", "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    expect(await refusal(server.url("latin"))).toMatchObject({
      fault: "foreign",
      message: expect.stringContaining("LATIN1"),
    });
  });

  test("a database that is read only", async () => {
    const database = await server.createDatabase();
    await server.ask("postgres", `ALTER DATABASE ${database} SET default_transaction_read_only = on`);
    expect(await refusal(server.url(database))).toMatchObject({
      fault: "read_only",
      message: expect.stringContaining("default_transaction_read_only"),
    });
  });

  test("a server that may lose what it confirmed", async () => {
    expect(await refusal(server.url("postgres"), { may_lose: false })).toMatchObject({
      fault: "not_durable",
      message: expect.stringContaining("fsync off"),
    });
  });
});

describe("migrations", () => {
  const next = { name: "more", sql: "CREATE TABLE handfast.more (n integer)", oldest_reader: 1 };
  const known = migrations.length;
  const ours = migrations.map(({ name }, index) => ({ step: index + 1, name }));
  const stepsOf = async (database: string) =>
    (await server.ask(database, "SELECT step, name FROM handfast.schema_step ORDER BY step")).map((row) => ({
      ...row,
    }));
  const waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
  const waitingIn = async (database: string) => (await server.ask(database, waits)).length;

  test("stores that are opened at once migrate once", async () => {
    const database = await server.createDatabase();
    const stores = await Promise.all([1, 2, 3].map(() => open(server.url(database))));
    expect(await stepsOf(database)).toEqual(ours);
    for (const store of stores) await store.close();
  });

  test("a step that expands leaves older nodes at work; one that contracts refuses them", async () => {
    const database = await server.createDatabase();
    const url = server.url(database);
    const older = await open(url);
    const newer = await open(url, { migrations: [...migrations, next] });
    expect(await stepsOf(database)).toEqual([...ours, { step: known + 1, name: "more" }]);
    const record = { namespace: "n", kind: "k", key: "r", expected_version: 0, value: 1 };
    expect(await older.commit([{ writes: [], records: [record] }])).toEqual(["ok"]);
    await older.recover();
    expect(await older.record("n", "k", "r")).toMatchObject({ value: 1 });

    const last = { name: "less", sql: "DROP TABLE handfast.more", oldest_reader: known + 2 };
    const newest = await open(url, { migrations: [...migrations, next, last] });
    expect(await refusal(url)).toMatchObject({
      fault: "too_new",
      message: expect.stringContaining(
        `has schema ${known + 2}, which needs a version of Handfast that knows schema ${known + 2}`,
      ),
    });
    for (const store of [older, newer, newest]) await store.close();
  });

  test("a step that waits for a transaction that stays open lets older nodes work meanwhile", async () => {
    const database = await server.createDatabase();
    const url = server.url(database);
    const older = await open(url);
    const reader = server.client(database, "postgres");
    await reader.unsafe("BEGIN");
    await reader.unsafe("SELECT FROM handfast.ready");
    const more = { name: "more", sql: "ALTER TABLE handfast.ready ADD COLUMN more text", oldest_reader: 1 };
    const newer = open(url, { migrations: [...migrations, more] });
    while ((await waitingIn(database)) < 1);
    for (const id of ["a", "b"]) expect(await older.commit([unit(accept(sampleHandoff(id)))])).toEqual(["ok"]);
    expect(await stepsOf(database)).toEqual(ours);
    await reader.unsafe("COMMIT");
    for (const store of [older, await newer]) await store.close();
    await reader.end();
    expect(await stepsOf(database)).toEqual([...ours, { step: known + 1, name: "more" }]);
  });

  test("a step and an older node that wait for each other both come to their end", async () => {
    const database = await server.createDatabase();
    const url = server.url(database);
    await (await open(url)).close();
    const older = server.client(database, "postgres");
    await older.unsafe("BEGIN");
    await older.unsafe("SELECT FROM handfast.ready");
    // As an index that is built, and then takes the place of another.
    const sql = `LOCK TABLE handfast.ready IN SHARE MODE; SELECT pg_advisory_xact_lock(1);
      LOCK TABLE handfast.ready IN ACCESS EXCLUSIVE MODE`;
    const built = server.client(database, "postgres");
    await built.unsafe("SELECT pg_advisory_lock(1)");
    const newer = open(url, { migrations: [...migrations, { name: "more", sql, oldest_reader: 1 }] });
    while ((await waitingIn(database)) < 1);
    let is_written = false;
    const written = older.unsafe("LOCK TABLE handfast.ready IN ROW EXCLUSIVE MODE; COMMIT").then(() => {
      is_written = true;
    });
    // On a slow machine the step may have left it the turn before the two could meet.
    while ((await waitingIn(database)) < 2 && !is_written);
    await built.unsafe("SELECT pg_advisory_unlock(1)");
    await written;
    await (await newer).close();
    expect(await stepsOf(database)).toHaveLength(known + 1);
    await Promise.all([older.end(), built.end()]);
  });

  test("a step that fails leaves the schema before it", async () => {
    const database = await server.createDatabase();
    const url = server.url(database);
    const wrong = { name: "wrong", sql: "CREATE TABLE handfast.half (n integer); SELECT 1 / 0", oldest_reader: 1 };
    expect(await refusal(url, { migrations: [...migrations, wrong] })).toMatchObject({
      fault: "refused",
      message: expect.stringMatching(/division by zero.* 22012 /),
    });
    expect(await stepsOf(database)).toEqual(ours);
    const store = await open(url);
    await store.close();
  });
});
