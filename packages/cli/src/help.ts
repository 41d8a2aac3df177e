/** `--help` of a command: its options, also those that others parse, and examples. */

import type { Command as Commander, Argument as CommanderArgument, HelpConfiguration } from "commander";
import type { Command } from "./command.ts";
import { allOptions, commanderOption, exampleLine } from "./declared.ts";
import type { Terminal } from "./terminal.ts";

export function configureHelp(commander: Commander, command: Command, terminal: Terminal): void {
  commander.configureHelp({
    ...helpStyle(terminal),
    ...(command.unparsed === true ? { visibleOptions: () => allOptions(command).map(commanderOption) } : {}),
  });
  commander.addHelpText("after", () => exampleText(command, terminal));
}

export function helpStyle(terminal: Terminal): HelpConfiguration {
  return {
    styleTitle: (title) => terminal.style("bold", title),
    // Every command has options; saying so in the list tells nothing.
    subcommandTerm: (sub) => [sub.name(), ...sub.registeredArguments.map(term)].join(" "),
  };
}

function term(argument: CommanderArgument): string {
  const inner = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${inner}>` : `[${inner}]`;
}

function exampleText({ examples }: Command, terminal: Terminal): string {
  if (examples.length === 0) return "";
  const lines = examples.map(({ line, help }) => `  ${terminal.style("dim", `# ${help}`)}\n  ${exampleLine(line)}`);
  return `\n${terminal.style("bold", "Examples:")}\n${lines.join("\n")}`;
}
