/** `handfast doctor`: why does it not work? Each line says what was found, and what to do where it is wrong. */

import { type ClientSettings, readClientSettings } from "../client-settings.ts";
import type { Command, Context } from "../command.ts";
import { tell } from "../errors.ts";
import type { ExitName } from "../exit-codes.ts";
import { keyHome } from "../keys/key-files.ts";
import { cleanLine } from "../text.ts";
import { type Check, ok, problem } from "./check.ts";
import { checkDisk, checkKeys, checkNode } from "./machine-checks.ts";
import { lookAtRelay } from "./relay-checks.ts";

export const doctorCommand: Command = {
  name: "doctor",
  summary: "Looks for what is wrong, and says what to do.",
  description: "Checks Node, key files, the disk, the relay, its clock and version, and whether it knows who you are.",
  connects: true,
  examples: [
    { line: "doctor", help: "Of the relay on this machine" },
    { line: "doctor --url https://relay.example --agent research-1", help: "Of another one, as an agent" },
  ],
  run,
};

async function run(context: Context): Promise<ExitName> {
  const { terminal, options, env, cwd } = context;
  const settings = readClientSettings(options, env, cwd);
  const checks = await terminal.busy("looking", lookAtAll(context, settings, keyHome(env, cwd)));
  const problems = checks.filter((check) => !check.ok);
  if (terminal.json) terminal.document({ ok: problems.length === 0, checks });
  else {
    for (const check of checks) show(context, check);
    terminal.print(problems.length === 0 ? "all is well" : `${problems.length} of ${checks.length} need you`);
  }
  return problems[0]?.exit ?? "ok";
}

async function lookAtAll(context: Context, settings: ClientSettings, home: string): Promise<readonly Check[]> {
  const [keys, disk, relay] = await Promise.all([checkKeys(home), checkDisk(settings.data), lookAtRelay(settings.url)]);
  const identity = relay.about === null ? [] : [await checkIdentity(context)];
  return [checkNode(), ...keys, disk, ...relay.checks, ...identity];
}

/** As every other command would: where the relay takes new agents by themselves, this one is then known. */
async function checkIdentity(context: Context): Promise<Check> {
  try {
    const client = await context.connect();
    const proof = client.key === null ? "by a token" : `by the key ${client.key}`;
    return ok("identity", `the relay knows ${client.agent} ${proof}`);
  } catch (error) {
    const { message, remedy, exit } = tell(error);
    return problem("identity", message, remedy, exit);
  }
}

function show({ terminal }: Context, check: Check): void {
  const mark = check.ok ? terminal.style("green", "ok     ") : terminal.style("red", "problem");
  terminal.print(`${mark}  ${check.about.padEnd(8)}  ${cleanLine(check.found)}`);
  if (!check.ok) terminal.print(`         ${" ".repeat(8)}  do: ${terminal.spelled(cleanLine(check.remedy))}`);
}
