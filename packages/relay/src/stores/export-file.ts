/**
 * A file that holds a store, in JSON Lines: a header, one line for each thing that is kept, and a closing line with counts and
 * digests of them, and one of every byte before it. A file without its closing line was cut off.
 */

import { createHash } from "node:crypto";
import { type FileHandle, open, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Kept, KeptStore } from "@handfast/engine";
import { type Counts, difference, Ledger, type Sum, tables } from "./ledger.ts";
import { keptOf, lineOf } from "./line.ts";
import { LineTooLong, linesOf } from "./lines.ts";
import { TransferError } from "./transfer-error.ts";

const format = 1;
const flush_bytes = 1_000_000;

interface Header {
  readonly handfast_export: number;
  readonly made_at: string;
  readonly made_by: string;
  readonly store: { readonly kind: string; readonly schema: number };
  /** As they were counted before the first line was read: how far it is. */
  readonly counts: Counts;
}
interface End extends Sum {
  /** Of every byte before the closing line. */
  readonly file: string;
}

/** How much is done, of how much. */
export type Progress = (done: number, total: number) => void;

export interface Made {
  readonly now: Date;
  /** Which program, in which version. */
  readonly by: string;
}

export interface Written extends Sum {
  /** How many artifacts the store names; their bytes are not in the file. */
  readonly artifacts: number;
}

/** Writes all of the store into a new file for its owner alone. */
export async function writeExport(store: KeptStore, path: string, made: Made, progress: Progress): Promise<Written> {
  const file = await open(path, "wx", 0o600);
  try {
    const sum = await pour(store, file, made, progress);
    await file.sync();
    await file.close();
    await syncDirectory(dirname(path));
    return sum;
  } catch (error) {
    await file.close();
    await rm(path, { force: true });
    throw error;
  }
}

async function pour(store: KeptStore, file: FileHandle, { now, by }: Made, progress: Progress): Promise<Written> {
  const counts = await store.counts();
  const total = totalOf(counts);
  const whole = createHash("sha256");
  const ledger = new Ledger();
  let artifacts = 0;
  let text = "";
  const write = async (line: string) => {
    text += `${line}\n`;
    if (text.length < flush_bytes) return;
    await flush();
    progress(ledger.seen, total);
  };
  const flush = async () => {
    whole.update(text);
    await file.writeFile(text);
    text = "";
  };
  const { kind, schema } = store;
  const header: Header = {
    handfast_export: format,
    made_at: now.toISOString(),
    made_by: by,
    store: { kind, schema },
    counts,
  };
  await write(JSON.stringify(header));
  for await (const kept of store.read()) {
    const line = lineOf(kept);
    ledger.add(kept.table, line);
    if (kept.table === "record" && kept.kind === "artifact") artifacts += 1;
    await write(line);
  }
  await flush();
  const sum = ledger.sum();
  const end: End = { ...sum, file: whole.digest("hex") };
  await file.writeFile(`${JSON.stringify({ end })}\n`);
  progress(total, total);
  return { ...sum, artifacts };
}

/** Reads all of it and holds it against its own closing line, before anything is made of it. */
export async function checkExport(path: string, progress: Progress): Promise<Sum> {
  const { size } = await stat(path);
  const whole = createHash("sha256");
  const ledger = new Ledger();
  let place = 0;
  let end: End | null = null;
  for await (const { bytes, whole: is_whole, end: at } of linesIn(path)) {
    place += 1;
    if (end !== null) throw damaged(path, "there is something after its closing line");
    if (place === 1) checkHeader(path, bytes);
    if (!is_whole) throw cutOff(path);
    if (place > 1) end = endIn(bytes);
    if (end !== null) continue;
    whole.update(bytes).update("\n");
    if (place > 1) ledger.add(tableOf(path, bytes, place), bytes.toString());
    progress(at, size);
  }
  if (place === 0) throw damaged(path, "it is empty");
  if (end === null) throw cutOff(path);
  const sum = ledger.sum();
  if (whole.digest("hex") !== end.file || difference(sum, end) !== null) {
    throw damaged(path, "what it holds is not what its closing line says");
  }
  return sum;
}

/** What it holds, once it was checked. */
export async function* readExport(path: string, progress: Progress): AsyncGenerator<Kept> {
  const { size } = await stat(path);
  let is_header = true;
  for await (const { bytes, end } of linesIn(path)) {
    if (!is_header && endIn(bytes) === null) yield keptOf(bytes.toString());
    is_header = false;
    progress(end, size);
  }
}

async function* linesIn(path: string): ReturnType<typeof linesOf> {
  try {
    yield* linesOf(path);
  } catch (error) {
    throw error instanceof LineTooLong ? damaged(path, "it has no lines") : error;
  }
}

function checkHeader(path: string, bytes: Buffer): void {
  const header = asJson(bytes);
  if (typeof header !== "object" || header === null || !("handfast_export" in header)) {
    throw damaged(path, "it does not begin as one");
  }
  if (header.handfast_export === format) return;
  const message = `${path} is an export of format ${header.handfast_export}; this version of Handfast knows format ${format}. Import it with the version that wrote it.`;
  throw new TransferError("too_new", message);
}

const closing = Buffer.from('{"end":');

function endIn(bytes: Buffer): End | null {
  if (!bytes.subarray(0, closing.length).equals(closing)) return null;
  const line = asJson(bytes) as { readonly end?: Partial<End> } | undefined;
  const { counts, sha256, file } = line?.end ?? {};
  return counts === undefined || sha256 === undefined || file === undefined ? null : { counts, sha256, file };
}

function tableOf(path: string, bytes: Buffer, place: number): Kept["table"] {
  const begins = bytes.subarray(0, 16).toString("latin1");
  const table = tables.find((each) => begins.startsWith(`{"${each}":{`));
  if (table === undefined) throw damaged(path, `line ${place} is of nothing known`);
  return table;
}

function asJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

function damaged(path: string, why: string): TransferError {
  return new TransferError("damaged", `${path} is no export of a store, or a damaged one: ${why}. Export it again.`);
}

function cutOff(path: string): TransferError {
  return new TransferError("cut_off", `${path} was cut off: its closing line is missing. Export it again.`);
}

function totalOf(counts: Counts): number {
  return tables.reduce((sum, table) => sum + counts[table], 0);
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  await directory.sync().finally(() => directory.close());
}
