/** A command line run in the test's own process, with what it wrote. */

import { commandsFor } from "../commands.ts";
import { runProgram } from "../program.ts";

export interface TypedOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** As if both streams were terminals. */
  readonly tty?: boolean;
}

export async function typed(argv: readonly string[], { cwd = "/", env = {}, tty = false }: TypedOptions = {}) {
  const written = { stdout: "", stderr: "" };
  const sink = (name: "stdout" | "stderr") => ({
    isTTY: tty,
    columns: 80,
    write: (text: string | Uint8Array) => {
      written[name] += String(text);
      return true;
    },
  });
  const surface = { argv, env, cwd, out: sink("stdout"), err: sink("stderr") };
  const code = await runProgram(await commandsFor(argv), "0.0.0", surface);
  return { code, ...written };
}
