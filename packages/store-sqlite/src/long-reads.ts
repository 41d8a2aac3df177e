/** Reads that may take long: on a thread of their own where there is a file, else on the one connection. */

import type { EventPage, EventQuery, ListQuery } from "@handfast/engine";
import { type BackupProgress, copyMemory } from "./backup.ts";
import { type Connection, number } from "./connection.ts";
import { readEvents } from "./read-events.ts";
import { readList, type TextPage } from "./read-list.ts";
import { finish, type Steps } from "./scan.ts";
import { countedStates, readCounts } from "./sql/handoff.ts";

type Counts = Readonly<Record<string, number>>;

export interface LongReads {
  list(query: ListQuery): Promise<TextPage>;
  events(query: EventQuery): Promise<EventPage>;
  counts(namespace: string): Promise<Counts>;
  backup(path: string, progress: BackupProgress): Promise<void>;
  /** Moves the write-ahead log into the database. */
  checkpoint(): Promise<void>;
  close(): Promise<void>;
}

/** A request to the reader thread. */
export type ReadRequest =
  | { readonly type: "list"; readonly query: ListQuery }
  | { readonly type: "events"; readonly query: EventQuery }
  | { readonly type: "counts"; readonly namespace: string }
  | { readonly type: "checkpoint" }
  | { readonly type: "backup"; readonly path: string }
  | { readonly type: "close" };

export function* answerRead(
  connection: Connection,
  request: Exclude<ReadRequest, { type: "backup" }>,
): Steps<TextPage | EventPage | Counts | null> {
  switch (request.type) {
    case "list":
      return yield* readList(connection, request.query);
    case "events":
      return yield* readEvents(connection, request.query);
    case "counts":
      return countStates(connection, request.namespace);
    case "checkpoint":
      connection.get("PRAGMA wal_checkpoint(PASSIVE)");
      return null;
    case "close":
      connection.close();
      return null;
  }
}

function countStates(connection: Connection, namespace: string): Counts {
  const row = connection.get(readCounts, namespace);
  const counts = countedStates.map((state) => [state, number(row, state)] as const);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

export function readInPlace(connection: Connection): LongReads {
  return {
    list: async (query) => finish(readList(connection, query)),
    events: async (query) => finish(readEvents(connection, query)),
    counts: async (namespace) => countStates(connection, namespace),
    backup: (path, progress) => copyMemory(connection, path, progress),
    checkpoint: async () => {},
    close: async () => {},
  };
}
