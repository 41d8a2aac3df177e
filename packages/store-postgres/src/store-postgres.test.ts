import { afterAll, beforeAll } from "vitest";
import { describeStore, type OpenStore } from "../../engine/src/store.conformance.ts";
import { openPostgresStore } from "./mod.ts";
import { startServer, type TestServer } from "./testing/server.ts";

let server: TestServer;
let database: string;
beforeAll(async () => {
  server = await startServer();
  database = await server.createDatabase();
});
afterAll(() => server.stop());

describeStore("PostgreSQL", () => openIt(false));
describeStore("PostgreSQL, shared by nodes", () => openIt(true));

async function openIt(shared: boolean): Promise<OpenStore> {
  const open = () => openPostgresStore(server.url(database), { may_lose: true, shared });
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
