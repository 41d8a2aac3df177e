/** How this command was called, so that what it tells a person to type works when typed. */

import type { Environment } from "./command.ts";

export type CommandName = "handfast" | "npx handfast";

/** Through npx or npm, or as a project's own command, which lies on nobody's PATH. `script` is process.argv[1]. */
export function commandName(env: Environment, script: string): CommandName {
  const isOfNpm = (env["npm_execpath"] ?? "") !== "" || (env["npm_command"] ?? "") !== "";
  return isOfNpm || /[/\\]node_modules[/\\]\.bin[/\\]/.test(script) ? "npx handfast" : "handfast";
}

/** Commands in a text of ours, spelled that way. */
export function spelled(text: string, name: CommandName): string {
  return name === "handfast" ? text : text.replaceAll(/(?<![\w./-]|npx )handfast(?= [a-z])/g, name);
}
