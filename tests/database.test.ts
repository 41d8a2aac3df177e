/**
 * A database that goes bad under relays that run, one or several, or before one is started: it takes no writes, has no connections
 * or no room left, or the network swallows everything. Callers get 503 (507 where there is no room) with Retry-After; nothing is
 * confirmed that is not there afterwards; and once it is mended the relays go on by themselves.
 */

import { chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startProxy } from "../packages/store-postgres/src/testing/cutting-proxy.ts";
import { nobody, startServer, type TestServer } from "../packages/store-postgres/src/testing/server.ts";
import { Caller } from "./support/caller.ts";
import { freePort, RelayProcess } from "./support/relay-process.ts";
import { SmallDisk } from "./support/small-disk.ts";

let server: TestServer;
let folder: string;
const relays: RelayProcess[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "handfast-database-"));
  // A server whose own tidying of its catalog falls into a full disk takes no connection at all: each would first have to write an
  // index of that catalog anew. That is tried below, on purpose.
  server = await startServer({ durable: true, settings: { autovacuum: "off" } });
});
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.dispose()));
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const between_tries_ms = 50;

interface Refused {
  readonly status: number;
  readonly reason: string;
  readonly retry_after: string | null;
}

/** Relays on these URLs of one database, and a sender that all of them know. */
class Scene {
  readonly database: string;
  readonly token: string;
  /** Whatever was answered with 202. */
  readonly accepted: string[] = [];
  readonly refused: Refused[][] = relays.map(() => []);
  #sent = 0;

  private constructor(database: string, token: string) {
    this.database = database;
    this.token = token;
  }

  static async start(database: string, urls: readonly string[]): Promise<Scene> {
    const ports: number[] = [];
    for (const _ of urls) ports.push(await freePort());
    const public_urls = ports.map((port) => `http://127.0.0.1:${port}`).join(",");
    for (const [nth, url] of urls.entries()) {
      const settings = ["--store", url, "--public-url", public_urls, "--dev", "--log-level", "fatal"];
      const port = ports[nth] ?? 0;
      relays.push(await RelayProcess.start(settings, join(folder, `${database}-${nth}`), { port }));
    }
    const { token } = await Caller.named(relays[0]?.url ?? "", "sender");
    return new Scene(database, token);
  }

  /** Asked once. Whether it was accepted; a refusal is noted, and followed by a pause: nothing is there to be waited for but the next try. */
  async submit(nth: number): Promise<boolean> {
    this.#sent += 1;
    const body = {
      capability: "work",
      text: "x".repeat(100_000),
      idempotency_key: `${this.#sent}`,
      queue_if_absent: true,
    };
    const answer = await this.#call(nth, "POST", "/v1/handoffs", body);
    if (answer.status === 202) this.accepted.push(answer.id);
    else {
      this.refused[nth]?.push(answer);
      await pause(between_tries_ms);
    }
    return answer.status === 202;
  }

  async read(nth: number, id: string): Promise<number> {
    const answer = await this.#call(nth, "GET", `/v1/handoffs/${id}`);
    if (answer.status !== 200) this.refused[nth]?.push(answer);
    return answer.status;
  }

  /** At every node, until it has refused so many; and reads meanwhile what was accepted. */
  async refusals(count: number, of: readonly number[] = relays.keys().toArray()): Promise<void> {
    const [first = ""] = this.accepted;
    for (const nth of of) {
      while ((this.refused[nth]?.length ?? 0) < count) {
        await this.submit(nth);
        await this.read(nth, first);
      }
    }
  }

  /** Every node takes work again, and knows all that any of them ever accepted. */
  async expectWell(): Promise<void> {
    for (const nth of relays.keys()) {
      while (!(await this.submit(nth)));
    }
    for (const nth of relays.keys()) {
      for (const id of this.accepted) expect(await this.read(nth, id)).toBe(200);
    }
    const rows = await server.ask(this.database, "SELECT id FROM handfast.accepted");
    const there = new Set(rows.map(({ id }) => String(id)));
    expect(this.accepted.filter((id) => !there.has(id))).toEqual([]);
    expect(relays.every((relay) => relay.isAlive)).toBe(true);
  }

  async #call(nth: number, method: string, path: string, body?: object) {
    const answer = await fetch(`${relays[nth]?.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { id = "", reason = "" }: { id?: string; reason?: string } = JSON.parse(await answer.text());
    return { status: answer.status, id, reason, retry_after: answer.headers.get("retry-after") };
  }
}

/** A database whose tables lie on this disk, and nothing else of the server does. */
async function databaseOn(disk: SmallDisk, name: string): Promise<AsyncDisposable & { readonly name: string }> {
  const location = join(disk.directory, "space");
  mkdirSync(location);
  if (nobody !== null) chownSync(location, nobody.uid, nobody.gid);
  await server.ask("postgres", `CREATE TABLESPACE ${name} LOCATION '${location}'`);
  await server.ask("postgres", `CREATE DATABASE ${name} TABLESPACE ${name}`);
  return {
    name,
    [Symbol.asyncDispose]: async () => {
      await server.ask("postgres", `DROP DATABASE ${name} WITH (FORCE)`);
      await server.ask("postgres", `DROP TABLESPACE ${name}`);
    },
  };
}

/** Each says when to come back. */
function expectPassing(refused: readonly Refused[], statuses: readonly number[]): void {
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.filter(({ status }) => !statuses.includes(status))).toEqual([]);
  expect(refused.filter(({ retry_after }) => !(Number(retry_after) > 0))).toEqual([]);
}

describe.each([1, 2])("with %i at work", (nodes) => {
  const times = (url: string) => Array.from({ length: nodes }, () => url);

  test("the database becomes read only, and writable again", async () => {
    const database = await server.createDatabase();
    const scene = await Scene.start(database, times(server.url(database)));
    for (const nth of relays.keys()) expect(await scene.submit(nth)).toBe(true);
    await server.ask("postgres", "ALTER SYSTEM SET default_transaction_read_only = on");
    await server.ask("postgres", "SELECT pg_reload_conf()");
    await scene.refusals(3);
    for (const refused of scene.refused) expectPassing(refused, [503]);
    const ready = await fetch(`${relays[0]?.url}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringMatching(/takes no writes/)]);
    await server.ask("postgres", "ALTER SYSTEM RESET default_transaction_read_only");
    await server.ask("postgres", "SELECT pg_reload_conf()");
    await scene.expectWell();
  }, 180_000);

  test("all connections are used up, and free again", async () => {
    const database = await server.createDatabase();
    const role = `relay_${nodes}`;
    await server.ask(database, `CREATE ROLE ${role} LOGIN`);
    await server.ask(database, `GRANT CREATE ON DATABASE ${database} TO ${role}`);
    const scene = await Scene.start(database, times(server.url(database).replace("postgres@", `${role}@`)));
    for (const nth of relays.keys()) expect(await scene.submit(nth)).toBe(true);
    await server.ask(database, `ALTER ROLE ${role} CONNECTION LIMIT 0`);
    await server.ask(database, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`);
    await scene.refusals(3);
    for (const refused of scene.refused) expectPassing(refused, [503]);
    const ready = await fetch(`${relays[0]?.url}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([
      503,
      expect.stringMatching(/too many connections.*max_connections/),
    ]);
    await server.ask(database, `ALTER ROLE ${role} CONNECTION LIMIT -1`);
    await scene.expectWell();
  }, 180_000);

  test("the server's disk fills up, and has room again", async ({ skip }) => {
    using disk = SmallDisk.mount(40);
    if (disk === null) return skip("this system allows no disk to be mounted");
    await using own = await databaseOn(disk, `small_${nodes}`);
    const database = own.name;
    const scene = await Scene.start(database, times(server.url(database)));
    for (const nth of relays.keys()) expect(await scene.submit(nth)).toBe(true);
    disk.fill();
    // Whoever wrote is told that it is not known; then submits are refused before anything of them is written.
    const reasons = (nth: number) => scene.refused[nth]?.map(({ reason }) => reason) ?? [];
    for (const nth of relays.keys()) while (!reasons(nth).includes("out_of_space")) await scene.submit(nth);
    for (const nth of relays.keys()) expect(reasons(nth)).toContain("commit_unknown");
    for (const refused of scene.refused) expectPassing(refused, [503, 507]);
    disk.unload();
    await scene.expectWell();
    await Promise.all(relays.splice(0).map((relay) => relay.dispose()));
  }, 180_000);
});

describe("the server's disk is full when a relay is started", () => {
  test("on an empty database: it says so and what to do, and ends; with room again it starts", async ({ skip }) => {
    using disk = SmallDisk.mount(40);
    if (disk === null) return skip("this system allows no disk to be mounted");
    await using database = await databaseOn(disk, "full_and_empty");
    // What any first connection to a database has the server write is there already: it fails at the tables.
    await server.ask(database.name, "SELECT 1");
    disk.fill();
    const url = server.url(database.name);
    const told = /ended with 69:\nThe store cannot be opened: .*No space left.*Free some space on the server/;
    await expect(Scene.start(database.name, [url])).rejects.toThrow(told);
    disk.unload();
    const scene = await Scene.start(database.name, [url]);
    expect(await scene.submit(0)).toBe(true);
    await Promise.all(relays.splice(0).map((relay) => relay.dispose()));
  }, 180_000);

  test("on a store that is there: it starts, for what is open is to end, and takes no more before there is room", async ({
    skip,
  }) => {
    using disk = SmallDisk.mount(40);
    if (disk === null) return skip("this system allows no disk to be mounted");
    await using database = await databaseOn(disk, "full_and_there");
    const scene = await Scene.start(database.name, [server.url(database.name)]);
    expect(await scene.submit(0)).toBe(true);
    const [relay] = relays;
    await relay?.end("SIGTERM");
    disk.fill();
    await relay?.start();
    await scene.refusals(3);
    expectPassing(scene.refused[0] ?? [], [503, 507]);
    disk.unload();
    await scene.expectWell();
    await Promise.all(relays.splice(0).map((each) => each.dispose()));
  }, 180_000);
});

describe("the server's disk is full, and the server would have to write before it lets anybody in", () => {
  const full_at_the_door = /PostgreSQL at .* says: could not write init file.*Free some space on the server/;

  /** PostgreSQL throws away what it keeps of its own catalog when that is tidied up, and the next to connect has it written anew. */
  const tidyUp = (database: string) => server.ask(database, "ANALYZE pg_class");

  test("when a relay is started: it says so and what to do, and ends; with room again it starts", async ({ skip }) => {
    using disk = SmallDisk.mount(40);
    if (disk === null) return skip("this system allows no disk to be mounted");
    await using database = await databaseOn(disk, "full_at_start");
    const scene = await Scene.start(database.name, [server.url(database.name)]);
    expect(await scene.submit(0)).toBe(true);
    const [relay] = relays;
    await relay?.end("SIGTERM");
    await tidyUp(database.name);
    disk.fill();
    await expect(relay?.start()).rejects.toThrow(/ended with 69/);
    expect(relay?.output).toMatch(full_at_the_door);
    disk.unload();
    await relay?.start();
    await scene.expectWell();
    await Promise.all(relays.splice(0).map((each) => each.dispose()));
  }, 180_000);

  test("when a relay's connections were lost: it refuses until there is room, says why, and goes on by itself", async ({
    skip,
  }) => {
    using disk = SmallDisk.mount(40);
    if (disk === null) return skip("this system allows no disk to be mounted");
    await using database = await databaseOn(disk, "full_at_work");
    const scene = await Scene.start(database.name, [server.url(database.name)]);
    expect(await scene.submit(0)).toBe(true);
    await tidyUp(database.name);
    disk.fill();
    const relays_own = `datname = '${database.name}' AND pid <> pg_backend_pid()`;
    await server.ask("postgres", `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${relays_own}`);
    await scene.refusals(3);
    expectPassing(scene.refused[0] ?? [], [503]);
    const ready = await fetch(`${relays[0]?.url}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringMatching(full_at_the_door)]);
    disk.unload();
    await scene.expectWell();
    await Promise.all(relays.splice(0).map((each) => each.dispose()));
  }, 180_000);
});

test("a network that swallows everything: the node behind it says so in time, the other goes on, and both in the end", async () => {
  const database = await server.createDatabase();
  const url = server.url(database);
  const proxy = await startProxy(server.port);
  try {
    const scene = await Scene.start(database, [url, url.replace(`:${server.port}`, `:${proxy.port}`)]);
    for (const nth of [0, 1]) expect(await scene.submit(nth)).toBe(true);
    // Calls of every kind are under way when it happens.
    const [first = ""] = scene.accepted;
    const under_way = [scene.submit(1), scene.read(1, first)];
    proxy.swallow();
    under_way.push(scene.submit(1), scene.read(1, first));
    await Promise.all(under_way);
    await scene.refusals(4, [1]);
    expectPassing(scene.refused[1] ?? [], [503]);
    expect(await scene.submit(0)).toBe(true);
    expect(scene.refused[0]).toEqual([]);
    proxy.mend();
    await scene.expectWell();
  } finally {
    await Promise.all(relays.splice(0).map((relay) => relay.dispose()));
    await proxy.close();
  }
}, 240_000);
