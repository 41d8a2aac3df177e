/** Every way to write where the database is, on a real server: names, addresses, sockets, passwords, encryption. */

import { spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WritingConnection } from "./connection.ts";
import { explain } from "./errors.ts";
import { placeOf } from "./place.ts";
import { nobody, run, startServer, type TestServer } from "./testing/server.ts";

const odd_password = "a@b/c:d%e#f,g h?[]&=";
const has_ipv6 = Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === "::1"));

/** Makes the server's certificate. */
const has_openssl = spawnSync("openssl", ["version"]).status === 0;

let server: TestServer;
let directory: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "handfast-place-"));
  if (nobody !== null) chownSync(directory, nobody.uid, nobody.gid);
  server = await startServer({
    settings: {
      unix_socket_directories: directory,
      listen_addresses: has_ipv6 ? "127.0.0.1,::1" : "127.0.0.1",
      password_encryption: "scram-sha-256",
      ...(has_openssl && (await encryption(directory))),
    },
  });
  await server.ask("postgres", `CREATE ROLE "o d@d" LOGIN PASSWORD '${odd_password}'`);
  await server.ask("postgres", 'CREATE DATABASE "my base"');
});
afterAll(async () => {
  await server.stop();
  rmSync(directory, { recursive: true });
});

async function encryption(folder: string) {
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"];
  await run("openssl", [...made, "-keyout", key, "-out", certificate]);
  if (nobody !== null) for (const path of [key, certificate]) chownSync(path, nobody.uid, nobody.gid);
  return { ssl: "on", ssl_cert_file: certificate, ssl_key_file: key };
}

const asked = `SELECT current_user AS user, current_database() AS database,
  (SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()) AS is_encrypted`;

async function reach(url: string) {
  const place = placeOf(url);
  const [host] = place.hosts;
  if (host === undefined) throw new Error("no host");
  try {
    const connection = await WritingConnection.open(host);
    const [row] = await connection.ask(asked);
    await connection.cut();
    return { ...row };
  } catch (error) {
    throw explain(error, place.shown);
  }
}

const plain = { user: "postgres", database: "postgres", is_encrypted: false };

test("a host by its name, its address, or not at all", async () => {
  for (const host of ["localhost", "127.0.0.1", ""])
    expect(await reach(`postgres://postgres@${host}:${server.port}/postgres`)).toEqual(plain);
});

test.runIf(has_ipv6)("an IPv6 address", async () => {
  expect(await reach(`postgresql://postgres@[::1]:${server.port}/postgres`)).toEqual(plain);
});

test("the directory of a socket", async () => {
  const path = encodeURIComponent(directory);
  expect(await reach(`postgres://postgres@${path}:${server.port}/postgres`)).toEqual(plain);
});

test("a user, a password and a database with characters that mean something in a URL", async () => {
  const who = `${encodeURIComponent("o d@d")}:${encodeURIComponent(odd_password)}`;
  expect(await reach(`postgres://${who}@127.0.0.1:${server.port}/my%20base`)).toEqual({
    user: "o d@d",
    database: "my base",
    is_encrypted: false,
  });
  expect(placeOf(`postgres://${who}@h/my%20base`).hosts[0]?.address.password).toBe(odd_password);
  expect(placeOf("postgres://u:a#b@h/d").hosts[0]?.address.password).toBe("a#b");
});

test("settings of the URL: those that a node makes for itself stay as it makes them", async () => {
  const given = "statement_timeout=1&client_encoding=latin1&bytea_output=escape&work_mem=5MB";
  const [host] = placeOf(`${server.url("postgres")}?${given}`).hosts;
  if (host === undefined) throw new Error("no host");
  const connection = await WritingConnection.open(host);
  const names = ["statement_timeout", "client_encoding", "bytea_output", "work_mem"];
  const [row] = await connection.ask(
    `SELECT ${names.map((name) => `current_setting('${name}') AS ${name}`).join(", ")}`,
  );
  await connection.cut();
  expect(row).toEqual({
    statement_timeout: "2147483647ms",
    client_encoding: "UTF8",
    bytea_output: "hex",
    work_mem: "5MB",
  });
});

test.runIf(has_openssl)("encryption that is demanded, and a certificate that nobody vouches for", async () => {
  const url = `postgres://postgres@localhost:${server.port}/postgres`;
  expect(await reach(`${url}?sslmode=require`)).toEqual({ ...plain, is_encrypted: true });
  await expect(reach(`${url}?sslmode=verify-full`)).rejects.toMatchObject({
    fault: "refused",
    message: expect.stringContaining("NODE_EXTRA_CA_CERTS"),
  });
});

test("encryption that the server does not have", async () => {
  const bare = await startServer();
  await expect(reach(`${bare.url("postgres")}?sslmode=require`)).rejects.toMatchObject({
    fault: "unreachable",
    message: expect.stringContaining("turn ssl on"),
  });
  await bare.stop();
});
