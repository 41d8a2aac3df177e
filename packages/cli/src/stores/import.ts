/** `handfast import`: what `handfast export` wrote, into an empty store. */

import { resolve } from "node:path";
import type { Command, Context } from "../command.ts";
import { withStoreFaults } from "./store-fault.ts";
import { storeOptions, storePlace } from "./store-place.ts";
import { summaryLines } from "./summary.ts";

export const importCommand: Command = {
  name: "import",
  summary: "Fills an empty store with what `export` wrote.",
  description:
    "All of it, in one transaction: what was written is read back and held against the file's counts and digests, and where " +
    "anything differs nothing is written. The relay must not be running, and the store must be empty. Start the relay with the data " +
    "directory of before: it has the key, the operator's token and the artifacts. What was exported from PostgreSQL brings key and " +
    "token along, for a directory that has none yet.",
  arguments: [{ name: "file", help: "As `export` wrote it." }],
  options: storeOptions,
  examples: [
    { line: "import relay.jsonl --store postgres://relay@db.example/relay", help: "Into PostgreSQL" },
    { line: "import relay.jsonl --data ./other", help: "Into a data directory" },
  ],
  run,
};

async function run(context: Context): Promise<undefined> {
  const { terminal, cwd } = context;
  const [file = ""] = context.arguments;
  const place = await storePlace(context);
  const { importStore } = await import("@handfast/relay/stores");
  let fraction: number | null = null;
  const progress = (doing: string, done: number, total: number) => {
    // The look through the file comes first and is quick.
    fraction = doing === "writing" && total > 0 ? done / total : null;
  };
  const work = withStoreFaults(() => importStore(resolve(cwd, file), place, { progress }));
  const done = await terminal.busy("importing", work, () => fraction);
  if (terminal.json) {
    terminal.document({ file: resolve(cwd, file), ...done });
    return;
  }
  terminal.lines(summaryLines(done));
  terminal.print(`imported ${file} into ${done.store}`);
}
