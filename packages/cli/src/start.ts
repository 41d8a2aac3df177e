/** `handfast start`: a relay on this machine. Its options are the relay's own table. */

import { type Option, optionList } from "@handfast/relay/options";
import type { Command, CommandOption, Context } from "./command.ts";
import { CliError } from "./errors.ts";
import { type ExitName, exitCodes } from "./exit-codes.ts";

const default_url = "http://127.0.0.1:7420";
/** Of `npm start --port 7421` npm keeps the flag for itself, and what comes here is 7421. */
const flags_through_npm = "Through npm, flags go after --: npm start -- --port 7421";

export const startCommand: Command = {
  name: "start",
  summary: "Starts a relay on this machine.",
  description:
    "Unconfigured it listens on this machine only and trusts new agents on first use (development mode).\nOn a terminal it logs lines to read, anywhere else JSON, both to stderr.\nThe operator's token has no flag: HANDFAST_OPERATOR_TOKEN or --operator-token-file.",
  options: optionList.flatMap(([name, option]) => (name === "help" ? [] : declared(option))),
  unparsed: true,
  examples: [
    { line: "start", help: "For development: port 7420, store in ./.handfast" },
    { line: "start --port 0 --data /tmp/relay", help: "On a free port" },
    { line: "start --production --public-url https://relay.example", help: "Agents need to be admitted" },
  ],
  run,
};

/** Secrets have no flag; docs/configuration.md has them all. */
function declared({ flag, env, key, kind, default: standard, help }: Option): readonly CommandOption[] {
  if (flag === null) return [];
  const value = kind.type === "flag" ? "" : ` <${kind.type === "choice" ? "word" : kind.type}>`;
  const choices = kind.type === "choice" ? ` One of ${kind.choices.join(", ")}.` : "";
  const places = { ...(env === null ? {} : { env }), ...(key === null ? {} : { key }) };
  return [
    {
      flags: `--${flag}${value}`,
      help: help + choices,
      ...places,
      ...(standard === null ? {} : { default: standard }),
    },
  ];
}

async function run({ terminal, arguments: argv, env, cwd }: Context): Promise<ExitName> {
  const { runRelay, relayLine, development_warning } = await import("@handfast/relay");
  const { stdout, stderr } = process;
  let complaint = "";
  const code = await runRelay({
    argv,
    env,
    cwd,
    stdout,
    stderr,
    complain: (message) => {
      complaint = message;
    },
    announce: (configuration, relay) => {
      const { development } = configuration;
      const { url, listens_on, store } = relay;
      const operator_token_file = relay.operator_token_file ?? configuration.operator_token_file;
      if (terminal.json) {
        const mode = development ? "development" : "production";
        terminal.document({ url, listens_on, store, mode, operator_token_file });
        return;
      }
      terminal.print(relayLine(configuration, relay, cwd));
      if (development) terminal.note(terminal.accent("yellow", development_warning));
      else if (operator_token_file !== null) terminal.print(`operator's token: ${operator_token_file}`);
      const where = url === default_url ? "" : ` --url ${url}`;
      const next = development
        ? `next: handfast serve upper${where} --text -- tr a-z A-Z`
        : `next: handfast token make alice${where}${tokenFlag(operator_token_file)}`;
      terminal.print(terminal.spelled(next));
    },
  });
  if (complaint !== "") {
    const remedy = env["npm_lifecycle_event"] === "start" && /--\w/.test(complaint) ? flags_through_npm : "";
    throw new CliError(isOfFlags(complaint) ? "usage" : exitNamed(code), complaint, remedy);
  }
  return exitNamed(code);
}

/** A wrong flag is a wrong command line; the environment and the file are configuration. */
function isOfFlags(complaint: string): boolean {
  return /^(--|There is no option |".*" is not an option)/.test(complaint);
}

function tokenFlag(file: string | null): string {
  return file === null ? ' --token "$HANDFAST_OPERATOR_TOKEN"' : ` --token-file ${file}`;
}

/** The relay's numbers are a part of ours. */
function exitNamed(code: number): ExitName {
  const names = Object.keys(exitCodes) as ExitName[];
  return names.find((name) => exitCodes[name].code === code) ?? "internal";
}
