/** `handfast version`. */

import type { Command, Context } from "./command.ts";
import { version } from "./version.ts";

export const versionCommand: Command = {
  name: "version",
  summary: "Shows the version.",
  examples: [{ line: "version --json", help: "With Node's and the platform" }],
  run: async ({ terminal }: Context) => {
    const { node } = process.versions;
    if (terminal.json) terminal.document({ handfast: version, node, platform: `${process.platform}-${process.arch}` });
    else terminal.print(version);
    return undefined;
  },
};
