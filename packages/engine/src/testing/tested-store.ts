/** For the tests of stores: the store that is open in a test, and the shortest way to write to it and to read it. */

import type { Handoff, HandoffEvent } from "@handfast/core";
import { afterEach, beforeEach, expect } from "vitest";
import { unit } from "../store.samples.ts";
import type { EventPage, EventQuery, ListQuery, Store, Unit, UnitResult, Write } from "../store.ts";

export const ns = "default";
export const day_ms = 86_400_000;

export interface OpenStore {
  readonly store: Store;
  /** Closes the store and opens the same one again; absent where nothing outlives the process. */
  reopen?(): Promise<Store>;
  /** Makes a backup and opens it as a store of its own; absent where the store leaves backups to other tools. */
  copy?(): Promise<Store>;
  close(): Promise<void>;
}

/** Opened for each test of the suite that it is made in, and closed after it. */
export class TestedStore {
  #opened: OpenStore | null = null;
  /** Where it was opened again. */
  #again: Store | null = null;

  constructor(open: () => Promise<OpenStore>) {
    beforeEach(async () => {
      this.#opened = await open();
      this.#again = null;
    });
    afterEach(() => this.opened.close());
  }

  get opened(): OpenStore {
    if (this.#opened === null) throw new Error("the store is not open yet");
    return this.#opened;
  }

  get store(): Store {
    return this.#again ?? this.opened.store;
  }

  /** The same store, opened again; where it does not outlive the process it goes on as it is. */
  readonly reopen = async (): Promise<void> => {
    const { opened } = this;
    if (opened.reopen !== undefined) this.#again = await opened.reopen();
  };

  readonly commit = (...units: Unit[]): Promise<readonly UnitResult[]> => this.store.commit(units);

  /** Commits each write as a unit of its own and says what became of the handoffs. */
  readonly commitAll = async (writes: readonly Write[]): Promise<readonly Handoff[]> => {
    const results = await this.store.commit(writes.map((write) => unit(write)));
    expect(results).toEqual(writes.map(() => "ok"));
    return writes.map((write) => write.next);
  };

  readonly commitOne = async (write: Write): Promise<Handoff> => {
    expect(await this.store.commit([unit(write)])).toEqual(["ok"]);
    return write.next;
  };

  readonly load = async (id: string, namespace = ns): Promise<Handoff | null | undefined> =>
    (await this.store.load(namespace, [id]))[0];

  readonly list = async (query: Partial<ListQuery>): Promise<readonly string[]> => {
    const page = await this.store.list({ namespace: ns, order: "oldest", limit: 100, ...query });
    return page.handoffs.map((handoff) => handoff.accepted.id);
  };

  readonly events = (query: Partial<EventQuery>): Promise<EventPage> =>
    this.store.events({ namespace: ns, after_pos: 0, limit: 1_000, ...query });

  readonly told = async (query: Partial<EventQuery>): Promise<readonly HandoffEvent[]> =>
    (await this.events(query)).events.map(({ json }) => JSON.parse(json));
}
