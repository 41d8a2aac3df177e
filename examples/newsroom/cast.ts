/** Who plays: every worker with the program that it is, and what that needs. */

import { join } from "node:path";
import { hasPythonEnvironment, pythonEnvironment } from "../../tests/support/python-environment.ts";

export interface Player {
  /** The name of the process among the workers of its agent. */
  readonly worker: string;
  readonly command: string;
  readonly arguments: readonly string[];
}

const program = (file: string) => join(import.meta.dirname, "agents", file);

/** Installs what is not there yet, which `say` is told of. */
export async function castOf(options: { readonly without_crewai: boolean }, say: (line: string) => void) {
  const python = async (environment: string, file: string) =>
    [await pythonEnvironment(environment, say), program(file)] as const;
  const node = (file: string) => [process.execPath, program(file)] as const;
  const player = (worker: string, [command, ...files]: readonly [string, string]): Player => ({
    ...{ worker, command, arguments: [...files, worker] },
  });
  if (!options.without_crewai && !hasPythonEnvironment("crewai"))
    say("CrewAI is most of what is to be installed now: npm run newsroom -- --without-crewai does without it");
  const writer = await (options.without_crewai ? python("agents", "plain_writer.py") : python("crewai", "writer.py"));
  return [
    player("editor-1", node("editor.ts")),
    player("researcher-1", await python("agents", "researcher.py")),
    player("writer-1", writer),
    player("writer-2", writer),
    player("reviewer-1", await python("agents", "reviewer.py")),
    player("publisher-1", node("publisher.ts")),
  ] as const;
}
