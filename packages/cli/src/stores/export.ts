/** `handfast export`: a stopped store, whole, as one file. */

import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Command, Context } from "../command.ts";
import { CliError } from "../errors.ts";
import { version } from "../version.ts";
import { withStoreFaults } from "./store-fault.ts";
import { storeOptions, storePlace } from "./store-place.ts";
import { summaryLines } from "./summary.ts";

export const exportCommand: Command = {
  name: "export",
  summary: "Writes a stopped store into a file, to be imported elsewhere.",
  description:
    "The relay must be stopped. The file has everything that the store keeps: handoffs, payloads, the log, agents, tokens (as " +
    "digests), keys of what was purged. Counts and digests close it. Not the bytes of artifacts: of an embedded store they are files " +
    "in the data directory, as the relay's key and the operator's token are; of PostgreSQL they stay in the database, and key and " +
    "token are in the file. Only its owner may read it.",
  arguments: [{ name: "file", help: "A new file." }],
  options: storeOptions,
  examples: [
    { line: "export relay.jsonl", help: "Of the store that `start` would take here" },
    { line: "export relay.jsonl --data /var/lib/handfast", help: "Of another one" },
  ],
  run,
};

async function run(context: Context): Promise<undefined> {
  const { terminal, cwd } = context;
  const [file = ""] = context.arguments;
  const place = await storePlace(context);
  const { exportStore } = await import("@handfast/relay/stores");
  let fraction: number | null = null;
  const progress = (_doing: string, done: number, total: number) => {
    fraction = total === 0 ? null : done / total;
  };
  const made = { now: new Date(), by: `handfast ${version}` };
  const work = withStoreFaults(() => exportStore(place, resolve(cwd, file), made, { progress }));
  const done = await terminal.busy("exporting the store", work.catch(explainFile), () => fraction);
  if (terminal.json) {
    terminal.document({ file: resolve(cwd, file), ...done });
    return;
  }
  terminal.lines(summaryLines(done));
  terminal.print(`exported ${done.store} to ${file}`);
  if (done.artifacts_left > 0) {
    const them = done.artifacts_left === 1 ? "1 artifact" : `${done.artifacts_left} artifacts`;
    terminal.note(
      `not in the file: the bytes of ${them}, which stay in the database; fetch what you still need from there`,
    );
  }
  terminal.next(`handfast import ${file} --store postgres://USER@HOST/DATABASE`);
}

function explainFile(error: unknown): never {
  if (!(error instanceof Error) || !("code" in error)) throw error;
  const { code, path = "" } = error as NodeJS.ErrnoException;
  if (code === "EEXIST") {
    throw new CliError("output", "There is a file of that name already.", "Give the name of a new one.");
  }
  if (code === "ENOENT" && path !== "" && !existsSync(dirname(path))) {
    throw new CliError("output", `There is no folder ${dirname(path)}.`, "Make it, or name a file in another one.");
  }
  throw error;
}
