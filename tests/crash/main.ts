/** `npm run crash -- --kills 500`: a long crash run, with its progress and a table at the end. */

import { argv, exit, stderr, stdout } from "node:process";
import { parseArgs } from "node:util";
import { endWhenTold } from "../support/end-at-once.ts";
import { runCrashes } from "./run.ts";
import { renderReport } from "./table.ts";

const usage = `npm run crash -- [options]
  --kills N   so many SIGKILLs under load, a third each of the relay, workers and senders
              (500: about 13 minutes on two cores, reckoned)
  --help      this text

Ends with 0 when nothing that was accepted was lost or completed twice, with 1 and what was violated when not, with 64
for wrong options, with 128 and the number of the signal when one ended it. Only what was violated leaves its folder.
`;

endWhenTold();
const { values } = readOptions();
if (values.help) {
  stdout.write(usage);
  exit(0);
}
const kills = Number(values.kills);
if (!Number.isInteger(kills) || kills < 3) {
  stderr.write(`--kills is ${values.kills}: give a whole number from 3 on.\n${usage}`);
  exit(64);
}
const share = Math.floor(kills / 3);
const say = (line: string) => stdout.write(`${line}\n`);
const report = await runCrashes({ relay: kills - 2 * share, worker: share, sender: share, say });
stdout.write(renderReport(report));
exit(report.violations.length === 0 ? 0 : 1);

function readOptions() {
  const options = { kills: { type: "string", default: "500" }, help: { type: "boolean", default: false } } as const;
  try {
    return parseArgs({ args: argv.slice(2), options });
  } catch (error) {
    stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    exit(64);
  }
}
