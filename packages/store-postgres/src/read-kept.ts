/**
 * Reads everything, inside an open transaction: lists by cursor, and of handoffs and bodies, which may be large, as many at a
 * time as fit a few megabytes.
 */

import type { Findable } from "@handfast/core";
import { bodyOf, type Kept } from "@handfast/engine";
import type { Asks } from "./connection.ts";
import { PostgresStoreError } from "./errors.ts";
import { kept_bytes, kept_rows } from "./limits.ts";
import { handoffOf } from "./read-one.ts";
import { number, type Row, text, textOrNull, truth } from "./rows.ts";
import {
  listHandoffs,
  measureBodies,
  readAllEvents,
  readAllRecords,
  readBodiesByNumber,
  readHandoffsByNumber,
  readKeptKeys,
  readReferencesByNumber,
  readWholeLog,
} from "./sql/kept.ts";
import { standingOf } from "./standing.ts";

export async function* readKept(asks: Asks): AsyncGenerator<Kept> {
  const [log] = await asks.ask(readWholeLog);
  yield { table: "log", floor: number(log, "floor"), latest: number(log, "latest") };
  for await (const row of each(asks, readAllRecords)) {
    yield {
      table: "record",
      namespace: text(row, "namespace"),
      kind: text(row, "kind"),
      key: text(row, "key"),
      version: number(row, "version"),
      json: text(row, "json"),
    };
  }
  for await (const page of pages(each(asks, listHandoffs))) yield* readHandoffs(asks, page);
  for await (const row of each(asks, readKeptKeys)) {
    yield {
      table: "key",
      namespace: text(row, "namespace"),
      sender: text(row, "sender"),
      key: text(row, "key"),
      id: text(row, "id"),
      content: text(row, "content"),
      until: number(row, "until"),
    };
  }
  for await (const row of each(asks, readAllEvents)) {
    yield {
      table: "event",
      pos: number(row, "pos"),
      namespace: text(row, "namespace"),
      handoff: text(row, "handoff"),
      correlation_id: textOrNull(row, "correlation_id"),
      at: number(row, "at"),
      json: text(row, "json"),
    };
  }
}

async function* each(asks: Asks, sql: string): AsyncGenerator<Row> {
  await asks.ask(`DECLARE everything NO SCROLL CURSOR FOR ${sql}`);
  for (;;) {
    const rows = await asks.ask(`FETCH ${kept_rows} FROM everything`);
    yield* rows;
    if (rows.length < kept_rows) break;
  }
  await asks.ask("CLOSE everything");
}

interface Listed {
  readonly num: number;
  readonly pos: number;
}

async function* pages(listed: AsyncIterable<Row>): AsyncGenerator<readonly Listed[]> {
  let page: Listed[] = [];
  let bytes = 0;
  for await (const row of listed) {
    page.push({ num: number(row, "num"), pos: number(row, "pos") });
    bytes += number(row, "bytes");
    if (page.length < kept_rows && bytes < kept_bytes) continue;
    yield page;
    page = [];
    bytes = 0;
  }
  if (page.length > 0) yield page;
}

async function* readHandoffs(asks: Asks, page: readonly Listed[]): AsyncGenerator<Kept> {
  const nums = array(page.map(({ num }) => num));
  const [rows, references, sizes] = await Promise.all([
    asks.ask(readHandoffsByNumber, nums),
    asks.ask(readReferencesByNumber, nums),
    asks.ask(measureBodies, nums),
  ]);
  const handoffs = byNumber(rows);
  const artifacts = byNumber(references);
  const with_bodies = new Set(sizes.map((row) => number(row, "num")));
  const bytes = sizes.reduce((sum, row) => sum + number(row, "bytes"), 0);
  const at_once = bytes <= kept_bytes ? byNumber(await asks.ask(readBodiesByNumber, nums)) : null;
  for (const { num, pos } of page) {
    const [row] = handoffs.get(num) ?? [];
    if (row === undefined) throw new PostgresStoreError("foreign", `The handoff of number ${num} has no state.`);
    const named = (artifacts.get(num) ?? []).map((reference) => text(reference, "sha256"));
    yield {
      table: "handoff",
      pos,
      handoff: handoffOf(row),
      find: findOf(row),
      body: truth(row, "has_body") ? bodyOf({ ...row, kind: "handoff", number: 0 }) : null,
      artifacts: named,
    };
    if (!with_bodies.has(num)) continue;
    const bodies = at_once?.get(num) ?? (await asks.ask(readBodiesByNumber, array([num])));
    for (const body of bodies) yield { table: "body", pos, body: bodyOf(body) };
  }
}

function findOf(row: Row): Findable {
  const { holder_agent: agent, holder_worker, dead_letter, ...standing } = standingOf(row);
  const { open, queue, rank, wake_at, lane, last_agent, untaken, question_to } = standing;
  return {
    open,
    queue,
    rank,
    wake_at,
    lane,
    holder: agent === null ? null : { agent, worker: holder_worker ?? "" },
    last_agent,
    untaken,
    dead_letter: deadLetter(dead_letter),
    question_to,
  };
}

function deadLetter(status: string | null): Findable["dead_letter"] {
  if (status === null || status === "open" || status === "redriven" || status === "discarded") return status;
  throw new PostgresStoreError("foreign", `The database has a dead letter that is ${status}. Restore a backup.`);
}

function byNumber(rows: readonly Row[]): ReadonlyMap<number, readonly Row[]> {
  return Map.groupBy(rows, (row) => number(row, "num"));
}

function array(numbers: readonly number[]): string {
  return `{${numbers.join(",")}}`;
}
