/** Which store a command is about: the one that is named, else the one that `handfast start` would take here. */

import { resolve } from "node:path";
import type { CommandOption, Context } from "../command.ts";
import { CliError } from "../errors.ts";

export const storeOptions: readonly CommandOption[] = [
  {
    flags: "--data <path>",
    env: "HANDFAST_DATA",
    key: "data",
    help: "The data directory of an embedded store.",
  },
  {
    flags: "--store <url>",
    env: "HANDFAST_STORE",
    key: "store",
    help: "The URL of a PostgreSQL database. A password is for the environment or the file: flags can be read by everybody on the machine.",
  },
];

/** A directory, or the URL of a database. */
export async function storePlace({ options, env, cwd }: Context): Promise<string> {
  const data = options.text("data");
  const store = options.text("store");
  if (data !== undefined && store !== undefined) {
    throw new CliError("usage", "--data and --store name two stores.", "Name one of them.");
  }
  if (data !== undefined) return resolve(cwd, data);
  const { ConfigurationError, readConfiguration } = await import("@handfast/relay");
  try {
    const asked = readConfiguration(store === undefined ? [] : ["--store", store], env, cwd);
    if (asked.kind === "help") throw new CliError("usage", "Nothing was asked for.");
    return asked.configuration.store ?? asked.configuration.data_directory;
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new CliError(store === undefined ? "configuration" : "usage", error.message);
  }
}
