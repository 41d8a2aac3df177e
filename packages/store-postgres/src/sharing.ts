/**
 * What a store offers whose database several nodes write to: the server's clock, beats that all of them see, the log of all
 * namespaces, and a signal when another node has committed.
 *
 * A signal is sent outside of the transactions that write, since commits with a notification wait for each other; and one for
 * all that was committed while the last one travelled.
 */

import { randomUUID } from "node:crypto";
import type { Time } from "@handfast/core";
import type { Beat, FollowedEvent, Sharing } from "@handfast/engine";
import { Rows } from "./arrays.ts";
import type { Reads } from "./connection.ts";
import { eventOf } from "./read-events.ts";
import { number, text } from "./rows.ts";
import { beatShape, putBeats } from "./sql/beat.ts";
import { followEvents, readHead } from "./sql/event.ts";

const channel = "handfast";

type Read = <Value>(read: (reads: Reads) => Promise<Value>) => Promise<Value>;

export class PostgresSharing implements Sharing {
  readonly #read: Read;
  readonly #listeners = new Set<() => void>();
  /** Tells the signals of this node from those of others. */
  readonly #node = randomUUID();
  #sending = false;
  #is_due = false;

  constructor(read: Read) {
    this.#read = read;
  }

  /** Listens by these connections from now on. */
  attach(pool: Reads): void {
    const heard = (from: string) => {
      if (from !== this.#node) this.#tell();
    };
    // While nobody can be heard, whoever listens looks by itself; and what was missed meanwhile may be much.
    pool.listen(channel, heard).then(
      () => this.#tell(),
      () => {},
    );
  }

  /** Something was committed here. */
  committed(): void {
    this.#is_due = true;
    if (!this.#sending) void this.#send();
  }

  async #send(): Promise<void> {
    this.#sending = true;
    while (this.#is_due) {
      this.#is_due = false;
      // A signal that is lost delays others until they look by themselves.
      await this.#read((reads) => reads.ask("SELECT pg_notify($1, $2)", channel, this.#node)).catch(() => {});
    }
    this.#sending = false;
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  async now(): Promise<Time> {
    const statement = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now";
    return number((await this.#read((reads) => reads.ask(statement)))[0], "now");
  }

  async beat(beats: readonly Beat[]): Promise<void> {
    const rows = new Rows(beatShape);
    // Of several of one lease the last says it all; two of them in one statement would leave it to chance which.
    const last = new Map(beats.map((beat) => [`${beat.namespace} ${beat.id}`, beat]));
    for (const { namespace, id, fence, at, progress } of last.values()) {
      rows.add({ namespace, id, fence, at, progress: progress === null ? null : JSON.stringify(progress) });
    }
    await this.#read((reads) => reads.ask(putBeats, ...rows.parameters()));
  }

  async follow(after_pos: number, limit: number): Promise<readonly FollowedEvent[]> {
    const rows = await this.#read((reads) => reads.ask(followEvents, after_pos, limit));
    return rows.map((row) => ({ ...eventOf(row), namespace: text(row, "namespace") }));
  }

  async head(): Promise<number> {
    return number((await this.#read((reads) => reads.ask(readHead)))[0], "head");
  }

  listen(onSignal: () => void): () => void {
    this.#listeners.add(onSignal);
    return () => this.#listeners.delete(onSignal);
  }
}
