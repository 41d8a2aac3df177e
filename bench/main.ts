/** `npm run bench`: full durable handoffs per second at concurrency 1, 64 and 256. `--json` for machines, `--seconds N`. */

import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { openClient } from "./client-handoffs.ts";
import { openEngine } from "./engine-handoffs.ts";
import { openHttp } from "./http-handoffs.ts";
import { type Figure, measure } from "./measure.ts";

const concurrencies = [1, 64, 256];
const ways = {
  "engine and store": openEngine,
  "relay over HTTP": openHttp,
  "client, unsigned": () => openClient("tokens"),
  "client, signed": () => openClient("keys"),
} as const;

const { values } = parseArgs({
  options: { json: { type: "boolean", default: false }, seconds: { type: "string", default: "5" } },
});
const seconds = Number(values.seconds);
if (!(seconds > 0)) throw new Error(`--seconds takes a positive number, not ${values.seconds}`);

const figures: Record<string, Figure[]> = {};
for (const [way, open] of Object.entries(ways)) {
  const { handoff, close } = await open();
  try {
    await measure(8, Math.min(1, seconds), handoff);
    const found: Figure[] = [];
    for (const concurrency of concurrencies) {
      process.stderr.write(`${way}, concurrency ${concurrency} …\n`);
      found.push(await measure(concurrency, seconds, handoff));
    }
    figures[way] = found;
  } finally {
    await close();
  }
}

const conditions = { node: process.version, cores: cpus().length, cpu: cpus()[0]?.model ?? "unknown", seconds };
if (values.json) process.stdout.write(`${JSON.stringify({ conditions, figures }, null, 2)}\n`);
else {
  process.stdout.write(`${"".padEnd(20)}${concurrencies.map((c) => `at ${c}`.padStart(34)).join("")}\n`);
  for (const [way, found] of Object.entries(figures)) {
    const cells = found.map(({ per_second, p50_ms, p99_ms }) => `${per_second}/s  p50 ${p50_ms}  p99 ${p99_ms} ms`);
    process.stdout.write(`${way.padEnd(20)}${cells.map((cell) => cell.padStart(34)).join("")}\n`);
  }
}
