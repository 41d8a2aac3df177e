/** A question before what cannot be undone: only where a person can answer; elsewhere --yes is needed. */

import { createInterface } from "node:readline/promises";
import type { CommandOption, Context } from "./command.ts";
import { CliError } from "./errors.ts";

export const yesOption: CommandOption = { flags: "-y, --yes", help: "Does not ask." };

export async function confirm({ options, terminal, signal }: Context, question: string): Promise<void> {
  if (options.flag("yes")) return;
  if (process.stdin.isTTY !== true || !terminal.isLive) {
    throw new CliError("usage", `${question} Nobody is there to answer.`, "Say so beforehand with --yes.");
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await prompt.question(`${question} [y/N] `, { signal });
    if (!/^y(es)?$/i.test(answer.trim())) throw new CliError("interrupted", "Nothing was done.");
  } finally {
    prompt.close();
  }
}
