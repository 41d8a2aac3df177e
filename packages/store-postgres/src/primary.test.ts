/** The primary among several hosts, and what is said where none of them is. */

import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type Server } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { PostgresStoreError } from "./errors.ts";
import { placeOf } from "./place.ts";
import { connectToPrimary } from "./primary.ts";
import { PostgresPair } from "./testing/pair.ts";
import { startServer } from "./testing/server.ts";

let pair: PostgresPair;
beforeAll(async () => {
  pair = await PostgresPair.start();
});
afterAll(() => pair.stop());

const url = (...ports: readonly number[]) =>
  `postgres://postgres@${ports.map((port) => `127.0.0.1:${port}`).join(",")}/postgres`;

async function portOf(place: string, patience_ms = 0): Promise<number> {
  const { writer, host } = await connectToPrimary(placeOf(place), patience_ms);
  const [row] = await writer.ask("SELECT inet_server_port() AS port");
  await writer.cut();
  expect(host.name).toBe(`127.0.0.1:${row?.["port"]}`);
  return Number(row?.["port"]);
}

const refusal = (place: string, patience_ms = 0) =>
  connectToPrimary(placeOf(place), patience_ms).then(
    () => null,
    (error: unknown) => error,
  );

/** Somebody who hangs up on whoever comes, and how often somebody came. */
async function hangingUp(words = "") {
  let came = 0;
  const server = createServer((client) => {
    came += 1;
    if (words === "") client.destroy();
    else client.once("data", () => client.end(words));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { port: portIn(server), came: () => came };
}

function portIn(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

test("is found wherever it stands in the URL, whatever the URL asks the client to look for, and after a failover", async () => {
  const [one, other] = pair.ports;
  expect(await portOf(url(one, other))).toBe(one);
  expect(await portOf(url(other, one))).toBe(one);
  expect(await portOf(url(1, other, one))).toBe(one);
  for (const wanted of ["primary", "standby"])
    expect(await portOf(`${url(other, one)}?target_session_attrs=${wanted}&connect_timeout=3`)).toBe(one);
  await pair.failOver();
  expect(await portOf(url(one, other))).toBe(other);
});

test("is waited for while there is none, at a measured pace", async () => {
  const rude = await hangingUp();
  const began = performance.now();
  expect(await refusal(url(1, rude.port), 1_000)).toMatchObject({ fault: "unreachable" });
  expect(performance.now() - began).toBeGreaterThanOrEqual(1_000);
  expect(rude.came()).toBeGreaterThan(1);
  expect(rude.came()).toBeLessThanOrEqual(6);
});

test.each([
  ["before a word", ""],
  ["after its first words", "R\0\0\0"],
])("is not looked for without a pause where the only host hangs up %s", async (_when, words) => {
  const rude = await hangingUp(words);
  expect(await refusal(url(rude.port))).toMatchObject({ code: "CONNECTION_CLOSED" });
  expect(rude.came()).toBe(1);
});

test("is not waited for at a host that falls silent once it is connected", async () => {
  const [one, other] = pair.ports;
  const primary = await portOf(url(one, other));
  const server = createServer((near) => {
    const far = connect(primary, "127.0.0.1");
    far.on("data", (data) => near.write(data));
    near.on("data", (data) => void (data.includes("pg_is_in_recovery") || far.write(data)));
    near.on("close", () => far.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  expect(await portOf(url(portIn(server), primary))).toBe(primary);
});

test("is not looked for again and again where something else than PostgreSQL answers", async () => {
  let came = 0;
  const web = createHttpServer().listen(0, "127.0.0.1");
  web.on("connection", () => {
    came += 1;
  });
  await once(web, "listening");
  onTestFinished(() => void web.close());
  expect(await refusal(url(portIn(web)))).toMatchObject({ code: "NOT_POSTGRES" });
  expect(came).toBe(1);
});

test("is waited for by whoever was connected before, also where another host refuses", async () => {
  const other = await startServer();
  onTestFinished(() => other.stop());
  const refusing = `postgres://nobody_here@127.0.0.1:1,127.0.0.1:${other.port}/postgres`;
  const error = await refusal(refusing);
  expect(error).toMatchObject({ is_away: true });
  expect(String(error)).toContain(`127.0.0.1:${other.port} says: role "nobody_here" does not exist`);
  expect(await refusal(refusing.replace("127.0.0.1:1,", `127.0.0.1:${other.port},`))).toMatchObject({
    fault: "refused",
  });
});

test("is missing: what each host is, or why it does not answer, and what to do", async () => {
  const sql = pair.standby("postgres");
  const [row] = await sql.unsafe("SELECT inet_server_port() AS port");
  await sql.end();
  const standby = Number(row?.["port"]);
  const error = await refusal(url(1, standby));
  expect(error).toBeInstanceOf(PostgresStoreError);
  expect(error).toMatchObject({ fault: "unreachable", is_away: true });
  expect(String(error)).toContain(`127.0.0.1:1 does not answer (ECONNREFUSED); 127.0.0.1:${standby} is a standby`);
  expect(String(error)).toContain("Promote a standby");
});

test("is not waited for where time does not mend what a host says", async () => {
  const began = performance.now();
  const error = await refusal(url(1, ...pair.ports).replaceAll("postgres@", "nobody_here@"), 60_000);
  expect(error).toMatchObject({ fault: "refused", message: expect.stringContaining("nobody_here") });
  expect(performance.now() - began).toBeLessThan(30_000);
});
