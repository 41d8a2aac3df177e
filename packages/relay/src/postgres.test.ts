/** A relay on PostgreSQL, as a process: the same relay, what it says of databases it cannot use, and a server that goes away. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer } from "../../store-postgres/src/testing/server.ts";
import { RelayProcess } from "./testing/relay-process.ts";

let server: TestServer;
let directory: string;
const started: RelayProcess[] = [];
const start = (store: string, data = "data") => {
  const relay = new RelayProcess("--port", "0", "--data", join(directory, data), "--store", store);
  started.push(relay);
  return relay;
};
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "handfast-relay-postgres-"));
  server = await startServer({ durable: true });
});
afterEach(() => Promise.all(started.splice(0).map((relay) => relay.stop("SIGKILL"))));
afterAll(async () => {
  await server.stop();
  rmSync(directory, { recursive: true });
});

async function call(url: string, method: string, path: string, token: string, body?: object) {
  const headers = { "content-type": "application/json", ...(token !== "" && { authorization: `Bearer ${token}` }) };
  const answer = await fetch(url + path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: JSON.parse(await answer.text()) };
}

test("a handoff goes from its sender to a worker and back, and is there after a restart", async () => {
  const database = server.url(await server.createDatabase());
  const first = start(database.replace("postgres@", "postgres:unused@"));
  const url = await first.url();
  expect(first.stdout).toContain(`store postgres://postgres@127.0.0.1:${server.port}/`);
  expect(first.stdout + first.stderr).not.toContain("unused");
  const tokenOf = async (agent: string, capabilities: readonly object[]) =>
    (await call(url, "POST", "/v1/tokens", "", { agent, capabilities })).body.token as string;
  const alice = await tokenOf("alice", []);
  const bob = await tokenOf("bob", [{ name: "upper" }]);
  const sent = await call(url, "POST", "/v1/handoffs", alice, { capability: "upper", text: "hello" });
  expect(sent.status).toBe(202);
  const claimed = await call(url, "POST", "/v1/claims", bob, { worker: "bob-1", request_id: "first" });
  const [lease] = claimed.body.leases;
  expect(lease).toMatchObject({ id: sent.body.id, fence: 1 });
  const at = `/v1/handoffs/${sent.body.id}`;
  expect((await call(url, "POST", `${at}/ack`, bob, { fence: 1 })).status).toBe(200);
  const done = await call(url, "POST", `${at}/complete`, bob, { fence: 1, output: "HELLO" });
  expect(done.status).toBe(200);

  expect(await first.stop("SIGTERM")).toBe(0);
  const second = await start(database).url();
  const found = await call(second, "GET", at, alice);
  expect(found.body).toMatchObject({ state: "completed" });
  const { body: log } = await call(second, "GET", `${at}/events`, alice);
  expect(JSON.stringify(log)).toContain("acknowledged");
});

test("a second relay in one data directory is refused, as long as the first one lives", async () => {
  const database = server.url(await server.createDatabase());
  const first = start(database, "shared");
  await first.url();
  const second = start(server.url(await server.createDatabase()), "shared");
  expect(await second.ended()).toBe(69);
  expect(second.stderr).toContain(
    `The data directory ${join(directory, "shared")} is in use by another relay. Stop that one, or start this one with another directory (--data)`,
  );
  await start(database, "another").url();
  await first.stop("SIGKILL");
  await start(database, "shared").url();
});

test.each([
  ["mysql://host/db", 78, "store is not the URL of a PostgreSQL database"],
  ["postgres://host:port/db", 78, "The store's URL cannot be read"],
  ["postgres://me:pass@127.0.0.1:1/db", 69, "Nobody answers as PostgreSQL at me@127.0.0.1:1/db"],
])("a store that cannot be opened: %s", async (url, code, message) => {
  const relay = start(url);
  expect(await relay.ended()).toBe(code);
  expect(relay.stderr).toContain(message);
  expect(relay.stderr).not.toContain("pass@");
});

test("while the server is away the relay is not ready and says why; when it is back, work goes on", async () => {
  const relay = start(server.url(await server.createDatabase()));
  const url = await relay.url();
  const ready = async () => fetch(`${url}/readyz`);
  expect((await ready()).status).toBe(200);
  const { body } = await call(url, "POST", "/v1/tokens", "", { agent: "alice" });
  await server.kill();
  const away = until(ready, (answer) => answer.status === 503);
  expect(JSON.stringify(await (await away).json())).toMatch(/the engine is recovering.*(database|PostgreSQL)/);
  await server.start();
  await until(ready, (answer) => answer.status === 200);
  const to = { capability: "upper", text: "again", queue_if_absent: true };
  expect((await call(url, "POST", "/v1/handoffs", body.token, to)).status).toBe(202);
});

/** Asks again until the answer is so; the test's own time is the limit. */
async function until(ask: () => Promise<Response>, isSo: (answer: Response) => boolean): Promise<Response> {
  for (;;) {
    const answer = await ask();
    if (isSo(answer)) return answer;
    await answer.body?.cancel();
  }
}
