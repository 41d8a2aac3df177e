/**
 * The store on SQLite. Usable → failed (a transaction was rejected: nobody knows what is on disk) → usable again by
 * `recover`, which closes everything and reads the truth from disk; closed at any time, for good.
 *
 * Commits and short reads run on the caller's thread: a thread of their own brought nothing on 2 cores and cost 15–25 %
 * at low concurrency. A transaction begins and ends within one call, so no read sees half of one.
 *
 * Only the sync runs elsewhere, and the thread does other things meanwhile: neither the commit nor anything that was read
 * since is answered before it has ended.
 */

import type { Tie, Time } from "@handfast/core";
import type { BodyKind, EventQuery, ListQuery, Page, Space, Store, Unit, UnitResult } from "@handfast/engine";
import { recordOf } from "@handfast/engine";
import type { BackupProgress } from "./backup.ts";
import { number, type Row, text, textOrNull } from "./connection.ts";
import { SqliteStoreError } from "./errors.ts";
import { checkpoint_pages, commits_per_look, direct_events } from "./limits.ts";
import { freeBytes, usedBytes } from "./location.ts";
import { prune } from "./prune.ts";
import { readEvents } from "./read-events.ts";
import { type CandidateQuery, readBodies, readBody, readCandidates, readLastServed } from "./read-one.ts";
import { parseHandoff } from "./row.ts";
import { finish } from "./scan.ts";
import type { Session } from "./session.ts";
import { findDue, findHeld, findLaneMembers, findLeases, findNextDue, findOpenChildren } from "./sql/dispatch.ts";
import { readLatest } from "./sql/event.ts";
import { countOpenBySender, findReferrers } from "./sql/handoff.ts";
import { findPurged } from "./sql/key.ts";
import { findRecord, findRecords } from "./sql/record.ts";

export class SqliteStore implements Store {
  #session: Session;
  #broken: SqliteStoreError | null = null;
  #checkpointing = false;
  #commits = 0;
  #closing: Promise<void> | null = null;
  #recovering: Promise<void> | null = null;
  readonly #backups = new Set<Promise<void>>();

  constructor(session: Session) {
    this.#session = session;
  }

  async commit(units: readonly Unit[]): Promise<readonly UnitResult[]> {
    const results = await this.#transaction(({ writer }) => writer.write(units));
    this.#checkpointIfLong();
    return results;
  }

  async recover(): Promise<void> {
    if (this.#closing !== null) throw closed();
    this.#recovering = this.#recover();
    await this.#recovering;
  }

  async #recover(): Promise<void> {
    await Promise.allSettled(this.#backups);
    this.#broken ??= new SqliteStoreError("unknown", "The store is recovering.");
    this.#session = await this.#session.reopen();
    this.#checkpointing = false;
    this.#broken = null;
  }

  load(namespace: string, ids: readonly string[]) {
    return this.#read(({ lookup }) => ids.map((id) => lookup.handoff(namespace, id)));
  }

  key(namespace: string, from: string, key: string) {
    return this.#read(({ lookup }) => lookup.key(namespace, from, key));
  }

  body(namespace: string, id: string, kind: BodyKind, nth: number) {
    return this.#read(({ connection }) => readBody(connection, namespace, id, kind, nth));
  }

  bodies(namespace: string, id: string) {
    return this.#read(({ connection }) => readBodies(connection, namespace, id));
  }

  candidates(query: CandidateQuery) {
    return this.#read(({ connection }) => readCandidates(connection, query));
  }

  due(now: Time, limit: number) {
    return this.#read(({ connection }) => {
      const rows = connection.all(findDue, now, limit);
      return rows.map((row) => ({ namespace: text(row, "namespace"), id: idOf(row) }));
    });
  }

  nextDue(): Promise<Time | null> {
    return this.#read(({ connection }) => {
      const row = connection.get(findNextDue);
      return row === undefined ? null : number(row, "wake_at");
    });
  }

  laneMembers(namespace: string, lane: string, limit: number) {
    return this.#read(({ connection }) => connection.all(findLaneMembers, namespace, lane, limit).map(idOf));
  }

  held(namespace: string, agent: string, worker: string) {
    return this.#read(({ connection }) => connection.all(findHeld, namespace, agent, worker).map(idOf));
  }

  leases() {
    return this.#read(({ connection }) =>
      connection.all(findLeases).map((row) => ({
        namespace: text(row, "namespace"),
        id: idOf(row),
        agent: text(row, "holder_agent"),
        capability: textOrNull(row, "capability"),
        from: text(row, "sender"),
      })),
    );
  }

  lastServed(namespace: string, tie: Tie) {
    return this.#read(({ connection }) => readLastServed(connection, namespace, tie));
  }

  openChildren(namespace: string, parent: string, limit: number) {
    return this.#read(({ connection }) => connection.all(findOpenChildren, namespace, parent, limit).map(idOf));
  }

  async list(query: ListQuery): Promise<Page> {
    const page = await this.#readFar(({ reads }) => reads.list(query));
    return { handoffs: page.handoffs.map(parseHandoff), after: page.after };
  }

  wasPurged(namespace: string, id: string) {
    return this.#read(({ connection }) => connection.get(findPurged, namespace, id) !== undefined);
  }

  openBySender() {
    return this.#read(({ connection }) =>
      connection.all(countOpenBySender).map((row) => ({
        namespace: text(row, "namespace"),
        from: text(row, "sender"),
        open: number(row, "number"),
      })),
    );
  }

  counts(namespace: string) {
    return this.#readFar(({ reads }) => reads.counts(namespace));
  }

  events(query: EventQuery) {
    const short = query.handoff !== undefined && query.agent === undefined && query.limit <= direct_events;
    if (short) return this.#read(({ connection }) => finish(readEvents(connection, query)));
    return this.#readFar(({ reads }) => reads.events(query));
  }

  referrers(namespace: string, sha256: string, limit: number) {
    return this.#read(({ connection }) => connection.all(findReferrers, namespace, sha256, limit).map(idOf));
  }

  records(namespace: string, kind: string) {
    return this.#read(({ connection }) => connection.all(findRecords, namespace, kind).map(recordOf));
  }

  record(namespace: string, kind: string, key: string) {
    return this.#read(({ connection }) => {
      const row = connection.get(findRecord, namespace, kind, key);
      return row === undefined ? null : recordOf(row);
    });
  }

  async prune(now: Time, events_before: Time, limit: number) {
    // Most of the time nothing is old enough: then there is nothing to sync.
    const dropped = ({ events, keys }: { readonly events: number; readonly keys: number }) => events + keys > 0;
    return this.#transaction(({ connection }) => prune(connection, now, events_before, limit), dropped);
  }

  async space(): Promise<Space> {
    const { location, connection } = this.#usable();
    if (location !== null) {
      return { free_bytes: freeBytes(location.directory), used_bytes: usedBytes(location.database) };
    }
    const pages = number(connection.get("PRAGMA page_count"), "page_count");
    return { free_bytes: null, used_bytes: pages * number(connection.get("PRAGMA page_size"), "page_size") };
  }

  async latest(): Promise<Time> {
    return number(this.#usable().connection.get(readLatest), "latest");
  }

  async backup(path: string, progress?: BackupProgress): Promise<void> {
    const copying = this.#usable().reads.backup(path, progress ?? (() => {}));
    this.#backups.add(copying);
    try {
      await copying;
      await this.#settle(this.#session);
    } finally {
      this.#backups.delete(copying);
    }
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // The thread must not end under a running backup, and what is being reopened is closed as well.
    await Promise.allSettled([...this.#backups, this.#recovering]);
    await this.#session.close();
  }

  #usable(): Session {
    if (this.#closing !== null) throw closed();
    if (this.#broken !== null) throw this.#broken;
    return this.#session;
  }

  async #transaction<Result>(
    write: (session: Session) => Result,
    wrote: (result: Result) => boolean = () => true,
  ): Promise<Result> {
    const session = this.#usable();
    try {
      session.connection.run("BEGIN IMMEDIATE");
      const result = write(session);
      session.connection.run("COMMIT");
      if (wrote(result)) await session.log?.sync();
      return result;
    } catch (error) {
      throw session === this.#session ? this.#fail(error) : error;
    }
  }

  async #read<Value>(read: (session: Session) => Value): Promise<Value> {
    const session = this.#usable();
    const value = read(session);
    await this.#settle(session);
    return value;
  }

  /** The same on the reader's thread. */
  async #readFar<Value>(read: (session: Session) => Promise<Value>): Promise<Value> {
    const session = this.#usable();
    const value = await read(session);
    await this.#settle(session);
    return value;
  }

  /** What was read may be younger than what is on disk: it is told when it is safe. */
  #settle({ log }: Session): Promise<void> | undefined {
    return log?.pending?.catch((error: unknown) => {
      throw this.#broken ?? error;
    });
  }

  #fail(cause: unknown): SqliteStoreError {
    const why = cause instanceof Error ? cause.message : String(cause);
    this.#broken = new SqliteStoreError(
      "unknown",
      `A commit failed (${why}): what is on disk is unknown until the store is recovered.`,
      cause,
    );
    if (this.#session.connection.db.isTransaction) {
      try {
        this.#session.connection.run("ROLLBACK");
      } catch {
        // The connection is given up anyway: `recover` opens another.
      }
    }
    return this.#broken;
  }

  #checkpointIfLong(): void {
    const { location, connection, reads } = this.#session;
    if (location === null || this.#checkpointing) return;
    this.#commits += 1;
    if (this.#commits % commits_per_look !== 0) return;
    const log = connection.get("PRAGMA wal_checkpoint(NOOP)");
    if (number(log, "log") - number(log, "checkpointed") < checkpoint_pages) return;
    this.#checkpointing = true;
    reads.checkpoint().then(
      () => {
        this.#checkpointing = false;
      },
      (error) => {
        // The pages that could not be moved are still in the log, but a disk that fails once is not trusted again.
        if (reads === this.#session.reads && this.#closing === null) this.#fail(error);
      },
    );
  }
}

function idOf(row: Row): string {
  return text(row, "id");
}

function closed(): SqliteStoreError {
  return new SqliteStoreError("closed", "The store is closed: open it again.");
}
