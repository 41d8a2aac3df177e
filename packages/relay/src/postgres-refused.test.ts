/** Relays on PostgreSQL that cannot start: each says why and what to do, and ends; whoever runs already goes on. */

import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { PostgresPair } from "../../store-postgres/src/testing/pair.ts";
import { startServer, type TestServer } from "../../store-postgres/src/testing/server.ts";
import { RelayProcess } from "./testing/relay-process.ts";

// A relay that finds nobody to answer it waits for a while before it says so.
vi.setConfig({ testTimeout: 180_000 });

let server: TestServer;
let directory: string;
const started: RelayProcess[] = [];
const start = (store: string) => {
  const data = join(directory, String(started.length));
  const relay = new RelayProcess("--port", "0", "--data", data, "--store", store, "--node", `n${started.length}`);
  started.push(relay);
  return relay;
};
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "handfast-refused-"));
  server = await startServer({ durable: true });
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((relay) => relay.stop("SIGKILL")));
  rmSync(directory, { recursive: true });
  directory = mkdtempSync(join(tmpdir(), "handfast-refused-"));
});
afterAll(async () => {
  await server.stop();
  rmSync(directory, { recursive: true });
});

async function expectRefused(store: string, ...words: readonly string[]): Promise<void> {
  const relay = start(store);
  expect(await relay.ended()).toBe(69);
  for (const word of ["The store cannot be opened: ", ...words]) expect(relay.stderr).toContain(word);
  // A sentence for a person, not a stack.
  expect(relay.stderr).not.toMatch(/^ {4}at /m);
}

const as = (url: string, role: string) => url.replace("postgres@", `${role}@`);
const isReady = async (url: string) => (await fetch(`${url}/readyz`)).status;

test("a user without the rights, beside a node that has them", async () => {
  const database = await server.createDatabase();
  await server.ask(database, "CREATE ROLE guest LOGIN");
  const url = server.url(database);
  await expectRefused(as(url, "guest"), "permission denied", "GRANT CREATE ON DATABASE");
  const first = await start(url).url();
  await expectRefused(as(url, "guest"), "permission denied", "own the schema handfast");
  expect(await isReady(first)).toBe(200);
});

test("a schema of another product, and a server that is none of PostgreSQL's", async () => {
  const database = await server.createDatabase();
  await server.ask(database, "CREATE SCHEMA handfast; CREATE TABLE handfast.boats (name text)");
  await expectRefused(server.url(database), "boats", "another database");
  const web: Server = createServer((_, response) => response.end("hello")).listen(0, "127.0.0.1");
  await once(web, "listening");
  const address = web.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  try {
    await expectRefused(`postgres://me@127.0.0.1:${address.port}/db`, "Nobody answers as PostgreSQL", "host and port");
  } finally {
    web.closeAllConnections();
    web.close();
  }
});

test("a schema from the future, which nodes that run already go on with", async () => {
  const database = await server.createDatabase();
  const url = server.url(database);
  const first = await start(url).url();
  await server.ask(database, "INSERT INTO handfast.schema_step VALUES (99, 'later', 99)");
  await expectRefused(url, "has schema 99, which needs a version of Handfast that knows schema 99");
  expect(await isReady(first)).toBe(200);
});

test("a standby, by itself", async () => {
  const pair = await PostgresPair.start();
  try {
    await pair.ask("postgres", "CREATE DATABASE handoffs");
    const standby = `postgres://postgres@127.0.0.1:${pair.ports[1]}/handoffs`;
    // It is there once the standby has applied it.
    await expect
      .poll(
        () =>
          start(standby)
            .ended()
            .then(() => started.at(-1)?.stderr),
        { timeout: 60_000 },
      )
      .toContain("is a read-only standby. Name the primary in the URL, or all hosts");
    expect(await started.at(-1)?.ended()).toBe(69);
    // Both named, the primary is found.
    expect(await isReady(await start(pair.url("handoffs")).url())).toBe(200);
  } finally {
    await Promise.all(started.splice(0).map((relay) => relay.stop("SIGKILL")));
    await pair.stop();
  }
});

test("no connection left, and fewer than one node needs", async () => {
  const database = await server.createDatabase();
  await server.ask(database, "CREATE ROLE crowd LOGIN CONNECTION LIMIT 0");
  await server.ask(database, `GRANT CREATE ON DATABASE ${database} TO crowd`);
  const url = as(server.url(database), "crowd");
  await expectRefused(url, "too many connections", "max_connections");
  await server.ask(database, "ALTER ROLE crowd CONNECTION LIMIT 1");
  await expectRefused(url, "too many connections", "max_connections", "CONNECTION LIMIT", "A node needs seven");
});

test("a node takes the seven connections that are asked for, and no more", async () => {
  const database = await server.createDatabase();
  await server.ask(database, "CREATE ROLE few LOGIN");
  await server.ask(database, `GRANT CREATE ON DATABASE ${database} TO few`);
  const relay = await start(as(server.url(database), "few")).url();
  const taken = async () => {
    await Promise.all(Array.from({ length: 30 }, async () => (await fetch(`${relay}/metrics`)).text()));
    const [row] = await server.ask(
      database,
      "SELECT count(*)::integer AS n FROM pg_stat_activity WHERE usename = 'few'",
    );
    return row?.["n"];
  };
  await expect.poll(taken, { timeout: 30_000 }).toBe(7);
  expect(await taken()).toBe(7);
});

test("a primary that is set to take no writes, which is no standby", async () => {
  const database = await server.createDatabase();
  await server.ask(database, `ALTER DATABASE ${database} SET default_transaction_read_only = on`);
  await expectRefused(server.url(database), "is no standby, but takes no writes", "default_transaction_read_only");
});
