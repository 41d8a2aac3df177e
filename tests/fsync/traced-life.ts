/** A relay under strace from its first moment on, and a life of handoffs on it over each way that there is. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@handfast/client";
import { Caller } from "../support/caller.ts";
import { type Bug, withBug } from "../support/put-back.ts";
import { RelayProcess } from "../support/relay-process.ts";
import { readTrace, type TracedCall, tracedInto } from "../support/strace.ts";
import { Marks } from "./marks.ts";
import { takeSteps } from "./steps.ts";

export const ways = ["http", "websocket"] as const;

/** Figures are written by a clock of their own, which would fall into one step or another. */
const calm = {
  file: "relay/src/limits.ts",
  sound: "reliability_write_ms: 5 * second_ms",
  broken: "reliability_write_ms: 60 * minute_ms",
};

export interface TracedLife {
  readonly calls: readonly TracedCall[];
  /** The relay's data directory, as the trace spells it. */
  readonly directory: string;
}

export async function traceLife(bug: Bug | null): Promise<TracedLife> {
  const root = mkdtempSync(join(tmpdir(), "handfast-fsync-"));
  const trace = join(root, "trace");
  // Two levels that are not there yet: a name is safe only with every folder above it.
  const directory = join(root, "deep", "data");
  const environment = withBug({ name: bug?.name ?? "none", changes: [...(bug?.changes ?? []), calm] });
  const relay = await RelayProcess.start([], directory, { environment, under: tracedInto(trace) });
  const { pid } = relay;
  try {
    const marks = new Marks(relay.url);
    const operator_token = readFileSync(join(directory, "operator-token"), "utf8").trim();
    for (const way of ways) await liveBy(way, relay.url, operator_token, marks);
    marks.close();
    await relay.end("SIGTERM");
    return { calls: await readTrace(trace, pid), directory };
  } finally {
    await relay.end("SIGKILL");
    rmSync(root, { recursive: true });
  }
}

async function liveBy(transport: (typeof ways)[number], url: string, operator_token: string, marks: Marks) {
  const sends = await Caller.named(url, `sender-${transport}`);
  const works = await Caller.named(url, `agent-${transport}`);
  await using sender = await connect({ url, token: sends.token, transport });
  await using agent = await connect({ url, token: works.token, transport });
  await using operator = await connect({ url, token: operator_token, transport });
  await takeSteps(transport, { sender, agent, operator }, marks);
}
