/**
 * `node scripts/measure-outbox.ts [rows]`: how many rows of `handfast.submit` one node and three nodes pick up in a second, and how
 * long after its commit a row that comes alone is a handoff.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv, stdout } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { startServer, type TestServer } from "../packages/store-postgres/src/testing/server.ts";
import { freePort, RelayProcess } from "../tests/support/relay-process.ts";

const rows = Number(argv[2] ?? 5_000);
/** Rows that come alone, each at a moment of its own between two looks of the nodes. */
const singles = 40;
const longest_pause_ms = 1_000;
/** How exactly the moment is told. */
const look_every_ms = 2;
const folder = mkdtempSync(join(tmpdir(), "handfast-outbox-"));
const server = await startServer({ durable: true });
try {
  for (const nodes of [1, 3]) {
    const { took_s, waits_ms } = await measure(nodes);
    const each = `${nodes} node${nodes === 1 ? "" : "s"}`;
    stdout.write(`${each}: ${rows} rows in ${took_s.toFixed(1)} s, ${Math.round(rows / took_s)} a second\n`);
    const at = (share: number) => waits_ms.toSorted((a, b) => a - b)[Math.floor(share * waits_ms.length)]?.toFixed(0);
    stdout.write(`${each}: a row alone, from its commit to accepted: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms\n`);
  }
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

interface Measured {
  readonly took_s: number;
  readonly waits_ms: readonly number[];
}

async function measure(nodes: number): Promise<Measured> {
  const database = await server.createDatabase();
  const role = `app_${nodes}`;
  const relays: RelayProcess[] = [];
  try {
    const settings = [
      "--store",
      server.url(database),
      "--public-url",
      "http://relay.test",
      "--dev",
      "--log-level",
      "error",
    ];
    const quota = ["--open-handoffs-per-sender", String(rows + singles + 1)];
    for (let nth = 0; nth < nodes; nth += 1) {
      const place = join(folder, `${database}-${nth}`);
      relays.push(await RelayProcess.start([...settings, ...quota], place, { port: await freePort() }));
    }
    const body = JSON.stringify({ agent: "shop" });
    const headers = { "content-type": "application/json" };
    const made = await fetch(`${relays[0]?.url}/v1/tokens`, { method: "POST", headers, body });
    if (!made.ok) throw new Error(await made.text());
    await server.ask(database, `CREATE ROLE ${role} LOGIN`);
    await server.ask(database, `SELECT handfast.bind_role('${role}', 'shop')`);
    const app = server.client(database, role);
    await app.unsafe(
      `SELECT count(handfast.submit('ship', to_jsonb(n), '{"queue_if_absent": true}')) FROM generate_series(1, ${rows}) AS n`,
    );
    const began = performance.now();
    const left = async () =>
      Number((await server.ask(database, "SELECT count(*) AS n FROM handfast.outbox"))[0]?.["n"]);
    while ((await left()) > 0) await sleep(50);
    const took_s = (performance.now() - began) / 1_000;
    const [found] = await server.ask(database, "SELECT count(*) AS n FROM handfast.accepted");
    if (Number(found?.["n"]) !== rows) throw new Error(`${found?.["n"]} of ${rows} were accepted`);
    const waits_ms = await waitsOf(app, database);
    await app.end();
    return { took_s, waits_ms };
  } finally {
    await Promise.all(relays.map((relay) => relay.end("SIGKILL")));
  }
}

async function waitsOf(app: ReturnType<TestServer["client"]>, database: string): Promise<readonly number[]> {
  const looking = server.client(database, "postgres");
  const waits_ms: number[] = [];
  while (waits_ms.length < singles) {
    await sleep(Math.random() * longest_pause_ms);
    const [row] = await app`SELECT handfast.submit('ship', '"alone"', '{"queue_if_absent": true}') AS id`;
    const committed = performance.now();
    const isThere = async () => (await looking`SELECT 1 FROM handfast.accepted WHERE id = ${row?.["id"]}`).length > 0;
    while (!(await isThere())) await sleep(look_every_ms);
    waits_ms.push(performance.now() - committed);
  }
  await looking.end();
  return waits_ms;
}
