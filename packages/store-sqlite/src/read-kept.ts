/** Reads everything, a row at a time: a store is moved in the memory of its largest handoff. */

import { bodyOf, type Kept } from "@handfast/engine";
import { type Connection, number, type Row, text, textOrNull, type Value } from "./connection.ts";
import { SqliteStoreError } from "./errors.ts";
import { handoffText, parseHandoff } from "./row.ts";
import {
  readAllEvents,
  readAllHandoffs,
  readAllRecords,
  readKeptKeys,
  readOtherBodies,
  readReferences,
  readWholeLog,
} from "./sql/kept.ts";

export function* readKept(connection: Connection): Generator<Kept> {
  const log = connection.get(readWholeLog);
  yield { table: "log", floor: number(log, "floor"), latest: number(log, "latest") };
  for (const row of each(connection, readAllRecords)) {
    yield {
      table: "record",
      namespace: text(row, "namespace"),
      kind: text(row, "kind"),
      key: text(row, "key"),
      version: number(row, "version"),
      json: text(row, "json"),
    };
  }
  for (const row of each(connection, readAllHandoffs)) {
    const pos = number(row, "pos");
    yield handoffOf(connection, pos, row);
    for (const body of each(connection, readOtherBodies, pos)) yield { table: "body", pos, body: bodyOf(body) };
  }
  for (const row of each(connection, readKeptKeys)) {
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
  for (const row of each(connection, readAllEvents)) {
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

/** A statement of its own each time: one that is being read cannot be begun anew. */
function each(connection: Connection, sql: string, ...values: Value[]): Iterable<Row> {
  return connection.db.prepare(sql).iterate(...values);
}

function handoffOf(connection: Connection, pos: number, row: Row): Kept {
  const agent = textOrNull(row, "holder_agent");
  return {
    table: "handoff",
    pos,
    handoff: parseHandoff(handoffText(row)),
    find: {
      open: number(row, "open") === 1,
      queue: textOrNull(row, "queue"),
      rank: number(row, "rank"),
      wake_at: row["wake_at"] === null ? null : number(row, "wake_at"),
      lane: textOrNull(row, "lane"),
      holder: agent === null ? null : { agent, worker: text(row, "holder_worker") },
      last_agent: textOrNull(row, "last_agent"),
      untaken: number(row, "untaken") === 1,
      dead_letter: deadLetter(textOrNull(row, "dead_letter")),
      question_to: textOrNull(row, "question_to"),
    },
    body: number(row, "has_body") === 1 ? bodyOf({ ...row, kind: "handoff", number: 0 }) : null,
    artifacts: connection.all(readReferences, pos).map((reference) => text(reference, "sha256")),
  };
}

function deadLetter(status: string | null): "open" | "redriven" | "discarded" | null {
  if (status === null || status === "open" || status === "redriven" || status === "discarded") return status;
  throw new SqliteStoreError("damaged", `The database has a dead letter that is ${status}. Restore a backup.`);
}
