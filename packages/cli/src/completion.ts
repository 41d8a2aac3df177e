/** `handfast completion`: what a shell offers after Tab, made from the declarations. */

import type { Command, Context } from "./command.ts";
import { allOptions, longFlag } from "./declared.ts";

const shells = ["bash", "zsh", "fish"] as const;

/** The commands are given, because this one is among them. */
export function completionCommand(commands: () => Promise<readonly Command[]>): Command {
  return {
    name: "completion",
    summary: "Prints what your shell needs to complete commands and options.",
    arguments: [{ name: "shell", help: "bash, zsh or fish.", choices: shells }],
    examples: [
      { line: "completion bash > ~/.local/share/bash-completion/completions/handfast", help: "For bash" },
      { line: 'completion zsh > "$HOME/.zfunc/_handfast"', help: "For zsh, with that folder in fpath" },
      { line: "completion fish > ~/.config/fish/completions/handfast.fish", help: "For fish" },
    ],
    run: async ({ terminal, arguments: [shell] }: Context) => {
      const all = await commands();
      const script = shell === "fish" ? fish(all) : shell === "zsh" ? zsh(all) : bash(all);
      if (terminal.json) terminal.document({ shell, script });
      else terminal.raw(script);
      return undefined;
    },
  };
}

interface Place {
  /** `dead list`; empty: the beginning. */
  readonly path: string;
  readonly commands: readonly Command[];
  readonly flags: readonly { readonly flag: string; readonly help: string }[];
  readonly words: readonly string[];
}

/** Every place on the command line with what may follow there. */
function places(commands: readonly Command[]): readonly Place[] {
  const found: Place[] = [{ path: "", commands, flags: [], words: [] }];
  const visit = (command: Command, before: string) => {
    const path = `${before} ${command.name}`.trim();
    const flags = allOptions(command).flatMap(({ flags: declared, help }) => {
      const flag = longFlag(declared);
      return flag === null ? [] : [{ flag, help }];
    });
    const words = (command.arguments ?? []).flatMap(({ choices = [] }) => choices);
    found.push({ path, commands: command.commands ?? [], flags, words });
    for (const sub of command.commands ?? []) visit(sub, path);
  };
  for (const command of commands) visit(command, "");
  return found;
}

function following({ commands, flags, words }: Place): string {
  return [...commands.map(({ name }) => name), ...words, ...flags.map(({ flag }) => flag)].join(" ");
}

/** The words before the cursor, without options, are looked up as a path. */
function bash(commands: readonly Command[]): string {
  const cases = places(commands).map((place) => `    "${place.path}") following="${following(place)}" ;;`);
  return `# bash completion for handfast; made by: handfast completion bash
_handfast() {
  local path="" word following="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    [[ "$word" == "--" ]] && return
    [[ "$word" == -* ]] && continue
    case "\${path:+$path }$word" in
${pathPattern(commands)}
    esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$following" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [[ \${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o filenames -F _handfast handfast
`;
}

function pathPattern(commands: readonly Command[]): string {
  const paths = places(commands).flatMap(({ path }) => (path === "" ? [] : [`"${path}"`]));
  return `      ${paths.join("|")}) path="\${path:+$path }$word" ;;`;
}

/** zsh runs the functions of bash. */
function zsh(commands: readonly Command[]): string {
  return `#compdef handfast
# made by: handfast completion zsh
autoload -U +X bashcompinit && bashcompinit
${bash(commands)}`;
}

function fish(commands: readonly Command[]): string {
  const quote = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = places(commands).flatMap(({ path, commands: subs, flags, words }) => {
    const [first = "", second] = path.split(" ");
    const seen = second === undefined ? first : `${first}; and __fish_seen_subcommand_from ${second}`;
    const when = path === "" ? "__fish_use_subcommand" : `__fish_seen_subcommand_from ${seen}`;
    const start = `complete -c handfast -n ${quote(when)}`;
    return [
      ...subs.map(({ name, summary }) => `${start} -f -a ${name} -d ${quote(summary)}`),
      ...words.map((word) => `${start} -f -a ${word}`),
      ...flags.map(({ flag, help }) => `${start} -l ${flag.slice(2)} -d ${quote(help)}`),
    ];
  });
  return `# fish completion for handfast; made by: handfast completion fish\n${lines.join("\n")}\n`;
}
