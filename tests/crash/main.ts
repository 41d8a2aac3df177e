/** `npm run crash -- --kills 500`: a long crash run, with its progress and a table at the end; `--nodes 3`: of several nodes. */

import { argv, exit, stderr, stdout } from "node:process";
import { parseArgs } from "node:util";
import { endWhenTold } from "../support/end-at-once.ts";
import { runNodes } from "./nodes/run.ts";
import { renderNodesReport } from "./nodes/table.ts";
import { runCrashes } from "./run.ts";
import { renderReport } from "./table.ts";

const usage = `npm run crash -- [options]
  --kills N        so many SIGKILLs under load, a third each of the relay, workers and senders
                   (500: about 13 minutes on two cores, reckoned)
  --nodes N        instead, so many relays on one PostgreSQL with a synchronous standby; --kills are then of nodes (100), and
  --failovers N    so many times the primary is lost and the standby promoted (20)
  --restarts N     so many times the primary is killed and started again (10)
  --partitions N   so many times a node and the database cannot reach each other: cut off, swallowing everything, slow (15)
  --seed N         the order of these faults; without it by chance, and told
  --help           this text

Ends with 0 when nothing that was accepted was lost or completed twice, with 1 and what was violated when not, with 64
for wrong options, with 128 and the number of the signal when one ended it. Only what was violated on one relay leaves its folder.
`;

const options = {
  kills: { type: "string" },
  nodes: { type: "string" },
  failovers: { type: "string" },
  restarts: { type: "string" },
  partitions: { type: "string" },
  seed: { type: "string" },
  help: { type: "boolean", default: false },
} as const;

endWhenTold();
const { values } = readOptions();
if (values.help) {
  stdout.write(usage);
  exit(0);
}
const say = (line: string) => stdout.write(`${line}\n`);
exit(values.nodes === undefined ? await crashOne() : await crashNodes());

async function crashOne(): Promise<number> {
  for (const name of ["failovers", "restarts", "partitions", "seed"] as const) {
    if (values[name] !== undefined) refuse(`--${name} is for several nodes: give --nodes too.`);
  }
  const kills = whole("kills", 500, 3);
  const share = Math.floor(kills / 3);
  const report = await runCrashes({ relay: kills - 2 * share, worker: share, sender: share, say });
  stdout.write(renderReport(report));
  return report.violations.length === 0 ? 0 : 1;
}

async function crashNodes(): Promise<number> {
  const plan = {
    nodes: whole("nodes", 3, 2),
    kills: whole("kills", 100, 0),
    failovers: whole("failovers", 20, 0),
    restarts: whole("restarts", 10, 0),
    partitions: whole("partitions", 15, 0),
    seed: whole("seed", Math.floor(Math.random() * 2 ** 32), 0),
  };
  say(`seed ${plan.seed}`);
  const report = await runNodes({ ...plan, say });
  stdout.write(renderNodesReport(report));
  return report.violations.length === 0 ? 0 : 1;
}

function whole(
  name: "kills" | "nodes" | "failovers" | "restarts" | "partitions" | "seed",
  otherwise: number,
  least: number,
): number {
  const given = values[name];
  const value = given === undefined ? otherwise : Number(given);
  if (!Number.isInteger(value) || value < least) refuse(`--${name} is ${given}: give a whole number from ${least} on.`);
  return value;
}

function refuse(message: string): never {
  stderr.write(`${message}\n${usage}`);
  exit(64);
}

function readOptions() {
  try {
    return parseArgs({ args: argv.slice(2), options });
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}
