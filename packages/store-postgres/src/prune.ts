/** Retention of the log and of idempotency keys, inside an open transaction; and the upkeep that goes with it. */

import type { Time } from "@handfast/core";
import type { Asks } from "./connection.ts";
import { chunk_characters, chunk_kept_ms, record_changes_kept_ms, sign_kept_ms, tally_rows } from "./limits.ts";
import { lastPosition, partitionName, partitionOf } from "./partitions.ts";
import { number, numberOrNull } from "./rows.ts";
import { boundChunks, pruneChunks } from "./sql/chunk.ts";
import { findFirst, findPruned, oldestKept, pruneEvents, raiseFloor, readLog } from "./sql/event.ts";
import { countTally, sumTally } from "./sql/handoff.ts";
import { pruneKeys } from "./sql/key.ts";
import { pruneNodes } from "./sql/node.ts";
import { pruneRecordChanges } from "./sql/record-change.ts";
import { pruneSigns } from "./sql/sign.ts";

export async function prune(connection: Asks, now: Time, events_before: Time, limit: number) {
  const keys = (await connection.ask(pruneKeys, now, limit)).length;
  await connection.ask(pruneSigns, now - sign_kept_ms);
  await connection.ask(pruneNodes, now - sign_kept_ms);
  await connection.ask(pruneChunks, now - chunk_kept_ms);
  await connection.ask(boundChunks, chunk_characters);
  return { events: await pruneLog(connection, events_before, limit), keys };
}

async function pruneLog(connection: Asks, events_before: Time, limit: number): Promise<number> {
  const whole = await passPartition(connection, events_before);
  if (whole > 0) return whole;
  const [last] = await connection.ask(findPruned, limit, events_before);
  const floor = last === undefined ? null : numberOrNull(last, "pos");
  if (floor === null) return 0;
  const [gone] = await connection.ask(pruneEvents, floor);
  await connection.ask(raiseFloor, floor, number(last, "at"));
  return number(gone, "events");
}

/** Where all of the oldest partition may go, no row of it is deleted: the floor passes it, and it is dropped afterwards. */
async function passPartition(connection: Asks, events_before: Time): Promise<number> {
  const [[first], [log]] = await Promise.all([connection.ask(findFirst), connection.ask(readLog)]);
  if (first === undefined) return 0;
  const pos = number(first, "pos");
  const end = lastPosition(partitionOf(pos));
  if (number(log, "head") <= end) return 0;
  const [[kept], [newest]] = await Promise.all([
    connection.ask(oldestKept, events_before),
    connection.ask(`SELECT max(at) AS at FROM ${partitionName(partitionOf(pos))}`),
  ]);
  if (number(newest, "at") >= number(kept, "at")) return 0;
  await connection.ask(raiseFloor, end, number(newest, "at"));
  return end + 1 - pos;
}

/** Sums up the tally where it has grown long, and forgets which records changed long ago. */
export async function sumUp(connection: Asks): Promise<void> {
  await connection.ask(pruneRecordChanges, record_changes_kept_ms);
  const [counted] = await connection.ask(countTally, tally_rows);
  if (number(counted, "rows") >= tally_rows) await connection.ask(sumTally);
}
