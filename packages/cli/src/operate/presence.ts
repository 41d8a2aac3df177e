/** Whether a worker is there: it asks for work, it was heard of a moment ago, or it is gone. */

import type { AgentView } from "@handfast/protocol/wire";

/** A worker asks anew, or sends a heartbeat, every minute at least: whoever was silent for longer is gone. */
const gone_after_ms = 75_000;

/** `recent`: it has no open claim, because it is busy or has just left. */
export type Presence = "asking" | "recent" | "gone";

type Worker = AgentView["workers"][number];

export function presenceOf({ asking, last_seen_at }: Pick<Worker, "asking" | "last_seen_at">, now: number): Presence {
  if (asking) return "asking";
  return now - last_seen_at > gone_after_ms ? "gone" : "recent";
}
