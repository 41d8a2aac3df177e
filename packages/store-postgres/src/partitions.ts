/**
 * The log's partitions, each of as many positions: some are always ready ahead of its head, and those that retention has passed
 * are dropped whole. Nobody waits for it: where readers are in the way, it is left for the next time.
 */

import type { Asks } from "./connection.ts";
import { codeOf, lock_not_available } from "./errors.ts";
import { drop_wait_ms, partition_positions, partitions_ahead } from "./limits.ts";
import { number, text } from "./rows.ts";
import { lock_of_partitions, readLog } from "./sql/event.ts";

/** The partition that holds this position. */
export function partitionOf(pos: number): number {
  return Math.floor(pos / partition_positions);
}

export function lastPosition(nth: number): number {
  return (nth + 1) * partition_positions - 1;
}

export function partitionName(nth: number): string {
  return `handfast.event_${nth}`;
}

/** Makes what is missing for the positions after the head, and drops what lies wholly below the floor. */
export async function keepPartitions(connection: Asks): Promise<void> {
  const [[log], existing] = await Promise.all([connection.ask(readLog), presentPartitions(connection)]);
  const next = partitionOf(number(log, "head") + 1);
  for (let nth = next; nth <= next + partitions_ahead; nth += 1) {
    if (!existing.has(nth)) await alone(connection, makePartition(nth));
  }
  const floor = number(log, "floor");
  for (const nth of existing) {
    if (lastPosition(nth) <= floor) await alone(connection, `DROP TABLE IF EXISTS ${partitionName(nth)}`, drop_wait_ms);
  }
}

export async function presentPartitions(connection: Asks): Promise<Set<number>> {
  const present = await connection.ask(listPartitions);
  return new Set(present.map((row) => Number(text(row, "name").replace(/^event_/, ""))));
}

const listPartitions = `
  SELECT relname::text AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
  WHERE inhparent = 'handfast.event'::regclass`;

/** Attached as a table of its own: that does not stop whoever writes to the others. */
export function makePartition(nth: number): string {
  const name = partitionName(nth);
  const range = `FROM (${nth * partition_positions}) TO (${(nth + 1) * partition_positions})`;
  return `
    CREATE TABLE ${name} (LIKE handfast.event INCLUDING DEFAULTS INCLUDING CONSTRAINTS);
    ALTER TABLE handfast.event ATTACH PARTITION ${name} FOR VALUES ${range}`;
}

/** One change at a time, of all nodes; another node may have been faster, or readers may be in the way. */
async function alone(connection: Asks, change: string, wait_ms = 0): Promise<void> {
  try {
    await connection.ask(
      `BEGIN; SET LOCAL lock_timeout = ${wait_ms}; SELECT pg_advisory_xact_lock(${lock_of_partitions}); ${change}; COMMIT`,
    );
  } catch (error) {
    await connection.ask("ROLLBACK");
    if (!passable.has(codeOf(error))) throw error;
  }
}

const relation_exists = "42P07";
const passable: ReadonlySet<string> = new Set([lock_not_available, relation_exists]);
