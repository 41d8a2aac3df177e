import { afterAll, beforeAll } from "vitest";
import { describeStore } from "../../engine/src/store.conformance.ts";
import type { OpenStore } from "../../engine/src/testing/tested-store.ts";
import { openPostgresStore } from "./mod.ts";
import { startServer, type TestServer } from "./testing/server.ts";

let server: TestServer;
let database: string;
let strange: string;
beforeAll(async () => {
  server = await startServer();
  database = await server.createDatabase();
  strange = await server.createDatabase();
  await server.ask(strange, `CREATE ROLE strange LOGIN; GRANT CREATE ON DATABASE ${strange} TO strange`);
  for (const setting of strange_settings) await server.ask(strange, `ALTER ROLE strange SET ${setting}`);
});
afterAll(() => server.stop());

/** What a database or role may set for its sessions; with such times that all but the shortest statement would be given up. */
const strange_settings = [
  "bytea_output = 'escape'",
  "extra_float_digits = -15",
  "array_nulls = off",
  "default_transaction_isolation = 'serializable'",
  "standard_conforming_strings = off",
  "DateStyle = 'German'",
  "IntervalStyle = 'iso_8601'",
  "TimeZone = 'Asia/Kathmandu'",
  "statement_timeout = 5",
  "lock_timeout = 1",
  "idle_session_timeout = 5",
];

describeStore("PostgreSQL", () => openIt(database, false));
describeStore("PostgreSQL, shared by nodes", () => openIt(database, true));
describeStore("PostgreSQL, whatever its role sets", () => openIt(strange, true, "strange"));

async function openIt(database: string, shared: boolean, role = "postgres"): Promise<OpenStore> {
  const url = server.url(database).replace("postgres@", `${role}@`);
  const open = () => openPostgresStore(url, { may_lose: true, shared });
  let store = await open();
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await open();
      return store;
    },
    close: async () => {
      await store.close();
      await server.emptyDatabase(database);
    },
  };
}
