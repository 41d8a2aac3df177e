/** A relay that is killed while it picks up: every row becomes one handoff, none is lost and none is there twice. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer } from "../../../store-postgres/src/testing/server.ts";
import { RelayProcess } from "../testing/relay-process.ts";

let server: TestServer;
let directory: string;
beforeAll(async () => {
  server = await startServer({ durable: true });
  directory = mkdtempSync(join(tmpdir(), "handfast-outbox-crash-"));
});
afterAll(async () => {
  await server.stop();
  rmSync(directory, { recursive: true });
});

const posted = 2_000;
const kills = 4;

test("2,000 rows and 4 kills: 2,000 handoffs", { timeout: 120_000 }, async () => {
  const database = await server.createDatabase();
  /** The server may notice a moment later that the last one is gone: until then the database is in use. */
  const start = async () => {
    for (;;) {
      const relay = new RelayProcess("--port", "0", "--data", directory, "--store", server.url(database));
      const url = await relay.url().catch(() => null);
      if (url !== null) return { relay, url };
      expect(relay.stderr).toContain("in use");
    }
  };
  const count = async (what: string) =>
    Number((await server.ask(database, `SELECT count(*)::integer AS n FROM ${what}`))[0]?.["n"]);
  let { relay, url } = await start();
  await fetch(`${url}/v1/tokens`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ agent: "orders" }),
  });
  await relay.stop("SIGKILL");
  await server.ask(database, "CREATE ROLE app LOGIN; SELECT handfast.bind_role('app', 'orders')");
  const app = server.client(database, "app");
  const made = await app`
    SELECT handfast.submit('ship', to_jsonb(n), '{"queue_if_absent": true}') AS id FROM generate_series(1, ${posted}) AS n`;
  await app.end();

  for (let kill = 1; kill <= kills; kill++) {
    ({ relay, url } = await start());
    // Accepted before dropped: whatever is accepted and still in the outbox at the kill is picked up twice.
    const most = ((kills - kill + 1) * posted) / (kills + 1);
    while ((await count("handfast.outbox")) > most);
    await relay.stop("SIGKILL");
  }
  ({ relay, url } = await start());
  while ((await count("handfast.outbox")) > 0);
  expect(await count("handfast.accepted")).toBe(posted);
  expect(await count(`handfast.event WHERE json::jsonb ->> 'type' = 'accepted'`)).toBe(posted);
  expect(await count("handfast.facet WHERE kind = 'dead_letter'")).toBe(0);
  const ids = await server.ask(database, "SELECT id FROM handfast.accepted");
  expect(new Set(ids.map((row) => row["id"]))).toEqual(new Set(made.map((row) => row["id"])));
  await relay.stop("SIGTERM");
});
