import { afterAll, beforeAll } from "vitest";
import { describeSharedCommits } from "../../engine/src/shared-commits.conformance.ts";
import { describeSharing, type SharedStores } from "../../engine/src/sharing.conformance.ts";
import { openPostgresStore } from "./mod.ts";
import { startServer, type TestServer } from "./testing/server.ts";

let server: TestServer;
let database: string;
beforeAll(async () => {
  server = await startServer();
  database = await server.createDatabase();
});
afterAll(() => server.stop());

describeSharing("PostgreSQL", openBoth);
describeSharedCommits("PostgreSQL", openBoth);

async function openBoth(): Promise<SharedStores> {
  const open = () => openPostgresStore(server.url(database), { may_lose: true, shared: true });
  const [one, other] = [await open(), await open()];
  return {
    one,
    other,
    close: async () => {
      await Promise.all([one.close(), other.close()]);
      await server.emptyDatabase(database);
    },
  };
}
