/** What a store or an export says is wrong with it, told as any fault of this command. */

import { CliError } from "../errors.ts";
import type { ExitName } from "../exit-codes.ts";

const exits: Readonly<Record<string, ExitName>> = {
  bad_url: "usage",
  missing: "missing",
  not_empty: "data",
  damaged: "data",
  cut_off: "data",
  differs: "data",
  foreign: "data",
  too_new: "data",
  refused: "denied",
  no_rights: "denied",
};

export async function withStoreFaults<Value>(act: () => Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof Error) || !("fault" in error) || typeof error.fault !== "string") throw error;
    throw new CliError(exits[error.fault] ?? "unreachable", error.message, remedies[error.fault] ?? "");
  }
}

const remedies: Readonly<Record<string, string>> = {
  in_use: "Stop the relay first: a store is moved while nobody changes it.",
  missing: "Name its data directory with --data, or its database with --store.",
  not_empty: "Another place is named with --data, or with --store where it is a database.",
};
