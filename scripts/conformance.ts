// Starts the reference relay and lets the conformance suite at it: `npm run conformance -- --help`.

import { availableParallelism, constants } from "node:os";
import { argv, exit, stderr, stdout } from "node:process";
import { parseArgs, styleText } from "node:util";
import {
  type Check,
  checks,
  countsOf,
  listLines,
  plainStyle,
  type ReportStyle,
  renderReport,
  reportJson,
  runConformance,
  selectChecks,
} from "../packages/conformance/src/mod.ts";
import { mutants } from "../packages/conformance/src/mutants/all.ts";
import { RelayProcess } from "../packages/conformance/src/testing/relay-process.ts";
import { short_lived_flags } from "../packages/conformance/src/testing/short-lived.ts";
import { renderTryout, type Tryout, tryMutants, tryoutJson } from "../packages/conformance/src/testing/try-mutant.ts";

const usage = `npm run conformance -- [options]
  --only WORD     an id (FENCE-2), what the ids of a section begin with (FENCE), or a page (events); may be repeated
  --list          shows the promises and ends
  --json          the list, the report or what came of the mutants as one JSON document
  --failures      only what is broken
  --production    the relay in production mode, where an operator admits the suite's agents
  --mutants       tries every deliberately broken relay instead, each with the checks that must notice it
  --mutant NAME   only this one; may be repeated
  --full          tries mutants with the whole suite
  --help          this text

The suite takes about a minute: 65 s on two busy cores. Each mutant takes some seconds, with --full as long as the suite.
Ends with 0 when all is kept (or every mutant was noticed), 1 when not, 2 when it could not be tried, or not all of it.`;

const exits = { kept: 0, broken: 1, untried: 2 } as const;
type Exit = keyof typeof exits;

const colours: ReportStyle = {
  good: (text) => styleText("green", text),
  bad: (text) => styleText("red", text),
  dim: (text) => styleText("dim", text),
};

function print(lines: readonly string[]): void {
  stdout.write(lines.map((line) => `${line}\n`).join(""));
}

/** A line that the next one replaces, where a person looks. */
function progress(line: string): void {
  if (stderr.isTTY) stderr.write(`\r\u001b[2K${line}`);
}

function read() {
  const { values } = parseArgs({
    args: argv.slice(2),
    options: {
      only: { type: "string", multiple: true, default: [] },
      list: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      failures: { type: "boolean", default: false },
      production: { type: "boolean", default: false },
      mutants: { type: "boolean", default: false },
      mutant: { type: "string", multiple: true, default: [] },
      full: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const { only, list, failures, production, full, mutant } = values;
  const ofMutants = values.mutants || mutant.length > 0;
  const refused = ofMutants
    ? { "--only": only.length > 0, "--list": list, "--failures": failures, "--production": production }
    : { "--full": full };
  const unfit = Object.entries(refused).find(([, isGiven]) => isGiven);
  if (unfit !== undefined) throw new TypeError(`${unfit[0]} is ${ofMutants ? "not" : "only"} for mutants.`);
  return { ...values, ofMutants };
}

type Asked = ReturnType<typeof read>;

function showList(selected: readonly Check[], { json }: Asked): void {
  const promises = selected.map(({ id, promise, section }) => ({ id, promise, section }));
  print(json ? [JSON.stringify(promises)] : listLines(selected));
}

async function tryReference(selected: readonly Check[], { json, failures, production }: Asked): Promise<Exit> {
  const mode = production ? "production" : "development";
  const relay = await RelayProcess.start({ mode });
  const second = await RelayProcess.start({ mode, flags: short_lived_flags });
  const report = await runConformance(
    { ...relay.target, short_lived: second.target },
    {
      checks: selected,
      onTried: ({ check, transport }, done, of) => progress(`${done}/${of} ${check.id} ${transport}`),
    },
  );
  progress("");
  const style = stdout.isTTY ? colours : plainStyle;
  print(json ? [JSON.stringify(reportJson(report))] : renderReport(report, style, { failures_only: failures }));
  if (report.cut_short !== null) return "untried";
  return countsOf(report).broken === 0 ? "kept" : "broken";
}

async function tryAllMutants({ mutant: names, full, json }: Asked): Promise<Exit> {
  const unknown = names.find((name) => !mutants.some((mutant) => mutant.name === name));
  if (unknown !== undefined) throw new RangeError(`There is no mutant ${unknown}.`);
  const chosen = mutants.filter(({ name }) => names.length === 0 || names.includes(name));
  const tryouts: Tryout[] = [];
  await tryMutants(chosen, availableParallelism(), full, (tryout) => {
    tryouts.push(tryout);
    if (!json) print([renderTryout(tryout)]);
  });
  const noticed = tryouts.filter(({ blind }) => blind.length === 0).length;
  const summary = { noticed, not_noticed: chosen.length - noticed };
  print([
    json
      ? JSON.stringify({ summary, mutants: tryouts.map(tryoutJson) })
      : `${noticed} of ${chosen.length} mutants were noticed`,
  ]);
  return noticed === chosen.length ? "kept" : "broken";
}

async function main(): Promise<Exit> {
  const asked = read();
  if (asked.help) print([usage]);
  else if (asked.ofMutants) return tryAllMutants(asked);
  else if (asked.list) showList(selectChecks(checks, asked.only), asked);
  else return tryReference(selectChecks(checks, asked.only), asked);
  return "kept";
}

let isStopped = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, async () => {
    isStopped = true;
    await RelayProcess.disposeAll();
    exit(128 + constants.signals[signal]);
  });
}

/** Where a signal came, its handler ends the process, and what breaks meanwhile is nobody's business. */
async function end(code: number, complaint = ""): Promise<void> {
  if (isStopped) return;
  if (complaint !== "") stderr.write(`${complaint}\n`);
  await RelayProcess.disposeAll();
  process.exitCode = code;
}

await main().then(
  (how) => end(exits[how]),
  (error: unknown) => {
    const what = error instanceof Error ? error.message : String(error);
    return end(exits.untried, error instanceof TypeError ? `${what}\n${usage}` : what);
  },
);
