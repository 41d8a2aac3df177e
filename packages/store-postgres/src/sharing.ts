/**
 * What a store offers whose database several nodes write to: the server's clock, beats that all of them see, the log of all
 * namespaces, and a signal when another node has committed.
 *
 * A signal is sent outside of the transactions that write, since commits with a notification wait for each other; and one for
 * all that was committed while the last one travelled. It carries since when there was something to tell, by the server's clock.
 */

import type { Duration, Time } from "@handfast/core";
import {
  type Among,
  type Beat,
  type ChangedRecords,
  type FollowedEvent,
  type RecordName,
  recordOf,
  type Sharing,
  type SignOfLife,
  type StoredRecord,
  type TextPiece,
} from "@handfast/engine";
import { Rows } from "./arrays.ts";
import type { Reads } from "./connection.ts";
import { sign_travels_ms } from "./limits.ts";
import type { OwnEvents } from "./own-events.ts";
import { eventOf } from "./read-events.ts";
import { number, numberOrNull, text, truth } from "./rows.ts";
import { PostgresBytes } from "./shared-bytes.ts";
import { PostgresNodes } from "./shared-nodes.ts";
import { SharedText } from "./shared-text.ts";
import { beatShape, putBeats } from "./sql/beat.ts";
import { readClock, sendSignal } from "./sql/clock.ts";
import { followEvents, readHead, stretchShape } from "./sql/event.ts";
import { findNamedRecords, recordNameShape } from "./sql/record.ts";
import { findRecordChanges, readRecordHead } from "./sql/record-change.ts";
import { findSigns, of_no_worker, putSigns, signShape } from "./sql/sign.ts";

const channel = "handfast";
/** The last words of a signal; nodes of an older version do not say them. */
const [some_records, no_records] = ["records", "handoffs"];
const [some_left, none_left] = ["left", "none"];

type Read = <Value>(read: (reads: Reads) => Promise<Value>) => Promise<Value>;

export class PostgresSharing implements Sharing {
  readonly #read: Read;
  readonly #listeners = new Set<Parameters<Sharing["listen"]>[0]>();
  readonly nodes: PostgresNodes;
  #sending = false;
  /** Since when something that was committed here is to be told, by the monotonic clock; null: nothing is. */
  #due_since: number | null = null;
  /** Whether records are among it, and work that is left to all. */
  #due_records = false;
  #due_left = false;
  /** The server's clock less the monotonic one, as last seen; null: not yet. */
  #clock_ahead: number | null = null;

  readonly #text: SharedText;

  readonly #own: OwnEvents;

  constructor(read: Read, own: OwnEvents) {
    this.#read = read;
    this.#own = own;
    this.nodes = new PostgresNodes(read);
    this.#text = new SharedText(read, this.node);
  }

  /** Tells the signals of this node from those of others. */
  get node(): string {
    return this.nodes.life;
  }

  /** Listens by these connections from now on. */
  attach(pool: Reads): void {
    this.#text.attach(pool);
    const heard = (said: string) => {
      const [from, since, records, left] = said.split(" ");
      if (from === this.node) return;
      this.nodes.heardAnother();
      this.#tell(this.#lag(since), { has_records: records !== no_records, has_left: left !== none_left });
    };
    // While nobody can be heard, whoever listens looks by itself; and what was missed meanwhile may be much.
    pool.listen(channel, heard).then(
      () => {
        this.#tell(null, { has_records: true, has_left: true });
        // Others hear that they are not alone.
        this.committed({ has_records: false, has_left: false });
      },
      () => {},
    );
  }

  /** Something was committed here. */
  committed({ has_records, has_left }: Among): void {
    if (this.nodes.isAlone) return;
    this.#due_since ??= performance.now();
    this.#due_records ||= has_records;
    this.#due_left ||= has_left;
    if (!this.#sending) void this.#send();
  }

  async #send(): Promise<void> {
    this.#sending = true;
    while (this.#due_since !== null) {
      const waited_ms = Math.round(performance.now() - this.#due_since);
      const what = `${this.#due_records ? some_records : no_records} ${this.#due_left ? some_left : none_left}`;
      this.#due_since = null;
      this.#due_records = false;
      this.#due_left = false;
      // A signal that is lost delays others until they look by themselves.
      await this.#read((reads) => reads.ask(sendSignal, channel, this.node, waited_ms, what)).catch(() => {});
    }
    this.#sending = false;
  }

  #tell(lag_ms: Duration | null, among: Among): void {
    for (const listener of this.#listeners) listener(lag_ms, among);
  }

  /** How long ago that was, by the server's clock as this node carries it on. Nodes of an older version do not say. */
  #lag(since: string | undefined): Duration | null {
    if (since === undefined || this.#clock_ahead === null) return null;
    return Math.max(0, performance.now() + this.#clock_ahead - Number(since));
  }

  async now(): Promise<Time> {
    const asked_at = performance.now();
    const now = number((await this.#read((reads) => reads.ask(readClock)))[0], "now");
    // It was read somewhere between the question and the answer.
    this.#clock_ahead = now - (asked_at + performance.now()) / 2;
    return now;
  }

  async beat(beats: readonly Beat[]): Promise<readonly boolean[]> {
    const rows = new Rows(beatShape);
    const nameOf = ({ namespace, id }: Beat) => `${namespace} ${id}`;
    // Of several of one lease the last says it all; two of them in one statement would leave it to chance which.
    const last = new Map(beats.map((beat) => [nameOf(beat), beat]));
    for (const { progress, ...beat } of last.values()) {
      rows.add({ ...beat, progress: progress === null ? null : JSON.stringify(progress) });
    }
    const names = [...last.keys()];
    const found = await this.#read((reads) => reads.ask(putBeats, ...rows.parameters()));
    const held = new Set(found.map((row) => names[number(row, "place") - 1]));
    return beats.map((beat) => held.has(nameOf(beat)));
  }

  async hear(signs: readonly SignOfLife[]): Promise<void> {
    const rows = new Rows(signShape);
    // Of several of one worker the last says it all, and one statement may write a row only once.
    const last = new Map(signs.map((sign) => [JSON.stringify([sign.namespace, sign.agent, sign.worker]), sign]));
    for (const sign of last.values()) rows.add({ ...sign, worker: sign.worker ?? of_no_worker });
    await this.#read((reads) => reads.ask(putSigns, ...rows.parameters()));
  }

  async heard(since: Time): Promise<{ readonly signs: readonly SignOfLife[]; readonly read_at: Time }> {
    // What was told before this is seen below, unless it was still on its way.
    const read_at = await this.now();
    const rows = await this.#read((reads) => reads.ask(findSigns, since - sign_travels_ms));
    const signs = rows.map((row) => {
      const worker = text(row, "worker");
      return {
        namespace: text(row, "namespace"),
        agent: text(row, "agent"),
        worker: worker === of_no_worker ? null : worker,
        at: number(row, "at"),
        asking: truth(row, "asking"),
      };
    });
    return { signs, read_at };
  }

  appendText(pieces: readonly TextPiece[]): Promise<void> {
    return this.#text.append(pieces);
  }

  readText(namespace: string, id: string, offset: number) {
    return this.#text.read(namespace, id, offset);
  }

  listenToText(onText: (namespace: string, id: string) => void): () => void {
    return this.#text.listen(onText);
  }

  bytes(namespace: string): PostgresBytes {
    return new PostgresBytes(this.#read, namespace);
  }

  async follow(after_pos: number, limit: number): Promise<readonly FollowedEvent[]> {
    const { events, others } = this.#own.after(after_pos);
    const stretches = new Rows(stretchShape);
    for (const stretch of others) stretches.add({ ...stretch });
    const rows = await this.#read((reads) => reads.ask(followEvents, ...stretches.parameters(), limit));
    const read = rows.map((row) => ({ ...eventOf(row), namespace: text(row, "namespace") }));
    // Where others wrote more than was read, what comes after that waits.
    const until = read.length < limit ? Number.POSITIVE_INFINITY : (read.at(-1)?.pos ?? after_pos);
    const own = events.filter(({ pos }) => pos <= until);
    return own.length === 0 ? read : [...read, ...own].sort((a, b) => a.pos - b.pos);
  }

  async head(): Promise<number> {
    return number((await this.#read((reads) => reads.ask(readHead)))[0], "head");
  }

  async recordHead(): Promise<number> {
    return number((await this.#read((reads) => reads.ask(readRecordHead)))[0], "head");
  }

  async changedRecords(after: number, limit: number): Promise<ChangedRecords | null> {
    const rows = await this.#read((reads) => reads.ask(findRecordChanges, after, limit));
    const [first] = rows;
    if (number(first, "head") === after) return { names: [], after, is_cut: false };
    // Positions are dense: a gap was pruned, and a head that lies before is that of a database put back from a copy.
    if (first === undefined || numberOrNull(first, "pos") !== after + 1) return null;
    const names = rows.flatMap((row) =>
      text(row, "node") === this.node
        ? []
        : [{ namespace: text(row, "namespace"), kind: text(row, "kind"), key: text(row, "key") }],
    );
    return { names, after: number(rows.at(-1), "pos"), is_cut: rows.length === limit };
  }

  async namedRecords(names: readonly RecordName[]): Promise<readonly StoredRecord[]> {
    const rows = new Rows(recordNameShape);
    for (const { namespace, kind, key } of names) rows.add({ namespace, kind, key });
    return (await this.#read((reads) => reads.ask(findNamedRecords, ...rows.parameters()))).map(recordOf);
  }

  listen(onSignal: Parameters<Sharing["listen"]>[0]): () => void {
    this.#listeners.add(onSignal);
    return () => this.#listeners.delete(onSignal);
  }
}
