/**
 * For tests: a primary and a synchronous standby, both real. A failover kills the primary as a power loss does, promotes the
 * standby, and makes a new standby from it: by copying its files between the two calls that PostgreSQL has for that.
 */

import type { ChildProcess } from "node:child_process";
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { binaries, end, freePort, launch, nobody, run } from "./server.ts";

interface Member {
  readonly data: string;
  readonly port: number;
  readonly child: ChildProcess;
}

const flags = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"];
/** `remote_apply` is not asked for: on the standby's disk is enough. */
const settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  wal_level: "replica",
  max_wal_senders: "4",
  wal_keep_size: "256MB",
  hot_standby: "on",
  synchronous_standby_names: "*",
  full_page_writes: "on",
} as const;

export class PostgresPair {
  readonly directory: string;
  readonly #program: string;
  /** Two ports, whoever has which: the URL names both. */
  readonly ports: readonly [number, number];
  #primary: Member;
  #standby: Member | null = null;
  #made = 1;

  private constructor(root: string, program: string, ports: readonly [number, number], primary: Member) {
    this.directory = root;
    this.#program = program;
    this.ports = ports;
    this.#primary = primary;
  }

  static async start(): Promise<PostgresPair> {
    const { initdb, postgres: program } = await binaries();
    const root = mkdtempSync(join(tmpdir(), "handfast-pair-"));
    if (nobody !== null) chownSync(root, nobody.uid, nobody.gid);
    const data = join(root, "data-0");
    await run(initdb, ["-D", data, ...flags], { ...nobody, cwd: root });
    writeFileSync(
      join(data, "pg_hba.conf"),
      "host all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n",
    );
    const ports = [await freePort(), await freePort()] as const;
    const child = await launch(program, argumentsOf(data, ports[0], {}), root);
    const pair = new PostgresPair(root, program, ports, { data, port: ports[0], child });
    await pair.#addStandby();
    return pair;
  }

  /** Both hosts: whoever connects takes the one that is the primary then. */
  url(database: string): string {
    const [one, other] = this.ports;
    return `postgres://postgres@127.0.0.1:${one},127.0.0.1:${other}/${database}`;
  }

  async ask(database: string, statement: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return askAt(this.#primary.port, database, statement);
  }

  /** One connection to the standby, to be ended by whoever asked for it. */
  standby(database: string): postgres.Sql {
    if (this.#standby === null) throw new Error("there is no standby");
    return connectionTo(this.#standby.port, database);
  }

  /** The primary is lost for good; the standby takes over, and gets a standby of its own. */
  async failOver(): Promise<void> {
    const standby = this.#standby;
    if (standby === null) throw new Error("there is no standby");
    await end(this.#primary.child, "SIGQUIT");
    rmSync(this.#primary.data, { recursive: true });
    await askAt(standby.port, "postgres", "SELECT pg_promote(true, 30)");
    this.#primary = standby;
    this.#standby = null;
    await this.#addStandby();
  }

  /** The primary as after a power loss: nothing was finished, and it starts again. */
  async restart(): Promise<void> {
    const { data, port, child } = this.#primary;
    await end(child, "SIGQUIT");
    const again = await launch(this.#program, argumentsOf(data, port, {}), this.directory);
    this.#primary = { data, port, child: again };
  }

  async stop(): Promise<void> {
    for (const member of [this.#standby, this.#primary]) if (member !== null) await end(member.child, "SIGQUIT");
    rmSync(this.directory, { recursive: true });
  }

  async #addStandby(): Promise<void> {
    const { port: from, data: source } = this.#primary;
    const [one, other] = this.ports;
    const port = from === one ? other : one;
    const data = join(this.directory, `data-${this.#made}`);
    this.#made += 1;
    const sql = connectionTo(from, "postgres");
    try {
      // Until the new one is there nobody can confirm anything: the copy itself must not wait for it.
      await sql.unsafe("SET synchronous_commit = local");
      await sql.unsafe("SELECT pg_backup_start('standby', true)");
      const keep = (path: string) => !/(postmaster\.(pid|opts)|standby\.signal|pg_replslot\/.+)$/.test(path);
      await cp(source, data, { recursive: true, filter: keep });
      const [stopped] = await sql.unsafe("SELECT labelfile FROM pg_backup_stop(false)");
      writeFileSync(join(data, "backup_label"), String(stopped?.["labelfile"]));
    } finally {
      await sql.end();
    }
    writeFileSync(join(data, "standby.signal"), "");
    await run("chmod", ["700", data]);
    if (nobody !== null) await run("chown", ["-R", `${nobody.uid}:${nobody.gid}`, data]);
    const primary_conninfo = `host=127.0.0.1 port=${from} user=postgres application_name=standby`;
    const child = await launch(this.#program, argumentsOf(data, port, { primary_conninfo }), this.directory);
    this.#standby = { data, port, child };
  }
}

function argumentsOf(data: string, port: number, more: Readonly<Record<string, string>>): readonly string[] {
  const given = Object.entries({ ...settings, ...more }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return ["-D", data, "-p", String(port), ...given];
}

function connectionTo(port: number, database: string): postgres.Sql {
  return postgres({ host: "127.0.0.1", port, user: "postgres", database, max: 1, onnotice: () => {} });
}

async function askAt(port: number, database: string, statement: string) {
  const sql = connectionTo(port, database);
  try {
    return await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
}
