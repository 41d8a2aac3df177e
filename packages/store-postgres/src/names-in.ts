/** The names that an event, or an entry of the log, is found by. */

import type { HandoffEvent } from "@handfast/core";
import type { LogEntry } from "@handfast/engine";

export function namesInEvent(event: HandoffEvent): string {
  return asJson([event.from, event.to_agent, "agent" in event ? event.agent : null, "by" in event ? event.by : null]);
}

export function namesInEntry({ by, agents }: LogEntry): string {
  return asJson([by, ...agents]);
}

function asJson(names: readonly unknown[]): string {
  return JSON.stringify([...new Set(names.filter((name) => typeof name === "string"))]);
}
