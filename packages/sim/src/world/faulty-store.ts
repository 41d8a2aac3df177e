/**
 * One relay process's hold on the disk: slow at times, and its commits fail at times, before or after they really
 * happened. When the process dies, whatever it still waited for never comes.
 */

import type { Duration, Time } from "@handfast/core";
import type { EventQuery, ListQuery, Space, Store, Unit } from "@handfast/engine";
import type { Decisions } from "../coverage/decisions.ts";
import { commonCommands } from "../coverage/rows.ts";
import type { Random } from "../random.ts";
import type { Tally } from "../run/tally.ts";
import type { Faults } from "../scenario/faults.ts";
import type { Scenario } from "../scenario/scenario.ts";

/** A fault that the simulation put in: the engine must live with it. */
export class InjectedFault extends Error {
  override readonly name = "InjectedFault";
}

export interface StoreProcess {
  readonly alive: boolean;
  pause(delay_ms: Duration): Promise<void>;
  /** A commit begins; returns how to say that it has ended well. */
  commits(): () => void;
}

export interface FaultyStoreOptions {
  readonly disk: Store;
  /** Through the ledger, which sees what really happened. */
  readonly commit: Store["commit"];
  readonly prune: Store["prune"];
  readonly random: Random;
  readonly scenario: Scenario;
  readonly faults: () => Faults;
  readonly decisions: Decisions;
  readonly tally: Tally;
  readonly space: () => Space;
  readonly isHealed: () => boolean;
}

/** How much likelier something happens to a commit that holds the command which this seed hunts. */
const hunted_extra = 0.2;
/** Failing all of these would leave nothing standing. */
const hunted_common_extra = 0.03;

export class FaultyStore implements Store {
  readonly #options: FaultyStoreOptions & { readonly crash: (delay_ms: Duration) => void };
  readonly #disk: Store;
  readonly #process: StoreProcess;
  readonly #random: Random;
  #broken = false;
  /** Its last commit holds what this seed hunts. */
  #isHunted = false;

  constructor(options: FaultyStoreOptions & { readonly crash: (delay_ms: Duration) => void }, process: StoreProcess) {
    this.#options = options;
    this.#disk = options.disk;
    this.#random = options.random.fork();
    this.#process = process;
  }

  async commit(units: readonly Unit[]) {
    const { decisions, scenario } = this.#options;
    const faults = this.#options.faults();
    const random = this.#random;
    const commands = decisions.commit();
    const { hunted } = scenario;
    this.#isHunted = hunted !== null && !this.#options.isHealed() && commands.some((command) => command === hunted);
    const extra =
      this.#isHunted && hunted !== null ? (commonCommands.has(hunted) ? hunted_common_extra : hunted_extra) : 0;
    const ended = this.#process.commits();
    await this.#write(faults.commit_slow, extra);
    if (this.#broken) throw new InjectedFault("the store was not recovered");
    if (random.chance(faults.commit_fails_before + extra)) throw this.#fail("commit failed before");
    const results = await this.#options.commit(units);
    // Between the bytes and the answer a relay can still die.
    if (random.chance(0.3)) await this.#process.pause(random.between(0, 2));
    if (random.chance(faults.commit_fails_after + extra)) throw this.#fail("commit failed after");
    decisions.committed();
    ended();
    return results;
  }

  async #write(commit_slow: number, extra: number): Promise<void> {
    const { decisions, scenario, crash } = this.#options;
    const random = this.#random;
    const isSlow = random.chance(commit_slow + extra);
    const took_ms = isSlow ? random.skewed(50, 15_000) : random.between(0, scenario.commit_most_ms);
    if (isSlow) {
      this.#options.tally.add("faults", "commit slow");
      decisions.hit("commit slow");
    }
    if (random.chance(extra / 4)) crash(took_ms / 2);
    if (took_ms > 0) await this.#process.pause(took_ms);
  }

  async recover(): Promise<void> {
    const { decisions, tally, faults } = this.#options;
    await this.#process.pause(this.#random.between(1, 50));
    if (this.#random.chance(faults().recovery_fails + (this.#isHunted ? hunted_extra : 0))) {
      tally.add("faults", "recovery failed");
      decisions.hit("recovery failed");
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
  leases() {
    return this.#read((disk) => disk.leases());
  }
  lastServed(...query: Parameters<Store["lastServed"]>) {
    return this.#read((disk) => disk.lastServed(...query));
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
    return this.#read(() => this.#options.prune(now, events_before, limit));
  }
  /** Memory has no end: how full the disk is, the scenario says. */
  space() {
    return this.#read(async () => this.#options.space());
  }
  latest() {
    return this.#read((disk) => disk.latest());
  }
  backup(path: string) {
    return this.#read((disk) => disk.backup(path));
  }
  /** The disk outlives the process. */
  async close(): Promise<void> {}

  #read<T>(read: (disk: Store) => Promise<T>): Promise<T> {
    if (!this.#process.alive) return new Promise(() => {});
    if (this.#broken) return Promise.reject(new InjectedFault("the store was not recovered"));
    return read(this.#disk);
  }

  #fail(kind: "commit failed before" | "commit failed after"): InjectedFault {
    const { decisions, tally } = this.#options;
    tally.add("faults", kind);
    decisions.hit(kind);
    this.#broken = true;
    return new InjectedFault(kind);
  }
}
