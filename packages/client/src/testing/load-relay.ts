/** The relay is a package of its own, which only those who test need: its absence is explained. */

import type { InProcessRelay } from "@handfast/relay/in-process";
import { UsageError } from "../errors.ts";

type Relay = { readonly InProcessRelay: typeof InProcessRelay };

export async function loadRelay(load: () => Promise<Relay> = () => import("@handfast/relay/in-process")) {
  try {
    return (await load()).InProcessRelay;
  } catch (error) {
    throw explained(error);
  }
}

const too_old: ReadonlySet<string> = new Set(["ERR_UNKNOWN_BUILTIN_MODULE", "ERR_UNKNOWN_FILE_EXTENSION"]);

function explained(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const message = error instanceof Error ? error.message : String(error);
  if (too_old.has(code)) {
    const what = `The test relay needs Node 24 or newer (${message}).`;
    return new UsageError(what, "Run the tests with Node 24: npm install --save-dev node@24", "node_too_old", error);
  }
  if (!message.includes("@handfast/relay")) return error;
  const what = "The test relay is in the package @handfast/relay, which is not installed.";
  return new UsageError(
    what,
    "Install it beside the client: npm install --save-dev @handfast/relay",
    "no_relay",
    error,
  );
}
