/** `handfast backup`: a copy of the store while the relay runs. */

import type { Command, Context } from "../command.ts";

export const backupCommand: Command = {
  name: "backup",
  summary: "Makes a consistent copy of the store while the relay runs.",
  description:
    "For operators. The copy is a file on the relay's machine, in the folder backups of its data directory.\nArtifacts are files in the data directory, named by their digest: copy them beside it.\nA relay on PostgreSQL refuses: back its database up by the server's own tools.",
  arguments: [{ name: "name", help: "Of the new file. Default: the time.", optional: true }],
  connects: true,
  examples: [
    { line: "backup", help: "Prints the path of the copy" },
    { line: "backup before-upgrade.db", help: "With a name of your own" },
  ],
  run,
};

async function run(context: Context): Promise<undefined> {
  const { terminal } = context;
  const [name] = context.arguments;
  const client = await context.connect("operator");
  const work = client.call("backup", { body: name === undefined ? {} : { name } });
  const made = await terminal.busy("copying the store", work);
  if (terminal.json) terminal.document(made);
  else terminal.print(made.path);
}
