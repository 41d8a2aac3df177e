/** The options and arguments of a command as commander, the help and the docs take them. */

import { Option as CommanderOption } from "commander";
import { connectionOptions } from "./client-settings.ts";
import type { Argument, Command, CommandOption } from "./command.ts";

/** Every command has these. */
export const frameOptions: readonly CommandOption[] = [
  { flags: "--json", help: "Data as JSON on stdout: one document, or one per line." },
  { flags: "--no-color", help: "No colours.", env: "NO_COLOR" },
  { flags: "--debug", help: "Shows where an error arose." },
];

/** Of the command itself, of the connection, of the frame. */
export function allOptions(command: Command): readonly CommandOption[] {
  const { agentHelp } = command;
  const ofConnection = connectionOptions.map((option) =>
    agentHelp !== undefined && option.flags.startsWith("--agent ") ? { ...option, help: agentHelp } : option,
  );
  return [...(command.options ?? []), ...(command.connects === true ? ofConnection : []), ...frameOptions];
}

export function argumentForm({ name, optional, many }: Argument): string {
  const inner = `${name}${many === true ? "..." : ""}`;
  return optional === true ? `[${inner}]` : `<${inner}>`;
}

export function commanderOption({
  flags,
  help,
  many,
  choices,
  env,
  key,
  default: standard,
}: CommandOption): CommanderOption {
  const places = [env, key, standard === undefined ? undefined : `default ${standard}`].filter(
    (each) => each !== undefined,
  );
  const option = new CommanderOption(flags, places.length === 0 ? help : `${help} [${places.join("; ")}]`);
  if (choices !== undefined) option.choices([...choices]);
  if (many === true) option.argParser((value: string, before: readonly string[] = []) => [...before, value]);
  return option;
}

/** `--timeout` of "-t, --timeout <duration>"; null: it has none, as a variable only. */
export function longFlag(flags: string): string | null {
  return /--[a-z][a-z0-9-]*/.exec(flags)?.[0] ?? null;
}

/** As typed. One that begins with a variable or a path names the command itself. */
export function exampleLine(line: string): string {
  return /^[A-Z_]+=/.test(line) ? line : `handfast ${line}`;
}
