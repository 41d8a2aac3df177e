/**
 * A database with very many queued handoffs. A real relay and a real client leave one there; its rows are then multiplied by the
 * server itself, whatever tables and columns there are, under new ids and numbers. What one handoff leaves is found by looking:
 * a table that grew with it and that is not multiplied would be a mistake, and is told as one.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@handfast/client";
import { openPostgresStore } from "@handfast/store-postgres";
import { plainDisk } from "../disk/disk.ts";
import { makeKilobyte } from "../drive/kilobyte.ts";
import type { Say } from "../obtain/say.ts";
import { startRelay } from "../servers/relay.ts";
import type { LentDatabase } from "../servers/shared-postgres.ts";

/** So that nothing ends by itself while the store is used. */
const longest = "30d";
/** The ids that are made differ from the specimen's in their last digits. */
const digits = 12;
const capability = "backlog";
const piece = 100_000;

interface Column {
  readonly table: string;
  readonly column: string;
  readonly type: string;
}

export async function fillBacklog(database: LentDatabase, handoffs: number, say: Say): Promise<void> {
  const { id, grown } = await leaveSpecimen(database, say);
  const columns = await columnsOf(database, grown);
  const [specimen] = await database.ask("SELECT num FROM handfast.accepted WHERE id = $1", [id]);
  const from = { id, num: Number(specimen?.["num"]) };
  // What is lost in a crash is filled anew: only this session need not wait for the disk.
  await database.ask("SET synchronous_commit = off");
  const more = handoffs - 1;
  for (let first = 1; first <= more; first += piece) {
    const last = Math.min(more, first + piece - 1);
    for (const table of grown) await database.ask(multiply(table, columns, from), [first, last]);
    say(`filling a database: ${(last + 1).toLocaleString("en")} of ${handoffs.toLocaleString("en")} handoffs queued`);
  }
  await database.ask(
    "INSERT INTO handfast.tally SELECT namespace, sender, 'queued', $1 FROM handfast.accepted WHERE id = $2",
    [more, id],
  );
  await database.ask("SELECT setval('handfast.handoff_num', (SELECT max(num) FROM handfast.accepted))");
  await check(database, columns, from, handoffs);
  // As a backlog that has been there for a while: cleaning up after the filling is not for the figures to pay.
  await database.ask("VACUUM (ANALYZE)");
  await database.leave();
}

/** Tables that hold a row for a state or a sender, whatever the number of handoffs. */
const summed = "tally";

async function leaveSpecimen(
  database: LentDatabase,
  say: Say,
): Promise<{ readonly id: string; readonly grown: readonly string[] }> {
  const [directory, home] = ["backlog", "backlog-home"].map((name) => mkdtempSync(join(tmpdir(), `handfast-${name}-`)));
  if (directory === undefined || home === undefined) throw new Error("there are two folders");
  const relay = await startRelay({ directory, disk: plainDisk, say, more: ["--store", database.url] });
  try {
    const sender = await connect({ url: relay.url, agent: "filler", home });
    const send = () => sender.send(capability, makeKilobyte(), { timeout: longest, queueIfAbsent: true });
    // With the first comes what is kept of its sender.
    await send();
    const before = await rowCounts(database);
    const { id } = await send();
    const after = await rowCounts(database);
    await sender.close();
    const grown = [...after].filter(([table, rows]) => rows > (before.get(table) ?? 0)).map(([table]) => table);
    return { id, grown: grown.filter((table) => table !== summed) };
  } finally {
    await relay.stop();
    for (const path of [directory, home]) rmSync(path, { recursive: true, force: true });
  }
}

async function rowCounts(database: LentDatabase): Promise<ReadonlyMap<string, number>> {
  const tables = await database.ask(
    "SELECT relname FROM pg_class WHERE relnamespace = 'handfast'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition",
  );
  const counts = new Map<string, number>();
  for (const { relname } of tables) {
    const [row] = await database.ask(`SELECT count(*) AS rows FROM handfast.${relname}`);
    counts.set(String(relname), Number(row?.["rows"]));
  }
  return counts;
}

/** Without those that the server numbers by itself. */
async function columnsOf(database: LentDatabase, tables: readonly string[]): Promise<readonly Column[]> {
  const rows = await database.ask(
    `SELECT relname, attname, atttypid::regtype::text AS type FROM pg_attribute JOIN pg_class ON attrelid = pg_class.oid
     WHERE relnamespace = 'handfast'::regnamespace AND relname = ANY($1) AND attnum > 0 AND NOT attisdropped
       AND attidentity = '' ORDER BY relname, attnum`,
    [tables],
  );
  return rows.map(({ relname, attname, type }) => ({
    table: String(relname),
    column: String(attname),
    type: String(type),
  }));
}

interface Specimen {
  readonly id: string;
  readonly num: number;
}

/** The rows of the specimen in this table, once for each number from $1 to $2. */
function multiply(table: string, columns: readonly Column[], specimen: Specimen): string {
  const own = columns.filter((one) => one.table === table);
  const names = own.map(({ column }) => column).join(", ");
  const values = own.map((one) => copied(one, specimen)).join(", ");
  return `INSERT INTO handfast.${table} (${names})
    SELECT ${values} FROM handfast.${table}, generate_series($1::bigint, $2::bigint) AS nth
    WHERE ${whose(own, specimen)}`;
}

function whose(own: readonly Column[], { id, num }: Specimen): string {
  if (own.some(({ column }) => column === "num")) return `num = ${num}`;
  if (own.some(({ column }) => column === "handoff")) return `handoff = '${id}'`;
  throw new Error(`a queued handoff leaves a row in ${own[0]?.table}, and nothing in it says whose it is`);
}

function copied({ column, type }: Column, { id }: Specimen): string {
  if (column === "num" || column === "pos") return `${column} + nth`;
  return type === "text" ? `replace(${column}, '${id}', ${newId(id)})` : column;
}

function newId(id: string): string {
  return `'${id.slice(0, -digits)}' || lpad(to_hex(nth), ${digits}, '0')`;
}

/** One that was made is, but for its own id, number and position, what the relay wrote; and the store reads it so. */
async function check(
  database: LentDatabase,
  columns: readonly Column[],
  specimen: Specimen,
  handoffs: number,
): Promise<void> {
  const nth = handoffs - 1;
  const made = `${specimen.id.slice(0, -digits)}${nth.toString(16).padStart(digits, "0")}`;
  for (const [table, own] of Map.groupBy(columns, (one) => one.table)) {
    const rows = async (of: Specimen) => {
      const found = await database.ask(
        `SELECT (to_jsonb(given) - 'num' - 'pos')::text AS row FROM handfast.${table} AS given WHERE ${whose(own, of)}`,
      );
      return found.map(({ row }) => String(row).replaceAll(of.id, specimen.id));
    };
    const copy = { id: made, num: specimen.num + nth };
    const [wanted, got] = [await rows(specimen), await rows(copy)].map((found) => found.toSorted().join("\n"));
    if (wanted !== got || wanted === "")
      throw new Error(`the rows of ${table} that were filled are not what a relay writes`);
  }
  const store = await openPostgresStore(database.url);
  try {
    const [[original, filled], counts] = [
      await store.load("default", [specimen.id, made]),
      await store.counts("default"),
    ];
    const asMade = (text: string | undefined) => text?.replaceAll(made, specimen.id);
    if (original == null || JSON.stringify(original) !== asMade(JSON.stringify(filled)))
      throw new Error("the store does not read what was filled as what a relay wrote");
    // The one that came first stands beside them.
    if (counts["queued"] !== handoffs + 1)
      throw new Error(`${counts["queued"]} handoffs are queued, not ${handoffs + 1}`);
  } finally {
    await store.close();
  }
}
