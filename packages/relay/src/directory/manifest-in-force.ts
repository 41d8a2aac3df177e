/** The record without which an agent's cannot be understood: taken over without it, the agent would offer nothing for a moment. */

import type { RecordName, StoredRecord } from "@handfast/engine";
import type { AgentRecord } from "./agent.ts";

export function manifestInForce({ kind, value }: StoredRecord): readonly Pick<RecordName, "kind" | "key">[] {
  // Only relays write these records, so they are what a relay once wrote.
  const digest = kind === "agent" ? (value as AgentRecord).manifest?.digest : undefined;
  return digest === undefined ? [] : [{ kind: "manifest", key: digest }];
}
