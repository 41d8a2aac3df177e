/** Plain HTTP by `curl`: no SDK, no key, a token. */

import { execFileSync } from "node:child_process";
import { node, programRow } from "../cast/program-row.ts";
import { Unavailable } from "../cast/row.ts";

export const row = programRow({
  name: "curl",
  title: "plain HTTP (curl)",
  sender_gaps: {},
  worker_gaps: {},
  signs: false,
  quick: true,
  begins_within_ms: 2_000,
  slots: 10,
  worker_program: "curl-worker.ts",
  sender_program: "curl-sender.ts",
  patience_ms: 60_000,
  prepare: async () => node({ curl: versionOfCurl() }),
});

function versionOfCurl(): string {
  try {
    return execFileSync("curl", ["--version"], { encoding: "utf8" }).split(" ")[1] ?? "unknown";
  } catch {
    throw new Unavailable("there is no curl");
  }
}
