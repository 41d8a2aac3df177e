/** A relay that cannot start on its database says why, and ends. */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer } from "../../store-postgres/src/testing/server.ts";

const bin = fileURLToPath(new URL("../bin/handfast.js", import.meta.url));
let server: TestServer;
let data: string;
beforeAll(async () => {
  server = await startServer({ durable: true });
  data = mkdtempSync(join(tmpdir(), "handfast-start-"));
});
afterAll(async () => {
  await server.stop();
  rmSync(data, { recursive: true });
});

function started(store: string, port = 0): Promise<{ readonly code: unknown; readonly stderr: string }> {
  const argv = [bin, "start", "--port", String(port), "--data", data, "--store", store];
  return new Promise((resolve) => {
    execFile(process.execPath, argv, (error, _, stderr) => resolve({ code: error?.code ?? 0, stderr }));
  });
}

test("fewer connections than a node needs, which it finds out when half of it has started", async () => {
  const database = await server.createDatabase();
  await server.ask(database, "CREATE ROLE few LOGIN CONNECTION LIMIT 1");
  await server.ask(database, `GRANT CREATE ON DATABASE ${database} TO few`);
  const { code, stderr } = await started(server.url(database).replace("postgres@", "few@"));
  expect(stderr).toContain("too many connections");
  expect(code).toBe(69);
}, 60_000);

test("a port that is taken, of which the database is told nothing: another store can still be imported there", async () => {
  const database = await server.createDatabase();
  const { code, stderr } = await started(server.url(database), server.port);
  expect(stderr).toContain(`The port ${server.port} is taken by another process`);
  expect(code).toBe(69);
  expect(await server.ask(database, "SELECT FROM pg_namespace WHERE nspname = 'handfast'")).toHaveLength(0);
});

test.each([
  ["a port that there is not", (url: string) => url.replace(/:\d+\//, ":99999/"), "cannot be read"],
  ["a setting that the server does not know", (url: string) => `${url}?nonsense=1`, "nonsense"],
  ["a setting of a value that it does not take", (url: string) => `${url}?work_mem=plenty`, "work_mem"],
])("%s, in the URL", async (_, spoilt, word) => {
  const { code, stderr } = await started(spoilt(server.url("postgres")));
  expect(stderr).toContain(word);
  expect(stderr).not.toMatch(/^ {4}at /m);
  expect(code).toBe(78);
});
