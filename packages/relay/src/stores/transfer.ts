/** Moving a stopped store into a file, and from there into another store. Each way ends with a look at what was written. */

import type { Kept, KeptStore } from "@handfast/engine";
import { isPostgresUrl, openPostgresKept } from "@handfast/store-postgres";
import { openSqliteKept } from "@handfast/store-sqlite";
import { checkExport, type Made, type Progress, readExport, writeExport } from "./export-file.ts";
import { difference, Ledger, type Sum } from "./ledger.ts";
import { lineOf } from "./line.ts";
import { TransferError } from "./transfer-error.ts";

export interface TransferOptions {
  /** Told what is being done, and how far it is. */
  readonly progress?: (doing: "reading" | "checking" | "writing", done: number, total: number) => void;
  /** Takes a server that may lose what it confirmed: only in tests that are not about durability. */
  readonly may_lose?: boolean;
}

export interface Transferred extends Sum {
  /** The store, as it may be shown. */
  readonly store: string;
}
export interface Exported extends Transferred {
  /** Artifacts whose bytes stay in the database, and are not in the file; those of an embedded store are in its data directory. */
  readonly artifacts_left: number;
}

/** `place`: a data directory, or the URL of a PostgreSQL database. */
export async function exportStore(
  place: string,
  path: string,
  made: Made,
  options: TransferOptions = {},
): Promise<Exported> {
  const store = await openKept(place, "read", options);
  try {
    const { artifacts, ...sum } = await writeExport(store, path, made, telling(options, "reading"));
    const read = await checkExport(path, telling(options, "checking"));
    const why = difference(sum, read);
    if (why !== null) throw new TransferError("differs", `${path} does not hold what was read: ${why}.`);
    return { store: store.place, ...sum, artifacts_left: isPostgresUrl(place) ? artifacts : 0 };
  } finally {
    await store.close();
  }
}

/** Nothing is written where the file is not whole, the store not empty, or what is read back not what the file holds. */
export async function importStore(path: string, place: string, options: TransferOptions = {}): Promise<Transferred> {
  const sum = await checkExport(path, telling(options, "checking"));
  const store = await openKept(place, "fill", options);
  try {
    await store.fill(readExport(path, telling(options, "writing")), async (written) => {
      const why = difference(sum, await sumOf(written));
      if (why !== null) throw new TransferError("differs", `${store.place} does not hold what ${path} does: ${why}.`);
    });
    return { store: store.place, ...sum };
  } finally {
    await store.close();
  }
}

async function sumOf(written: AsyncIterable<Kept>): Promise<Sum> {
  const ledger = new Ledger();
  for await (const kept of written) ledger.add(kept.table, lineOf(kept));
  return ledger.sum();
}

function openKept(place: string, purpose: "read" | "fill", { may_lose }: TransferOptions): Promise<KeptStore> {
  if (!isPostgresUrl(place)) return openSqliteKept(place, purpose);
  return openPostgresKept(place, purpose, may_lose === undefined ? {} : { may_lose });
}

function telling({ progress }: TransferOptions, doing: "reading" | "checking" | "writing"): Progress {
  return (done, total) => progress?.(doing, done, total);
}
