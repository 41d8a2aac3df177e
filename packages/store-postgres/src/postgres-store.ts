/**
 * The store on PostgreSQL. Usable → failed (a transaction was rejected: nobody knows what the database holds) → usable again by
 * `recover`, which connects anew and makes sure that nothing of the failed transaction is still under way; closed at any
 * time, for good.
 *
 * One connection writes, one transaction after the other; a pool reads. What was committed is seen by every read that
 * begins afterwards.
 */

import type { Tie, Time } from "@handfast/core";
import type {
  BodyKind,
  EventQuery,
  ListQuery,
  Sharing,
  Space,
  Store,
  StoreServer,
  Unit,
  UnitResult,
} from "@handfast/engine";
import { recordOf } from "@handfast/engine";
import { begin, commitUnits } from "./commit.ts";
import type { Asks, Reads } from "./connection.ts";
import { explain, explainLater, isFull, isSilence, PostgresStoreError } from "./errors.ts";
import { Gather } from "./gather.ts";
import { HeldBackReader } from "./held-back.ts";
import { inTime, watched } from "./in-time.ts";
import { type Keeping, Kept } from "./kept.ts";
import {
  full_ms,
  loads_at_once,
  prune_timeout_ms,
  size_good_for_ms,
  still_there_ms,
  still_there_pause_ms,
} from "./limits.ts";
import { Numbers } from "./numbers.ts";
import { OwnEvents } from "./own-events.ts";
import { keepPartitions } from "./partitions.ts";
import { prune, sumUp } from "./prune.ts";
import { readEvents } from "./read-events.ts";
import { readList } from "./read-list.ts";
import {
  type AskedBody,
  type AskedHandoff,
  type AskedHolder,
  type AskedKey,
  readBodies,
  readCandidates,
  readHandoffs,
  readHeld,
  readKeys,
  readLastServed,
  readNamedBodies,
  readPurged,
} from "./read-one.ts";
import { number, type Row, text, textOrNull } from "./rows.ts";
import type { Session } from "./session.ts";
import { PostgresSharing } from "./sharing.ts";
import { findByFacet, findDue, findLeases, findNextDue, findReady, keepDue, keepReady } from "./sql/dispatch.ts";
import { readLatest } from "./sql/event.ts";
import { countOpenBySender, findReferrers, readCounts } from "./sql/handoff.ts";
import { findRecord, findRecords } from "./sql/record.ts";
import { TableCounts } from "./table-counts.ts";
import { WrittenRows } from "./written-rows.ts";

type Writing<Result> = (writer: Asks, reads: Reads) => Promise<Result>;

export class PostgresStore implements Store {
  #session: Session;
  #broken: PostgresStoreError | null = null;
  #closing: Promise<void> | null = null;
  #recovering: Promise<void> | null = null;
  /** The last transaction's end: the next one waits for it. */
  #last: Promise<unknown> = Promise.resolve();
  /** By the monotonic clock: until when the server's disk is taken for full, and how long its size is good for. */
  #full_until = 0;
  #size = { bytes: 0, good_until: 0 };
  readonly #loads = new Gather(
    (asked: readonly AskedHandoff[]) => this.#read((asks) => readHandoffs(asks, asked)),
    loads_at_once,
  );
  readonly #bodies = new Gather(
    (asked: readonly AskedBody[]) => this.#read((asks) => readNamedBodies(asks, asked)),
    loads_at_once,
  );
  readonly #keys = new Gather((asked: readonly AskedKey[]) => this.#read((asks) => readKeys(asks, asked)));
  readonly #purged = new Gather((asked: readonly AskedHandoff[]) => this.#read((asks) => readPurged(asks, asked)));
  readonly #held = new Gather((asked: readonly AskedHolder[]) => this.#read((asks) => readHeld(asks, asked)));
  readonly #counts = new TableCounts((statement) => this.#read((reads) => reads.askOnce(statement)));
  readonly #written = new WrittenRows();
  readonly #numbers = new Numbers();
  readonly #own = new OwnEvents();
  readonly #kept = new Kept();
  readonly #heldBack = new HeldBackReader((ask) => this.#read(ask));
  readonly server: StoreServer = {
    pool: () => {
      const { asked, connections: size } = this.#session.pool.load;
      return { size, busy: Math.min(asked, size), waiting: Math.max(0, asked - size) };
    },
    heldBack: () => this.#heldBack.read(),
  };
  /** Null: whoever opened the store is alone with it. */
  readonly #sharing: PostgresSharing | null;

  constructor(session: Session, is_shared: boolean) {
    this.#session = session;
    this.#sharing = is_shared ? new PostgresSharing((read) => this.#read(read), this.#own) : null;
    this.#sharing?.attach(session.pool);
  }

  get sharing(): Sharing | undefined {
    return this.#sharing ?? undefined;
  }

  async commit(units: readonly Unit[]): Promise<readonly UnitResult[]> {
    this.#usable();
    const kept = this.#kept.take();
    if (kept === null && units.length === 0) return [];
    const own = { written: this.#written, numbers: this.#numbers, own: this.#own };
    const known = { node: this.#sharing?.node ?? null, ...own };
    const { results, has_left } =
      kept === null
        ? await this.#transaction((asks) => commitUnits(asks, units, { ...known, is_begun: false }))
        : await this.#goOn(kept, (asks) => commitUnits(asks, units, { ...known, is_begun: true }));
    const has_records = units.some(({ records }) => records.length > 0);
    if (units.length > 0) this.#sharing?.committed({ has_records, has_left });
    this.#counts.wrote(units.length);
    return results;
  }

  async recover(): Promise<void> {
    if (this.#closing !== null) throw closed();
    this.#recovering = this.#recover();
    await this.#recovering;
  }

  async #recover(): Promise<void> {
    this.#broken ??= new PostgresStoreError("unknown", "The store is recovering.");
    this.#written.forget();
    this.#numbers.forget();
    this.#own.forget();
    this.#session = await this.#session.reopen();
    this.#last = Promise.resolve();
    this.#kept.take()?.end();
    this.#broken = null;
    this.#sharing?.attach(this.#session.pool);
  }

  async load(namespace: string, ids: readonly string[]) {
    if (ids.length === 1) return [await this.#loads.ask({ namespace, id: ids[0] ?? "" })];
    return this.#read((asks) =>
      readHandoffs(
        asks,
        ids.map((id) => ({ namespace, id })),
      ),
    );
  }

  key(namespace: string, from: string, key: string) {
    return this.#keys.ask({ namespace, from, key });
  }

  wasPurged(namespace: string, id: string) {
    return this.#purged.ask({ namespace, id });
  }

  body(namespace: string, id: string, kind: BodyKind, nth: number) {
    return this.#bodies.ask({ namespace, id, kind, number: nth });
  }

  bodies(namespace: string, id: string) {
    return this.#read((asks) => readBodies(asks, namespace, id));
  }

  candidates(query: Parameters<Store["candidates"]>[0]) {
    const sharing = this.#sharing;
    if (sharing === null) return this.#read((asks) => readCandidates(asks, query, findReady));
    return this.#keep((asks) => readCandidates(asks, query, keepReady, sharing.node, query.stays_ms ?? 0));
  }

  async due(now: Time, limit: number) {
    const rows =
      this.#sharing === null
        ? await this.#read((asks) => asks.ask(findDue, now, limit))
        : await this.#keep((asks) => asks.ask(keepDue, now, limit));
    return rows.map((row) => ({ namespace: text(row, "namespace"), id: idOf(row) }));
  }

  async nextDue(): Promise<Time | null> {
    const [row] = await this.#read((asks) => asks.ask(findNextDue));
    return row === undefined ? null : number(row, "wake_at");
  }

  laneMembers(namespace: string, lane: string, limit: number) {
    return this.#ids((asks) => asks.ask(findByFacet, namespace, "lane", lane, limit));
  }

  held(namespace: string, agent: string, worker: string, request_id: string | null = null) {
    return this.#held.ask({ namespace, agent, worker, request_id });
  }

  async leases() {
    const rows = await this.#read((asks) => asks.ask(findLeases));
    return rows.map((row) => ({
      namespace: text(row, "namespace"),
      id: idOf(row),
      agent: text(row, "agent"),
      capability: textOrNull(row, "capability"),
      from: text(row, "sender"),
    }));
  }

  lastServed(namespace: string, tie: Tie) {
    return this.#read((asks) => readLastServed(asks, namespace, tie));
  }

  openChildren(namespace: string, parent: string, limit: number) {
    return this.#ids((asks) => asks.ask(findByFacet, namespace, "child", parent, limit));
  }

  list(query: ListQuery) {
    return this.#read((asks) => readList(asks, query));
  }

  async openBySender() {
    const rows = await this.#read((asks) => asks.ask(countOpenBySender));
    return rows.map((row) => ({
      namespace: text(row, "namespace"),
      from: text(row, "sender"),
      open: number(row, "number"),
    }));
  }

  async counts(namespace: string) {
    const rows = await this.#read((asks) => asks.ask(readCounts, namespace));
    return Object.fromEntries(rows.map((row) => [text(row, "state"), number(row, "number")]));
  }

  events(query: EventQuery) {
    return this.#read((asks) => readEvents(asks, query));
  }

  referrers(namespace: string, sha256: string, limit: number) {
    return this.#ids((asks) => asks.ask(findReferrers, namespace, sha256, limit));
  }

  async records(namespace: string, kind: string) {
    return (await this.#read((asks) => asks.ask(findRecords, namespace, kind))).map(recordOf);
  }

  async record(namespace: string, kind: string, key: string) {
    const [row] = await this.#read((asks) => asks.ask(findRecord, namespace, kind, key));
    return row === undefined ? null : recordOf(row);
  }

  async prune(now: Time, events_before: Time, limit: number) {
    const drop = async (asks: Asks) => {
      await asks.ask(begin);
      const dropped = await prune(asks, now, events_before, limit);
      await sumUp(asks);
      await asks.ask("COMMIT");
      await keepPartitions(asks);
      return dropped;
    };
    return this.#transaction((writer, reads) => {
      const isThere = () => inTime(reads.askOnce("SELECT 1"), still_there_ms);
      return watched(drop(writer), still_there_pause_ms, isThere);
    }, prune_timeout_ms);
  }

  /** How much room the server has left it does not tell; only that there was none. */
  async space(): Promise<Space> {
    const now = performance.now();
    if (now >= this.#size.good_until) {
      const [row] = await this.#read((asks) => asks.ask("SELECT pg_database_size(current_database()) AS bytes"));
      this.#size = { bytes: number(row, "bytes"), good_until: now + size_good_for_ms };
    }
    return { free_bytes: now < this.#full_until ? 0 : null, used_bytes: this.#size.bytes };
  }

  async latest(): Promise<Time> {
    return number((await this.#read((asks) => asks.ask(readLatest)))[0], "latest");
  }

  async backup(): Promise<void> {
    this.#usable();
    const message =
      "This store is a PostgreSQL database: back it up by the server's own means (pg_dump, pg_basebackup).";
    throw new PostgresStoreError("not_here", message);
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // What was kept for a commit that never came is left to others with the connection.
    this.#kept.take()?.end();
    await Promise.allSettled([this.#last, this.#recovering]);
    await this.#session.close();
  }

  #usable(): Session {
    if (this.#closing !== null) throw closed();
    if (this.#broken !== null) throw this.#broken;
    return this.#session;
  }

  async #read<Value>(read: (reads: Reads) => Promise<Value>): Promise<Value> {
    const session = this.#usable();
    try {
      return await inTime(read(session.pool));
    } catch (error) {
      // No connection of this session is to be trusted any more: whoever asks next need not find that out for itself.
      if (isSilence(error) && session === this.#session) throw this.#fail("The server fell silent", error);
      throw explainLater(error, session.place.shown);
    }
  }

  async #ids(read: (asks: Asks) => Promise<readonly Row[]>): Promise<readonly string[]> {
    return (await this.#read(read)).map(idOf);
  }

  /** One after the other: a transaction begins where the last one has ended. */
  async #transaction<Result>(write: Writing<Result>, timeout_ms?: number): Promise<Result> {
    this.#usable();
    const before = this.#last;
    const mine = (async () => {
      await before.catch(() => {});
      return this.#write(this.#usable(), write, timeout_ms);
    })();
    this.#last = mine.catch(() => {});
    return mine;
  }

  /** In the transaction of the next commit, which is begun if it was not yet: what is found in it is kept for that commit. */
  async #keep<Result>(read: (asks: Asks) => Promise<Result>): Promise<Result> {
    this.#usable();
    const open =
      this.#kept.open ??
      this.#kept.begin(async (over) => {
        const before = this.#last;
        this.#last = over;
        await before.catch(() => {});
        const session = this.#usable();
        await this.#write(session, (asks) => asks.ask(begin));
        return session;
      });
    try {
      return await this.#write(await open.begun, read);
    } catch (error) {
      open.end();
      throw error;
    }
  }

  async #goOn<Result>(kept: Keeping, write: (asks: Asks) => Promise<Result>): Promise<Result> {
    try {
      return await this.#write(await kept.begun, write);
    } finally {
      kept.end();
    }
  }

  async #write<Result>(session: Session, write: Writing<Result>, timeout_ms?: number): Promise<Result> {
    try {
      return await inTime(write(session.writer, session.pool), timeout_ms);
    } catch (error) {
      throw session === this.#session ? this.#fail("A commit failed", error) : error;
    }
  }

  #fail(what: string, cause: unknown): PostgresStoreError {
    if (isFull(cause)) this.#full_until = performance.now() + full_ms;
    const explained = explain(cause, this.#session.place.shown);
    const why = explained instanceof Error ? explained.message : String(explained);
    this.#broken = new PostgresStoreError(
      "unknown",
      `${what} (${why}): what the database holds is unknown until the store is recovered.`,
      cause,
    );
    return this.#broken;
  }
}

function idOf(row: Row): string {
  return text(row, "id");
}

function closed(): PostgresStoreError {
  return new PostgresStoreError("closed", "The store is closed: open it again.");
}
