/** `handfast migrate`: which steps a store's schema lacks, and running them before the first node of a new version starts. */

import type { SchemaStep, SchemaSteps } from "@handfast/relay/stores";
import type { Command, Context } from "../command.ts";
import { table } from "../table.ts";
import { withStoreFaults } from "./store-fault.ts";
import { storeOptions, storePlace } from "./store-place.ts";

export const migrateCommand: Command = {
  name: "migrate",
  summary: "Brings the schema of a store up to date, or says what that would do.",
  description:
    "A relay does the same when it starts. A step says which versions can use the schema after it: those that know at least so " +
    "many steps. Nodes of such versions may serve on PostgreSQL meanwhile; an embedded store must be stopped. There is no way back.",
  options: [...storeOptions, { flags: "--dry-run", help: "Changes nothing." }],
  examples: [
    { line: "migrate --dry-run", help: "Of the store that `start` would take here" },
    { line: "migrate --store postgres://relay@db.example/relay", help: "Of another one" },
  ],
  run,
};

async function run(context: Context): Promise<undefined> {
  const { terminal, options } = context;
  const place = await storePlace(context);
  const { inspectSchema, migrateSchema } = await import("@handfast/relay/stores");
  const before = await withStoreFaults(() => inspectSchema(place));
  const missing = before.steps.filter(({ applied }) => !applied);
  const dry_run = options.flag("dry-run");
  if (!dry_run && missing.length > 0) {
    await terminal.busy(
      "migrating",
      withStoreFaults(() => migrateSchema(place)),
    );
  }
  if (terminal.json) {
    terminal.document({ ...before, dry_run });
    return;
  }
  terminal.lines(table(before.steps.map((step) => row(step, before, dry_run))));
  terminal.print(verdict(before, missing.length, dry_run));
}

function row({ step, name, oldest_reader, applied }: SchemaStep, { known }: SchemaSteps, dry_run: boolean): string[] {
  const done = applied ? "is there" : dry_run ? "would run" : "was run";
  const whose = step > known ? ", of a newer version" : "";
  return [String(step), name, `${done}${whose}`, `usable by versions that know step ${oldest_reader}`];
}

function verdict({ place, found, known }: SchemaSteps, missing: number, dry_run: boolean): string {
  if (found > known) return `${place} has schema ${found}; this version knows ${known}, and can use it`;
  if (missing === 0) return `${place} has schema ${found}, the newest`;
  const way = `from schema ${found} to ${known}`;
  return dry_run ? `${place} would be brought ${way}; nothing was changed` : `${place} was brought ${way}`;
}
