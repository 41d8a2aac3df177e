/** `handfast.submit` as a user of the database calls it, and how what was posted is taken. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openPostgresKept } from "./kept-store.ts";
import { type Fate, migratePostgres, type Posted, PostgresOutbox } from "./mod.ts";
import { startServer, type TestServer } from "./testing/server.ts";

type Client = ReturnType<TestServer["client"]>;

let server: TestServer;
let url: string;
let database: string;
beforeAll(async () => {
  server = await startServer();
  await server.ask("postgres", 'CREATE ROLE app LOGIN; CREATE ROLE other LOGIN; CREATE ROLE "odd \'role" LOGIN');
  await server.ask("postgres", "GRANT app TO other");
});
afterAll(() => server.stop());

let sql: Client;
beforeEach(async () => {
  database = await server.createDatabase();
  url = server.url(database);
  await migratePostgres(url, { may_lose: true });
  await server.ask(database, "SELECT handfast.bind_role('app', 'orders')");
  sql = as("app");
});
const clients: Client[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.end()));
});

function as(role: string): Client {
  const client = server.client(database, role);
  clients.push(client);
  return client;
}

async function taken(limit = 100, fate: Fate = { kind: "done" }): Promise<readonly Posted[]> {
  const outbox = new PostgresOutbox(url);
  const found: Posted[] = [];
  await outbox.take(limit, async (posted) => {
    found.push(...posted);
    return posted.map(() => fate);
  });
  await outbox.close();
  return found;
}

describe("handfast.submit", () => {
  test("posts with the transaction, and is rolled back with it; the id is a UUID of version 7 of now", async () => {
    await sql`SELECT handfast.submit('ship', '{"order": 1}')`;
    const kept = await sql.begin(async (tx) => {
      const [row] = await tx`SELECT handfast.submit('ship', '{"order": 2}', '{"labels": {"team": "blue"}}') AS id`;
      expect(await taken(100, { kind: "later", in_ms: 0 })).toHaveLength(1);
      return row?.["id"] as string;
    });
    const undone = sql.begin(async (tx) => {
      await tx`SELECT handfast.submit('ship', '{"order": 3}')`;
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    const posted = await taken();
    expect(posted.map(({ input }) => JSON.parse(input))).toEqual([{ order: 1 }, { order: 2 }]);
    expect(posted[1]).toMatchObject({ id: kept, agent: "orders", capability: "ship", namespace: "default" });
    expect(JSON.parse(posted[1]?.options ?? "")).toEqual({ labels: { team: "blue" } });
    expect(kept).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const made_at = Number.parseInt(kept.replaceAll("-", "").slice(0, 12), 16);
    expect(Math.abs(made_at - Date.now())).toBeLessThan(60_000);
    expect(await taken()).toEqual([]);
  });

  test.each([
    ["null, '{}'", "22004", "Neither a capability nor an agent is named"],
    ["'two words', '{}'", "42602", "The name 'two words' is none"],
    ["null, '{}', '{\"to\": \"a@b\"}'", "42602", "The name 'a@b' is none"],
    ["'ship', null", "22004", "The input is null"],
    ["'ship', '{}', '[]'", "22023", "no JSON object"],
    ["'ship', '{}', null", "22023", "no JSON object"],
    ["'ship', '{}', '{\"from\": \"boss\"}'", "22023", "The options name from"],
    ['\'ship\', \'{}\', \'{"id": "1", "text": "t"}\'', "22023", "The options name id, text"],
    ["'ship', to_jsonb(repeat('x', 1000001))", "54000", "The input has 1000003 bytes"],
    ["'ship', '{}', jsonb_build_object('ext', repeat('x', 32001))", "54000", "The options have"],
    ["'ship', 'not json'", "22P02", "invalid input syntax for type json"],
  ])("refuses submit(%s) with an error of the statement", async (words, code, message) => {
    const refused = sql.unsafe(`SELECT handfast.submit(${words})`);
    await expect(refused).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
    expect(await taken()).toEqual([]);
  });
});

describe("who speaks", () => {
  test("is whoever logged in: not a role that was taken on, and nobody without a binding", async () => {
    const other = as("other");
    await expect(other`SELECT handfast.submit('ship', '{}')`).rejects.toMatchObject({ code: "42501" });
    // A member of app has app's rights on the function, and speaks for nobody all the same.
    await other`SET ROLE app`;
    await expect(other`SELECT handfast.submit('ship', '{}')`).rejects.toMatchObject({
      code: "42501",
      message: "The role other may submit for no agent.",
      hint: expect.stringContaining("bind_role('other'"),
    });
    await server.ask(database, "SELECT handfast.bind_role('other', 'returns')");
    await other`SELECT handfast.submit('ship', '{}')`;
    expect(await taken()).toMatchObject([{ agent: "returns" }]);
  });

  test("has no right on any table of the schema, nor to bind roles", async () => {
    for (const statement of [
      "SELECT * FROM handfast.outbox",
      "INSERT INTO handfast.outbox (namespace, id, agent, input, options) VALUES ('default', gen_random_uuid(), 'boss', '{}', '{}')",
      "UPDATE handfast.outbox_role SET agent = 'boss'",
      "SELECT * FROM handfast.record",
      "SELECT handfast.bind_role('app', 'boss')",
      "SELECT handfast.unbind_role('app')",
      "CREATE TABLE handfast.mine (n integer)",
    ]) {
      await expect(sql.unsafe(statement), statement).rejects.toMatchObject({ code: "42501" });
    }
  });

  test("cannot be lied about by functions, operators or tables of the caller's own", async () => {
    await server.ask(database, "GRANT CREATE ON SCHEMA public TO app");
    await sql.unsafe(`
      CREATE FUNCTION pg_temp.jsonb_typeof(jsonb) RETURNS text LANGUAGE sql AS $$ SELECT 'mine' $$;
      CREATE FUNCTION public.octet_length(text) RETURNS integer LANGUAGE sql AS $$ SELECT 0 $$;
      CREATE TEMP TABLE pg_roles (oid oid, rolname name);
      SET search_path = pg_temp, public, pg_catalog`);
    await sql`SELECT handfast.submit('ship', '{}')`;
    const large = sql`SELECT handfast.submit('ship', to_jsonb(repeat('x', 1000001)))`;
    await expect(large).rejects.toMatchObject({ code: "54000" });
    expect(await taken()).toMatchObject([{ agent: "orders" }]);
  });

  test("is bound and unbound by the schema's owner; a role of the same name made later is another", async () => {
    const bind = (role: string, agent: string | null) =>
      server.ask(database, `SELECT handfast.bind_role(${quote(role)}, ${agent === null ? "NULL" : quote(agent)})`);
    await expect(bind("nobody_here", "orders")).rejects.toMatchObject({ code: "42704" });
    for (const agent of ["two words", "operator", "", null]) {
      await expect(bind("app", agent)).rejects.toMatchObject({ code: "42602" });
    }
    await bind("odd 'role", "odd");
    await as("odd 'role")`SELECT handfast.submit('ship', '{}')`;
    expect(await taken()).toMatchObject([{ agent: "odd" }]);
    await bind("app", "invoices");
    await sql`SELECT handfast.submit('ship', '{}')`;
    expect(await server.ask(database, "SELECT handfast.unbind_role('app') AS done")).toMatchObject([{ done: true }]);
    await expect(sql`SELECT handfast.submit('ship', '{}')`).rejects.toMatchObject({ code: "42501" });
    expect(await taken()).toMatchObject([{ agent: "invoices" }]);
    expect(await server.ask(database, "SELECT handfast.unbind_role('app') AS done")).toMatchObject([{ done: false }]);
    await server.ask(database, "CREATE ROLE brief LOGIN; SELECT handfast.bind_role('brief', 'brief')");
    await server.ask(database, "DROP OWNED BY brief; DROP ROLE brief; CREATE ROLE brief LOGIN");
    await server.ask(
      database,
      "GRANT USAGE ON SCHEMA handfast TO brief; GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA handfast TO brief",
    );
    await expect(as("brief")`SELECT handfast.submit('ship', '{}')`).rejects.toThrow("may submit for no agent");
    await server.ask(database, "DROP OWNED BY brief; DROP ROLE brief");
  });
});

describe("what was posted", () => {
  const post = (n: number, key?: string) =>
    sql`SELECT handfast.submit('ship', ${sql.json(n)}, ${sql.json(key === undefined ? {} : { ordering_key: key })})`;
  const inputs = (posted: readonly Posted[]) => posted.map(({ input }) => Number(input));

  test("is taken by one node at a time: another takes what is left, and none waits", async () => {
    for (const n of [1, 2, 3]) await post(n);
    const outbox = new PostgresOutbox(url);
    let beside: readonly number[] = [];
    await outbox.take(2, async (posted) => {
      expect(inputs(posted)).toEqual([1, 2]);
      beside = inputs(await taken());
      return posted.map(() => ({ kind: "done" }));
    });
    expect(beside).toEqual([3]);
    expect(await taken()).toEqual([]);
    await outbox.close();
  });

  test("is there again when the node that took it died", async () => {
    await post(1);
    const outbox = new PostgresOutbox(url);
    await expect(outbox.take(1, () => Promise.reject(new Error("died")))).rejects.toThrow("died");
    expect(inputs(await taken())).toEqual([1]);
    await outbox.close();
  });

  test("of one ordering key never passes an earlier one that somebody else has", async () => {
    for (const n of [1, 2, 3]) await post(n, "lane");
    await post(4, "other");
    await sql`SELECT handfast.submit('ship', '5')`;
    const somebody = server.client(database, "postgres");
    await somebody.begin(async (tx) => {
      await tx`SELECT FROM handfast.outbox WHERE input = '2' FOR UPDATE`;
      expect(inputs(await taken())).toEqual([1, 4, 5]);
      const outbox = new PostgresOutbox(url);
      expect(await outbox.take(1, () => Promise.reject(new Error("it was judged")))).toBe(0);
      await outbox.close();
    });
    await somebody.end();
    expect(inputs(await taken())).toEqual([2, 3]);
  });

  test("of one ordering key is never handed over out of order, by several nodes or when one is put off", async () => {
    for (const n of [1, 2, 3]) await post(n, "lane");
    await post(4, "other");
    const outbox = new PostgresOutbox(url);
    let beside: readonly number[] = [];
    await outbox.take(1, async (posted) => {
      expect(inputs(posted)).toEqual([1]);
      beside = inputs(await taken());
      return [{ kind: "later", in_ms: 60_000 }];
    });
    expect(beside).toEqual([4]);
    expect(await taken()).toEqual([]);
    await server.ask(database, "UPDATE handfast.outbox SET not_before = '-infinity'");
    expect(inputs(await taken())).toEqual([1, 2, 3]);
    await outbox.close();
  });

  test("of which nothing can be made is left with the reason, and not taken again", async () => {
    await post(1);
    await taken(1, { kind: "trouble", why: "a mistake" });
    expect(await taken()).toEqual([]);
    expect(await server.ask(database, "SELECT trouble FROM handfast.outbox")).toMatchObject([{ trouble: "a mistake" }]);
  });

  test("keeps the store from being exported until it was picked up", async () => {
    await post(1);
    await expect(openPostgresKept(url, "read", { may_lose: true })).rejects.toMatchObject({
      fault: "not_empty",
      message: expect.stringContaining("1 handoffs that were posted"),
    });
    await taken();
    await (await openPostgresKept(url, "read", { may_lose: true })).close();
  });
});

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
