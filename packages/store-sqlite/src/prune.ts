/** Retention of the log and of idempotency keys, inside an open transaction. */

import { type Connection, number } from "./connection.ts";
import { findPruned, pruneEvents, raiseFloor } from "./sql/event.ts";
import { pruneKeys } from "./sql/key.ts";

export function prune(connection: Connection, now: number, events_before: number, limit: number) {
  const keys = connection.run(pruneKeys, now, limit);
  const last = connection.get(findPruned, limit, events_before);
  if (last === undefined) return { events: 0, keys };
  const floor = number(last, "pos");
  const events = connection.run(pruneEvents, floor);
  connection.run(raiseFloor, floor, number(last, "at"));
  return { events, keys };
}
