/**
 * One transaction in two round trips. The first locks and reads what the units were decided on; what they conflict on is then
 * known, and nothing has to be undone for it. The second writes everything in a few statements, takes the log's lock last, gives
 * the positions, and commits.
 *
 * Where this node wrote all of the rows last, and the others are new as far as it knows, the first is left out: the write itself counts
 * the rows that are so. Is one of them another's, or not new, everything is rolled back, and the batch is judged on what is there.
 *
 * What no lock can hold, because it is not there yet (an id, a key, a record's name), is held by a unique index: where another node
 * was faster, the server refuses the insert, everything is rolled back, and the batch is judged anew.
 */

import type { FollowedEvent, LaneSeen, Unit, UnitResult, Write } from "@handfast/engine";
import { Rows } from "./arrays.ts";
import { Changes } from "./changes.ts";
import type { Asks } from "./connection.ts";
import { isContended } from "./errors.ts";
import { handoffName, judge, type Known, type KnownRow, keyOf, laneName, nameOf, recordName } from "./judge.ts";
import { commit_attempts } from "./limits.ts";
import type { Numbers } from "./numbers.ts";
import type { OwnEvents } from "./own-events.ts";
import { number, numberOrNull, type Row, text } from "./rows.ts";
import { lockRows, nameShape, takeNumbers } from "./sql/handoff.ts";
import { findKeys, keyShape } from "./sql/key.ts";
import { findMembers, laneShape, lockLanes } from "./sql/lane.ts";
import { lockRecords, recordNameShape } from "./sql/record.ts";
import { standingOf } from "./standing.ts";
import type { WrittenRows } from "./written-rows.ts";

export const begin = "BEGIN ISOLATION LEVEL READ COMMITTED";

interface Commit {
  /** Whether the transaction is open, and keeps what was found in it. */
  readonly is_begun: boolean;
  /** By which name other nodes know who wrote; null: there are no others. */
  readonly node: string | null;
  readonly written: WrittenRows;
  readonly numbers: Numbers;
  readonly own: OwnEvents;
}

interface Committed {
  readonly results: readonly UnitResult[];
  /** Something is ready that is left to all nodes alike. */
  readonly has_left: boolean;
}

export async function commitUnits(
  connection: Asks,
  units: readonly Unit[],
  { is_begun, ...commit }: Commit,
): Promise<Committed> {
  if (units.length === 0) {
    if (is_begun) await connection.ask("COMMIT");
    return { results: [], has_left: false };
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      const is_first = attempt === 1;
      return await tryToCommit(connection, units, { ...commit, is_begun: is_begun && is_first }, is_first);
    } catch (error) {
      if (attempt >= commit_attempts || !isContended(error)) throw error;
    }
  }
}

async function tryToCommit(
  connection: Asks,
  units: readonly Unit[],
  { is_begun, node, written, numbers, own }: Commit,
  may_guess: boolean,
): Promise<Committed> {
  const guessed = may_guess ? written.all(units) : null;
  const free = guessed === null ? null : numbers.take(newIn(units));
  const is_looking = guessed === null || free === null;
  const seen = is_looking
    ? await inTransaction(connection, is_begun, () => look(connection, units, guessed))
    : { known: { ...nothingKnown, rows: guessed }, numbers: free };
  // What comes later has the higher number: those that were taken before are not given out after these.
  if (is_looking && seen.numbers.length > 0) numbers.forget();
  const judgement = judge(units, seen.known);
  const changes = new Changes(judgement, seen.numbers, node);
  const statements = changes.statements();
  const is_open = is_begun || is_looking;
  // One statement is a transaction by itself. Taking numbers would be another, with a flush of its own.
  const is_whole = !is_open && statements.length === 1 && !numbers.areDue;
  const begun = is_open || is_whole ? null : connection.ask(begin);
  const refilled = numbers.refill((count) => connection.ask(takeNumbers, count));
  const done = statements.map(({ sql, parameters }) => connection.ask(sql, ...parameters));
  // After a statement that failed the server takes this as a rollback.
  const ended = is_whole ? null : connection.ask("COMMIT");
  await together([refilled, begun, ...done, ended]);
  written.wrote(judgement, changes.nums);
  if (node !== null) own.wrote(at(await done.at(-1), changes.told));
  return { results: judgement.results, has_left: changes.has_left };
}

/** With the positions that the log gave them. */
function at(rows: readonly Row[] | undefined, told: Changes["told"]): readonly FollowedEvent[] {
  if (told.length === 0) return [];
  const first = number(rows?.[0], "told");
  return told.map((event, nth) => ({ ...event, pos: first + nth }));
}

function newIn(units: readonly Unit[]): number {
  return units.reduce((sum, { writes }) => sum + writes.filter(isOfNew).length, 0);
}

function isOfNew({ expected_version }: Write): boolean {
  return expected_version === 0;
}

const nothingKnown: Known = { rows: new Map(), keys: new Set(), records: new Map(), lanes: new Map() };

/** Begins a transaction and leaves it open, unless this first part fails. */
async function inTransaction<T>(connection: Asks, is_begun: boolean, first: () => Promise<T>): Promise<T> {
  try {
    const [, result] = await Promise.all([is_begun ? null : connection.ask(begin), first()]);
    return result;
  } catch (error) {
    // A connection that is lost has rolled back by itself.
    await connection.ask("ROLLBACK").catch(() => {});
    throw error;
  }
}

interface Seen {
  readonly known: Known;
  /** For the new handoffs. */
  readonly numbers: readonly number[];
}

/** `guessed`: rows that need not be looked at. */
async function look(connection: Asks, units: readonly Unit[], guessed: Known["rows"] | null): Promise<Seen> {
  const names = new Rows(nameShape);
  const asked_keys = new Rows(keyShape);
  const record_names = new Rows(recordNameShape);
  const seen = new Set<string>();
  const keys: string[] = [];
  const lanes = new Map<string, LaneSeen>();
  for (const { writes, records, expects } of units) {
    for (const lane of expects?.lanes ?? []) lanes.set(laneName(lane), lane);
    for (const { namespace, id } of expects?.handoffs ?? []) {
      if (isNew(seen, handoffName({ namespace, id }))) names.add({ namespace, id });
    }
    for (const write of writes) {
      const { namespace, id, from: sender, idempotency_key: key } = write.next.accepted;
      if (isOfNew(write)) {
        asked_keys.add({ namespace, sender, key });
        keys.push(keyOf(write));
      }
      if (guessed === null && isNew(seen, nameOf(write))) names.add({ namespace, id });
    }
    for (const record of records) {
      const { namespace, kind, key } = record;
      if (isNew(seen, recordName(record))) record_names.add({ namespace, kind, key });
    }
  }
  const nothing: readonly Row[] = [];
  const [members, rows, taken, versions, numbers] = await Promise.all([
    lanes.size > 0 ? lookAtLanes(connection, [...lanes.values()]) : new Map<string, readonly string[]>(),
    names.size > 0 ? connection.ask(lockRows, ...names.parameters()) : nothing,
    keys.length > 0 ? connection.ask(findKeys, ...asked_keys.parameters()) : nothing,
    record_names.size > 0 ? connection.ask(lockRecords, ...record_names.parameters()) : nothing,
    keys.length > 0 ? connection.ask(takeNumbers, keys.length) : nothing,
  ]);
  return {
    known: {
      lanes: members,
      rows: guessed ?? new Map(rows.map((row) => [JSON.stringify([row["namespace"], row["id"]]), knownRow(row)])),
      keys: new Set(taken.map((row) => keys[number(row, "place") - 1] ?? "")),
      records: new Map(
        versions.map((row) => {
          const [namespace, kind, key] = [text(row, "namespace"), text(row, "kind"), text(row, "key")];
          return [recordName({ namespace, kind, key }), number(row, "version")];
        }),
      ),
    },
    numbers: numbers.map((row) => number(row, "num")),
  };
}

/** Locked first, and looked at in a statement of its own: it sees what the lock's last holder left. */
async function lookAtLanes(connection: Asks, lanes: readonly LaneSeen[]): Promise<Known["lanes"]> {
  const rows = new Rows(laneShape);
  for (const { namespace, lane, limit } of lanes) rows.add({ namespace, lane, most: limit });
  const [, found] = await Promise.all([
    connection.ask(lockLanes, ...rows.parameters()),
    connection.ask(findMembers, ...rows.parameters()),
  ]);
  const members = new Map<string, string[]>();
  for (const row of found) {
    const lane = lanes[number(row, "place") - 1];
    if (lane === undefined) continue;
    const known = members.get(laneName(lane)) ?? [];
    members.set(laneName(lane), [...known, text(row, "id")]);
  }
  return members;
}

function knownRow(row: Row): KnownRow {
  const fence = numberOrNull(row, "beat_fence");
  const heard = fence === null ? null : { fence, at: number(row, "beat_at") };
  return { num: number(row, "num"), version: number(row, "version"), standing: standingOf(row), heard };
}

/** Waits for all, so that nothing of one transaction is left when the next one begins; then fails as the first did. */
async function together(asked: readonly (Promise<unknown> | null)[]): Promise<void> {
  const settled = await Promise.allSettled(asked);
  const failed = settled.find((one) => one.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

function isNew(seen: Set<string>, name: string): boolean {
  const before = seen.size;
  return seen.add(name).size > before;
}
