/**
 * One relay process's hold on the disk: slow at times, and its commits fail at times, before or after they really
 * happened. When the process dies, whatever it still waited for never comes.
 */

import type { Duration, Time } from "@handfast/core";
import type { EventQuery, ListQuery, Store, Unit } from "@handfast/engine";
import type { Faults } from "./faults.ts";
import type { Random } from "./random.ts";
import type { Tally } from "./tally.ts";

/** A fault that the simulation put in: the engine must live with it. */
export class InjectedFault extends Error {
  override readonly name = "InjectedFault";
}

export interface StoreProcess {
  readonly alive: boolean;
  pause(delay_ms: Duration): Promise<void>;
}

export class FaultyStore implements Store {
  readonly #disk: Store;
  readonly #process: StoreProcess;
  readonly #random: Random;
  readonly #faults: () => Faults;
  readonly #tally: Tally;
  #broken = false;

  constructor(disk: Store, process: StoreProcess, random: Random, faults: () => Faults, tally: Tally) {
    this.#disk = disk;
    this.#process = process;
    this.#random = random;
    this.#faults = faults;
    this.#tally = tally;
  }

  async commit(units: readonly Unit[]) {
    const faults = this.#faults();
    const slow = this.#random.chance(faults.commit_slow);
    if (slow) this.#tally.add("faults", "slow commit");
    await this.#process.pause(slow ? this.#random.skewed(50, 15_000) : this.#random.between(0, 2));
    if (this.#broken) throw new InjectedFault("the store was not recovered");
    if (this.#random.chance(faults.commit_fails_before)) throw this.#fail("commit failed before");
    const results = await this.#disk.commit(units);
    await this.#process.pause(this.#random.between(0, 1));
    if (this.#random.chance(faults.commit_fails_after)) throw this.#fail("commit failed after");
    return results;
  }

  async recover(): Promise<void> {
    await this.#process.pause(this.#random.between(1, 50));
    if (this.#random.chance(this.#faults().recovery_fails)) {
      this.#tally.add("faults", "recovery failed");
      throw new InjectedFault("the disk cannot be read");
    }
    await this.#disk.recover();
    this.#broken = false;
  }

  load(namespace: string, ids: readonly string[]) {
    return this.#read((disk) => disk.load(namespace, ids));
  }
  key(namespace: string, from: string, key: string) {
    return this.#read((disk) => disk.key(namespace, from, key));
  }
  body(...query: Parameters<Store["body"]>) {
    return this.#read((disk) => disk.body(...query));
  }
  bodies(namespace: string, id: string) {
    return this.#read((disk) => disk.bodies(namespace, id));
  }
  candidates(query: Parameters<Store["candidates"]>[0]) {
    return this.#read((disk) => disk.candidates(query));
  }
  due(now: Time, limit: number) {
    return this.#read((disk) => disk.due(now, limit));
  }
  nextDue() {
    return this.#read((disk) => disk.nextDue());
  }
  laneMembers(namespace: string, lane: string, limit: number) {
    return this.#read((disk) => disk.laneMembers(namespace, lane, limit));
  }
  held(namespace: string, agent: string, worker: string) {
    return this.#read((disk) => disk.held(namespace, agent, worker));
  }
  openChildren(namespace: string, parent: string, limit: number) {
    return this.#read((disk) => disk.openChildren(namespace, parent, limit));
  }
  list(query: ListQuery) {
    return this.#read((disk) => disk.list(query));
  }
  wasPurged(namespace: string, id: string) {
    return this.#read((disk) => disk.wasPurged(namespace, id));
  }
  openBySender() {
    return this.#read((disk) => disk.openBySender());
  }
  counts(namespace: string) {
    return this.#read((disk) => disk.counts(namespace));
  }
  events(query: EventQuery) {
    return this.#read((disk) => disk.events(query));
  }
  referrers(namespace: string, sha256: string, limit: number) {
    return this.#read((disk) => disk.referrers(namespace, sha256, limit));
  }
  records(namespace: string, kind: string) {
    return this.#read((disk) => disk.records(namespace, kind));
  }
  record(namespace: string, kind: string, key: string) {
    return this.#read((disk) => disk.record(namespace, kind, key));
  }
  prune(now: Time, events_before: Time, limit: number) {
    return this.#read((disk) => disk.prune(now, events_before, limit));
  }
  space() {
    return this.#read((disk) => disk.space());
  }
  latest() {
    return this.#read((disk) => disk.latest());
  }
  backup(path: string) {
    return this.#read((disk) => disk.backup(path));
  }
  /** The disk outlives the process. */
  async close(): Promise<void> {}

  async #read<T>(read: (disk: Store) => Promise<T>): Promise<T> {
    if (!this.#process.alive) return new Promise(() => {});
    if (this.#broken) throw new InjectedFault("the store was not recovered");
    return read(this.#disk);
  }

  #fail(kind: string): InjectedFault {
    this.#tally.add("faults", kind);
    this.#broken = true;
    return new InjectedFault(kind);
  }
}
