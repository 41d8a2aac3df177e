/** `node scripts/measure-outbox.ts [rows]`: how many rows of `handfast.submit` one node and three nodes pick up in a second. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv, stdout } from "node:process";
import { startServer } from "../packages/store-postgres/src/testing/server.ts";
import { freePort, RelayProcess } from "../tests/support/relay-process.ts";

const rows = Number(argv[2] ?? 5_000);
const folder = mkdtempSync(join(tmpdir(), "handfast-outbox-"));
const server = await startServer({ durable: true });
try {
  for (const nodes of [1, 3]) {
    const took_s = await measure(nodes);
    stdout.write(
      `${nodes} node${nodes === 1 ? "" : "s"}: ${rows} rows in ${took_s.toFixed(1)} s, ${Math.round(rows / took_s)} a second\n`,
    );
  }
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function measure(nodes: number): Promise<number> {
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
    const quota = ["--open-handoffs-per-sender", String(rows + 1)];
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
    await app.end();
    const began = performance.now();
    const left = async () =>
      Number((await server.ask(database, "SELECT count(*) AS n FROM handfast.outbox"))[0]?.["n"]);
    while ((await left()) > 0) await new Promise((resolve) => setTimeout(resolve, 50));
    const took_s = (performance.now() - began) / 1_000;
    const [found] = await server.ask(database, "SELECT count(*) AS n FROM handfast.accepted");
    if (Number(found?.["n"]) !== rows) throw new Error(`${found?.["n"]} of ${rows} were accepted`);
    return took_s;
  } finally {
    await Promise.all(relays.map((relay) => relay.end("SIGKILL")));
  }
}
