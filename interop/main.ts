/** `npm run interop`: the cross-framework suite; `--help` lists the options. */

import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { endWhenTold } from "../tests/support/end-at-once.ts";
import { type Row, Unavailable } from "./cast/row.ts";
import { type CommandLine, readCommandLine, UsageError, usageOf } from "./command-line.ts";
import { firstLine, Matrix } from "./matrix.ts";
import {
  absentOf,
  aligned,
  closingLine,
  failuresOf,
  gapsOf,
  gridOf,
  markdownOf,
  notesOf,
  type Report,
} from "./report.ts";
import { loadRows, NoRow } from "./rows.ts";
import { type Player, runSuite } from "./run.ts";

const page = join(import.meta.dirname, "../docs/interop.md");
const print = (line: string) => void process.stdout.write(`${line}\n`);
const say = (line: string) => void process.stderr.write(`${line}\n`);

endWhenTold();
const rows = await loadRows().catch((error: unknown) => {
  if (!(error instanceof NoRow)) throw error;
  say(error.message);
  process.exit(1);
});
const names = rows.map(({ name }) => name);
try {
  const line = readCommandLine(process.argv.slice(2), names);
  if (line.help) print(usageOf(names));
  else process.exitCode = await run(line);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  say(`${error.message}\n${usageOf(names)}`);
  process.exitCode = 64;
}

async function run(line: CommandLine): Promise<number> {
  const began = performance.now();
  const wanted = rows.filter(
    ({ name, quick }) => (line.senders.includes(name) || line.workers.includes(name)) && (quick || !line.quick),
  );
  const { players, absent } = await prepareAll(wanted);
  if (line.install) return absent.size === 0 ? 0 : 1;
  const senders = players.filter(({ row }) => line.senders.includes(row.name));
  const workers = players.filter(({ row }) => line.workers.includes(row.name));
  const matrix = new Matrix(({ sender, worker, scenario, result }) => {
    // In full it stands in the report.
    const how = result.is === "passed" ? `${result.ms} ms` : `${result.is}: ${firstLine(result.why)}`;
    say(`${sender} → ${worker}  ${scenario}  ${how}`);
  });
  await runSuite({ senders, workers, scenarios: line.scenarios, say }, matrix);
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  const date = new Date().toISOString().slice(0, 10);
  const conditions = `${date}, ${availableParallelism()} cores, ${minutes} minutes`;
  const report: Report = { matrix, senders, workers, absent, scenarios: line.scenarios, conditions };
  show(report, line);
  return matrix.isGood ? 0 : 1;
}

async function prepareAll(wanted: readonly Row[]) {
  const players: Player[] = [];
  const absent = new Map<string, string>();
  for (const row of wanted) {
    try {
      players.push({ row, prepared: await row.prepare(say) });
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      say(`${row.title} does not take part: ${error.message}`);
      absent.set(row.name, error.message);
    }
  }
  return { players, absent };
}

function show(report: Report, line: CommandLine): void {
  if (line.json) {
    const { senders, workers, absent, conditions, matrix } = report;
    const players = new Map([...senders, ...workers].map(({ row, prepared }) => [row.name, prepared.versions]));
    print(
      JSON.stringify(
        {
          conditions,
          versions: Object.fromEntries(players),
          absent: Object.fromEntries(absent),
          cells: matrix.cells,
          faults: matrix.faults,
        },
        null,
        2,
      ),
    );
  } else {
    const failures = failuresOf(report).map(({ where, why }) => `FAILED  ${where.join("; ")}: ${why}`);
    const gaps = gapsOf(report).map((gap) => `gap  ${gap}`);
    const absent = absentOf(report).map((row) => `left out  ${row}`);
    const notes = notesOf(report).map((note) => `note  ${note}`);
    [aligned(gridOf(report)), ...notes, ...gaps, ...absent, ...failures, closingLine(report)].forEach(print);
  }
  if (!line.write) return;
  writeFileSync(page, markdownOf(report));
  say(`wrote ${page}`);
}
