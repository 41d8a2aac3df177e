/** From the declarations to a run: parsing by commander, help, what is mistyped, and how the process ends. */

import { didYouMean } from "@handfast/relay/did-you-mean";
import {
  Command as Commander,
  Argument as CommanderArgument,
  CommanderError,
  Option as CommanderOption,
} from "commander";
import type { Argument, Command, CommandOption, Context, Environment } from "./command.ts";
import { commandName } from "./command-name.ts";
import { Connection } from "./connection.ts";
import { allOptions, argumentForm, commanderOption, frameOptions } from "./declared.ts";
import { CliError, report } from "./errors.ts";
import { exitCode, exitCodes } from "./exit-codes.ts";
import { configureHelp, helpStyle } from "./help.ts";
import { Options } from "./options.ts";
import { Stopping } from "./stopping.ts";
import { type Sink, Terminal } from "./terminal.ts";

export interface Surface {
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly cwd: string;
  /** The file that was called: process.argv[1]. */
  readonly script?: string;
  readonly out: Sink;
  readonly err: Sink;
}

/** Runs what was typed and answers the exit code. */
export async function runProgram(commands: readonly Command[], version: string, surface: Surface): Promise<number> {
  const given = (flag: string) => optionWords(surface.argv).includes(flag);
  const terminal = new Terminal({
    out: surface.out,
    err: surface.err,
    json: given("--json"),
    plain: given("--no-color"),
    debug: given("--debug"),
    command: commandName(surface.env, surface.script ?? ""),
    env: surface.env,
  });
  let code = exitCode("ok");
  const program = buildProgram(commands, version, terminal, async (command, parsed) => {
    code = await runCommand(command, parsed, terminal, surface);
  });
  try {
    await program.parseAsync([...surface.argv], { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return mistyped(error, terminal);
    return report(error, terminal);
  }
}

/** Words after `--` are not ours. */
function optionWords(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf("--");
  return end < 0 ? argv : argv.slice(0, end);
}

/** What others call it. */
const synonyms: Readonly<Record<string, string>> = {
  ls: "list",
  ps: "list",
  jobs: "list",
  status: "list",
  get: "show",
};

/** How a command is typed, for whoever left a word out, and which flags it has. */
const usages = new WeakMap<CommanderError, { readonly line: string; readonly flags: readonly string[] }>();

function mistyped(error: CommanderError, terminal: Terminal): number {
  const { code, exitCode: ends, message } = error;
  // Help and version were asked for and are shown.
  if (ends === 0) return exitCode("ok");
  // A group of commands without one shows its help.
  if (code === "commander.help") return exitCode("usage");
  const [what = "", near = ""] = message.replace(/^error: /, "").split("\n");
  const [, word = ""] = /'(.*)'/.exec(what) ?? [];
  const { line: usage = "", flags = [] } = usages.get(error) ?? {};
  const meant = code === "commander.unknownCommand" ? synonyms[word] : flagBegunBy(word, flags);
  const guess = meant === undefined ? near.replace(/^\((.*)\)$/, "$1") : `Did you mean ${meant}?`;
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1).replace(/\.$/, "")}.`;
  return report(new CliError("usage", sentence, guess === "" ? remedyOf(code, word, usage) : guess), terminal);
}

/** The one flag that begins so, as --output does for --output-schema; more than one says nothing. */
function flagBegunBy(word: string, flags: readonly string[]): string | undefined {
  const begun = word.length < 4 ? [] : flags.filter((each) => each.startsWith(word));
  return begun.length === 1 ? begun[0] : undefined;
}

function remedyOf(code: string, word: string, usage: string): string {
  if (code === "commander.missingArgument") return `Type: ${usage}`;
  const see = "See --help.";
  if (code !== "commander.unknownOption" || !usage.includes("<")) return see;
  return `${see} If it is no flag: what begins with "-" goes after "--", behind all flags, as in -- ${word}`;
}

interface Parsed {
  readonly words: readonly string[];
  readonly options: Options;
}

type Run = (command: Command, parsed: Parsed) => Promise<void>;

function buildProgram(commands: readonly Command[], version: string, terminal: Terminal, run: Run): Commander {
  const program = new Commander("handfast")
    .description("A relay for handoffs between AI agents, and everything to work with it.")
    .version(version, "-V, --version", "Shows the version.")
    .enablePositionalOptions();
  frame(program, terminal);
  for (const option of frameOptions) program.addOption(commanderOption(option));
  program.configureHelp(helpStyle(terminal)).addHelpText("after", () => exitTable());
  for (const command of commands) program.addCommand(build(command, terminal, run));
  return program;
}

function exitTable(): string {
  const rows = Object.values(exitCodes).map(({ code, meaning }) => `  ${String(code).padStart(3)}  ${meaning}`);
  return `\nExit codes:\n${rows.join("\n")}\n\nFlags go before environment variables, these before handfast.toml.`;
}

/** What holds for every command alike. */
function frame(commander: Commander, terminal: Terminal): void {
  commander
    .exitOverride((error) => {
      const flags = commander.options.flatMap(({ long }) => long ?? []);
      usages.set(error, { line: commander.createHelp().commandUsage(commander), flags });
      throw error;
    })
    .showSuggestionAfterError(true)
    .helpOption("-h, --help", "Shows this text.")
    .helpCommand(false)
    .configureOutput({
      writeOut: (text) => terminal.raw(text),
      writeErr: (text) => terminal.note(text.trimEnd()),
      // Told by mistyped().
      outputError: () => undefined,
    });
}

function build(command: Command, terminal: Terminal, run: Run): Commander {
  const commander = new Commander(command.name).summary(command.summary);
  commander.description([command.summary, command.description].filter(Boolean).join("\n"));
  frame(commander, terminal);
  for (const argument of command.arguments ?? []) commander.addArgument(commanderArgument(argument));
  const options = allOptions(command);
  configureHelp(commander, command, terminal);
  for (const option of command.unparsed === true ? frameOptions : options) {
    commander.addOption(commanderOption(option));
  }
  if (command.unparsed === true) commander.allowUnknownOption().allowExcessArguments();
  for (const sub of command.commands ?? []) {
    const isDefault = sub.name === command.standard;
    const built = build(sub, terminal, run);
    if (isDefault)
      built.allowExcessArguments().hook("preAction", () => checkWords(commander.args, built.args, command, sub));
    commander.addCommand(built, { isDefault });
  }
  if (command.run !== undefined) {
    commander.action(() => run(command, { words: commander.args, options: readOptions(commander, options) }));
  }
  return commander;
}

function commanderArgument(argument: Argument): CommanderArgument {
  const made = new CommanderArgument(argumentForm(argument), argument.help);
  return argument.choices === undefined ? made : made.choices([...argument.choices]);
}

/** The standard sub-command gets what is no sub-command: most likely a mistyped one. `words` are without options. */
function checkWords(
  typed: readonly string[],
  words: readonly string[],
  { name, commands = [] }: Command,
  standard: Command,
): void {
  const most = standard.arguments?.length ?? 0;
  const isNamed = typed[0] === standard.name;
  if (words.length <= most) return;
  const known = commands.map((each) => each.name);
  const guess = isNamed ? "" : didYouMean(words[0] ?? "", known).trim();
  const what = isNamed
    ? `${name} ${standard.name} takes no word ${words[most]}.`
    : `Unknown command '${name} ${words[0]}'.`;
  throw new CliError("usage", what, guess === "" ? `There are: ${known.join(", ")}.` : guess);
}

/** By the long flag's own name, which commander turns round for --no-…. */
function readOptions(commander: Commander, declared: readonly CommandOption[]): Options {
  const values = new Map<string, unknown>();
  for (const { flags } of declared) {
    const option = new CommanderOption(flags);
    const value: unknown = commander.getOptionValue(option.attributeName());
    const source = commander.getOptionValueSource(option.attributeName());
    if (source === "cli") values.set(option.long?.slice(2) ?? "", option.negate ? value === false : value);
  }
  return new Options(values);
}

async function runCommand(
  command: Command,
  { words, options }: Parsed,
  terminal: Terminal,
  surface: Surface,
): Promise<number> {
  const { env, cwd } = surface;
  const connection = new Connection({ options, env, cwd, terminal });
  const stopping = new Stopping();
  const context: Context = {
    terminal,
    arguments: words,
    options,
    env,
    cwd,
    get signal() {
      return stopping.signal();
    },
    connect: (role = "agent", caller = undefined) => connection.client(role, caller, stopping.asked),
  };
  try {
    const ended = await command.run?.(context);
    return exitCode(ended ?? "ok");
  } catch (error) {
    return report(error, terminal, stopping.reason);
  } finally {
    terminal.settle();
    await connection.close();
    stopping.release();
  }
}
