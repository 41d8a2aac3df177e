// Starts the reference relay and lets the conformance suite at it: `npm run conformance -- --help`.

import { availableParallelism } from "node:os";
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
import { renderTryout, tryMutants } from "../packages/conformance/src/testing/try-mutant.ts";

const usage = `npm run conformance -- [options]
  --only WORD     an id (FENCE-2), what the ids of a section begin with (FENCE), or a page (events); may be repeated
  --list          shows the promises and ends
  --json          the report as one JSON document
  --failures      only what is broken
  --production    the relay in production mode, where an operator admits the suite's agents
  --mutants       tries every deliberately broken relay instead, each with the checks that must notice it
  --mutant NAME   only this one; may be repeated
  --full          tries mutants with the whole suite
  --help          this text

Ends with 0 when all is kept (or every mutant was noticed), 1 when not, 2 when it could not be tried.`;

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

interface Asked {
  readonly json: boolean;
  readonly failures: boolean;
  readonly production: boolean;
}

async function tryReference(selected: readonly Check[], { json, failures, production }: Asked): Promise<boolean> {
  const mode = production ? "production" : "development";
  const relay = await RelayProcess.start({ mode });
  const second = await RelayProcess.start({ mode, flags: short_lived_flags });
  try {
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
    return countsOf(report).broken === 0;
  } finally {
    await relay.dispose();
    await second.dispose();
  }
}

async function tryAllMutants(names: readonly string[], full: boolean): Promise<boolean> {
  const unknown = names.find((name) => !mutants.some((mutant) => mutant.name === name));
  if (unknown !== undefined) throw new RangeError(`There is no mutant ${unknown}.`);
  const chosen = mutants.filter(({ name }) => names.length === 0 || names.includes(name));
  let noticed = 0;
  await tryMutants(chosen, availableParallelism(), full, (tryout) => {
    if (tryout.blind.length === 0) noticed += 1;
    print([renderTryout(tryout)]);
  });
  print([`${noticed} of ${chosen.length} mutants were noticed`]);
  return noticed === chosen.length;
}

async function main(): Promise<boolean> {
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
  if (values.help) {
    print([usage]);
    return true;
  }
  const selected = selectChecks(checks, values.only);
  if (values.list) {
    print(listLines(selected));
    return true;
  }
  if (values.mutants || values.mutant.length > 0) return tryAllMutants(values.mutant, values.full);
  return tryReference(selected, values);
}

try {
  exit((await main()) ? 0 : 1);
} catch (error) {
  stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  if (error instanceof TypeError) stderr.write(`${usage}\n`);
  exit(2);
}
