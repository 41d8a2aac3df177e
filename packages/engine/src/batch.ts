/**
 * One transaction in the making: decides commands in turn, each seeing what those before it decided, and gathers their
 * units. Nothing outside the batch changes until it was committed.
 *
 * Where other nodes write too, a command is first decided on a guess (guesses.ts).
 */

import {
  type Command,
  type Context,
  type CoreLimits,
  type Decision,
  decide,
  type Handoff,
  hasEnded,
  laneOf,
  type Ready,
  readyNow,
  type Time,
  wakeAt,
} from "@handfast/core";
import { idTime } from "@handfast/protocol";
import type { BatchSurroundings } from "./batch-surroundings.ts";
import { Guesses } from "./guesses.ts";
import type { Holder, Wants } from "./jobs.ts";
import { Names } from "./names.ts";
import { readHeld } from "./read-held.ts";
import { Answers, Missing } from "./reading.ts";
import type { Enclosure } from "./requests.ts";
import type { Body } from "./store.ts";
import { UnitBuilder } from "./unit.ts";

interface Named {
  readonly namespace: string;
  readonly id: string;
}

/** What an idempotency key stands for. */
export interface KnownKey {
  readonly id: string;
  readonly content: string;
}

export const nothingEnclosed: Enclosure = { body: null, artifacts: [] };

const none: readonly UnitBuilder[] = [];
const fits: Context["target"] = { kind: "fits", except: [] };
const lane_page = 8;
/** Nothing is purged within so short a time of its making. */
const fresh_id_ms = 1_000;

export class Batch {
  readonly now: Time;
  readonly #around: BatchSurroundings;
  /** Handoffs as this batch leaves them. */
  readonly #changed = new Names<Handoff>();
  /** Those of them that are queued. */
  readonly #queued = new Names<Handoff>();
  /** Handoffs as the store answered: kept for as long as the batch, whatever the cache forgets meanwhile. */
  readonly #read = new Names<Handoff | null>();
  readonly #guesses = new Guesses();
  /** What keys stand for: as the store says, or as this batch took them. */
  readonly #keys = new Map<string, KnownKey | null>();
  readonly #lanesRead = new Answers<readonly string[]>();
  readonly #purged = new Answers<boolean>();
  readonly #bodies = new Answers<Body | null>();
  readonly #due = new Answers<readonly Named[]>();
  readonly #children = new Answers<readonly string[]>();
  readonly #held = new Answers<readonly Handoff[]>();
  /** How many handoffs of each sender this batch accepted. */
  readonly #acceptedFrom = new Names<number>();
  /** Handoffs accepted in this batch, by lane, in order. */
  readonly #lanes = new Names<string[]>();
  readonly #successors = new Names<string>();
  readonly #units: UnitBuilder[] = [];
  /** The unit that last changed a handoff in this batch, and those that the plan in the making has seen the work of. */
  readonly #changedBy = new Names<UnitBuilder>();
  readonly #relied = new Set<UnitBuilder>();
  /** The unit in which a handoff of this batch was accepted: its delivery joins it. */
  readonly #born = new Names<UnitBuilder>();

  constructor(around: BatchSurroundings, now: Time) {
    this.#around = around;
    this.now = now;
  }

  get units(): readonly UnitBuilder[] {
    return this.#units;
  }

  /** Whether other nodes write to the store. */
  get isShared(): boolean {
    return this.#around.store.sharing !== undefined;
  }

  /** What a unit relies on besides what it writes: another node may change it before the commit. */
  relyOn(unit: UnitBuilder, seen: Handoff | null): void {
    if (seen !== null && this.isShared) unit.expected.handoff(seen);
  }

  get timing(): { readonly limits: CoreLimits; readonly resumed_at: Time } {
    return this.#around;
  }

  /** Reads ahead what jobs will look at; `may_guess`: but for what can be guessed. */
  async prefetch(wanted: Iterable<Wants>, may_guess = false): Promise<void> {
    const reads: Promise<void>[] = [];
    const missing = new Map<string, Set<string>>();
    const want = (namespace: string, id: string) => {
      if (this.#isRead(namespace, id) || (may_guess && this.#guessed(namespace, id) !== undefined)) return;
      const ids = missing.get(namespace) ?? new Set();
      missing.set(namespace, ids.add(id));
    };
    for (const wants of wanted) {
      if ("id" in wants) {
        want(wants.namespace, wants.id);
        continue;
      }
      if ("holder" in wants) {
        reads.push(this.#held.read(...this.#askHeld(wants.holder)));
        continue;
      }
      const { namespace, id, from, idempotency_key, causation } = wants.draft;
      if (may_guess && this.isShared) {
        this.#guesses.takeForNew(namespace, id, keyName(namespace, from, idempotency_key));
      } else {
        want(namespace, id);
        reads.push(this.#readKey(namespace, from, idempotency_key));
      }
      if (causation !== null) want(namespace, causation.id);
      if (this.#mayBeUsed(id)) reads.push(this.#purged.read(`${namespace} ${id}`, this.#askPurged(namespace, id)));
      const lane = laneOf(wants.draft);
      if (lane !== null) reads.push(this.#lanesRead.read(...this.#askLane(namespace, lane, lane_page)));
    }
    for (const [namespace, ids] of missing) reads.push(this.#load(namespace, [...ids]));
    if (reads.length > 0) await Promise.all(reads);
  }

  /** The handoff as this unit, this batch, or else the last commit left it. */
  see(namespace: string, id: string, unit?: UnitBuilder): Handoff | null {
    const changed = unit?.see(namespace, id) ?? this.#changedHere(namespace, id);
    const known = changed ?? this.#read.get(namespace, id);
    if (known !== undefined) return known;
    const guess = this.isShared ? this.#guessed(namespace, id) : this.#around.cache.get(namespace, id);
    const read = () => this.#load(namespace, [id]);
    if (guess === undefined) throw new Missing(read);
    if (this.isShared) this.#guesses.made(`${namespace} ${id}`, read);
    return guess;
  }

  /** The same, but never by a guess. */
  sure(namespace: string, id: string, unit?: UnitBuilder): Handoff | null {
    const seen = this.see(namespace, id, unit);
    const read = this.#guesses.readOf(`${namespace} ${id}`);
    if (read !== undefined) throw new Missing(read);
    return seen;
  }

  #isRead(namespace: string, id: string): boolean {
    if (this.#changed.has(namespace, id) || this.#read.get(namespace, id) !== undefined) return true;
    return !this.isShared && this.#around.cache.get(namespace, id) !== undefined;
  }

  /** What a handoff is likely to be, where others write too. */
  #guessed(namespace: string, id: string): Handoff | null | undefined {
    if (!this.isShared) return undefined;
    return this.#guesses.of(namespace, id, this.#around.cache, this.timing, this.now);
  }

  #changedHere(namespace: string, id: string): Handoff | undefined {
    const changed = this.#changed.get(namespace, id);
    const by = changed === undefined ? undefined : this.#changedBy.get(namespace, id);
    if (by !== undefined) this.#relied.add(by);
    return changed;
  }

  /** The units whose work was seen since this was last asked: what was planned on them is true only if they are committed. */
  takeRelied(): readonly UnitBuilder[] {
    this.#guesses.clear();
    if (this.#relied.size === 0) return none;
    const relied = [...this.#relied];
    this.#relied.clear();
    return relied;
  }

  changedHere(namespace: string, id: string): boolean {
    return this.#changed.has(namespace, id);
  }

  /** Every handoff of a namespace that this batch changed, as it leaves it. */
  changedIn(namespace: string): Iterable<Handoff> {
    return this.#changed.of(namespace);
  }

  /** The handoff as this batch leaves it. */
  latest(handoff: Handoff): Handoff {
    return this.#changed.get(handoff.accepted.namespace, handoff.accepted.id) ?? handoff;
  }

  /** The unit that accepted it, if nothing later in this batch changed it. */
  bornIn(handoff: Handoff): UnitBuilder | undefined {
    const { namespace, id } = handoff.accepted;
    const unit = this.#born.get(namespace, id);
    return unit?.see(namespace, id) === handoff ? unit : undefined;
  }

  /** Decides one command and whatever must follow it, into a unit that is not part of the batch yet. */
  decide(
    unit: UnitBuilder,
    namespace: string,
    id: string,
    command: Command,
    given?: Partial<Context>,
    enclosure: Enclosure = nothingEnclosed,
  ): Decision {
    const before = this.see(namespace, id, unit);
    const decision = decide(before, command, this.#context(before, command, given), this.now);
    if (decision.next === null || !decision.durable) this.#guesses.makeSure();
    if (decision.next === null) return decision;
    const body =
      enclosure.body !== null && decision.keep !== null ? { ...enclosure.body, number: decision.keep } : null;
    unit.put(before, decision.next, decision, body, decision.keep === null ? [] : enclosure.artifacts);
    for (const follow of decision.follow) {
      if (follow.kind === "command") this.decide(unit, namespace, follow.id, follow.command);
      else this.#freeLane(unit, namespace, follow.lane);
    }
    return decision;
  }

  /** Makes a unit part of the batch: later commands see it, and it will be committed. */
  add(unit: UnitBuilder): void {
    this.#units.push(unit);
    for (const { next } of unit.pending) this.#leave(next, unit);
  }

  /** A unit that is part of the batch takes up another: only what that one holds has changed. */
  extend(unit: UnitBuilder, by: UnitBuilder): void {
    for (const { next } of by.pending) this.#leave(next, unit);
    unit.absorb(by);
  }

  #leave(next: Handoff, unit: UnitBuilder): void {
    const { namespace, id } = next.accepted;
    this.#changed.set(namespace, id, next);
    // With one writer a unit conflicts only with itself: nobody need know who relied on it.
    if (this.isShared) this.#changedBy.set(namespace, id, unit);
    if (next.status.state === "queued") this.#queued.set(namespace, id, next);
    else this.#queued.delete(namespace, id);
  }

  /** What this batch accepted: its key and its place in its lane count for the submits after it. */
  accepted(unit: UnitBuilder, { accepted }: Handoff): void {
    const { namespace, id, from, idempotency_key } = accepted;
    this.#born.set(namespace, id, unit);
    this.#keys.set(keyName(namespace, from, idempotency_key), accepted);
    this.#acceptedFrom.set(namespace, from, (this.#acceptedFrom.get(namespace, from) ?? 0) + 1);
    const lane = laneOf(accepted);
    if (lane === null) return;
    this.#lanes.set(namespace, lane, [...(this.#lanes.get(namespace, lane) ?? []), id]);
  }

  known(namespace: string, from: string, key: string): KnownKey | null {
    const known = this.#keys.get(keyName(namespace, from, key));
    if (known != null) this.#changedHere(namespace, known.id);
    if (known !== undefined) return known;
    const read = () => this.#readKey(namespace, from, key);
    if (!this.#guesses.isNewKey(keyName(namespace, from, key))) throw new Missing(read);
    this.#guesses.made(keyName(namespace, from, key), read);
    return null;
  }

  /** Whether the id belonged to a handoff that retention dropped. Only an old id can: a fresh one need not be looked up. */
  isUsed(namespace: string, id: string): boolean {
    return this.#mayBeUsed(id) && this.#purged.get(`${namespace} ${id}`, this.#askPurged(namespace, id));
  }

  openOf(namespace: string, from: string): number {
    return this.#around.openOf(namespace, from) + (this.#acceptedFrom.get(namespace, from) ?? 0);
  }

  laneBusy(namespace: string, lane: string | null, unit: UnitBuilder): boolean {
    return lane !== null && this.#laneHead(unit, namespace, lane) !== null;
  }

  /** Handoffs that this batch itself made ready: they need not go to disk before they are delivered. */
  readyHere(namespace: string): readonly Ready[] {
    const ready: Ready[] = [];
    for (const handoff of this.#queued.of(namespace)) {
      const item = readyNow(handoff, this.timing, this.now);
      if (item !== null) ready.push(item);
    }
    return ready;
  }

  /** The handoff's own body: written lately, or on disk. */
  body(namespace: string, id: string): Body | null {
    const { bodies, store } = this.#around;
    const known = bodies.get(namespace, id, "handoff", 0);
    return known ?? this.#bodies.get(`${namespace} ${id}`, () => store.body(namespace, id, "handoff", 0));
  }

  /** Handoffs whose time has come. */
  due(limit: number): readonly Named[] {
    return this.#due.get(`${limit}`, async () => {
      const due = await this.#around.store.due(this.now, limit);
      await this.prefetch(due);
      return due;
    });
  }

  /** The id of the handoff that this dead letter goes on as: the same however often that is planned. */
  successorOf(namespace: string, id: string, newId: () => string): string {
    const known = this.#successors.get(namespace, id);
    if (known !== undefined) return known;
    const made = newId();
    this.#successors.set(namespace, id, made);
    return made;
  }

  openChildren(namespace: string, parent: string, limit: number): readonly string[] {
    return this.#children.get(`${limit} ${namespace} ${parent}`, async () => {
      const ids = await this.#around.store.openChildren(namespace, parent, limit);
      await this.prefetch(ids.map((id) => ({ namespace, id })));
      return ids;
    });
  }

  /** Leases that this worker holds on disk; on a shared store at least those that this request of its got. */
  held(holder: Holder): readonly Handoff[] {
    return this.#held.get(...this.#askHeld(holder));
  }

  #askHeld({ namespace, agent, worker, request_id }: Holder): [string, () => Promise<readonly Handoff[]>] {
    const ask = () => readHeld(this.#around.store, { namespace, agent, worker, request_id }, this.isShared);
    return [`${namespace} ${agent} ${worker} ${request_id}`, ask];
  }

  /** Settles a handoff whose clocks ran out before something else relies on its state. */
  settle(namespace: string, id: string): void {
    const handoff = this.see(namespace, id);
    if (handoff === null || hasEnded(handoff.status)) return;
    const wake_at = wakeAt(handoff, this.timing, this.now);
    if (wake_at === null || wake_at > this.now) return;
    const unit = new UnitBuilder();
    this.decide(unit, namespace, id, { type: "tick" });
    this.add(unit);
  }

  #mayBeUsed(id: string): boolean {
    return idTime(id) <= this.now - fresh_id_ms;
  }

  #askPurged(namespace: string, id: string): () => Promise<boolean> {
    return () => this.#around.store.wasPurged(namespace, id);
  }

  #askLane(namespace: string, lane: string, limit: number): [string, () => Promise<readonly string[]>] {
    const ask = async () => {
      const ids = await this.#around.store.laneMembers(namespace, lane, limit);
      await this.prefetch(ids.map((id) => ({ namespace, id })));
      return ids;
    };
    return [`${limit} ${namespace} ${lane}`, ask];
  }

  async #load(namespace: string, ids: readonly string[]): Promise<void> {
    const loaded = await this.#around.store.load(namespace, ids);
    for (const [index, id] of ids.entries()) {
      const handoff = loaded[index] ?? null;
      this.#read.set(namespace, id, handoff);
      this.#guesses.isSure(`${namespace} ${id}`);
      // On a shared store only what was committed here is remembered: of that, others' commits are told in order.
      if (handoff !== null && !this.isShared) this.#around.cache.set(handoff);
    }
  }

  async #readKey(namespace: string, from: string, key: string): Promise<void> {
    const name = keyName(namespace, from, key);
    this.#keys.set(name, await this.#around.store.key(namespace, from, key));
    this.#guesses.isSure(name);
  }

  #context(before: Handoff | null, command: Command, given: Partial<Context> | undefined): Context {
    return {
      limits: this.#around.limits,
      resumed_at: this.#around.resumed_at,
      random: this.#around.random(),
      known: null,
      parent: null,
      budgets: [],
      lane_busy: false,
      sender_open: 0,
      id_used: false,
      target: fits,
      others: this.#others(before, command),
      ...this.#askerWork(before),
      ...given,
    };
  }

  /** Only where it matters and time is about to end something: it is looked up among all leases. */
  #askerWork(before: Handoff | null): Pick<Context, "asker_work"> {
    if (before?.accepted.contract?.max_concurrent === undefined || hasEnded(before.status)) return {};
    const wake_at = wakeAt(before, this.timing, this.now);
    return wake_at === null || wake_at > this.now ? {} : { asker_work: this.#around.askerWork(before, this.now) };
  }

  #others(before: Handoff | null, command: Command): number {
    if (before === null || (command.type !== "reject" && command.type !== "exclude")) return 0;
    return this.#around.others(before, command.agent);
  }

  #freeLane(unit: UnitBuilder, namespace: string, lane: string): void {
    const head = this.#laneHead(unit, namespace, lane);
    if (head !== null) this.decide(unit, namespace, head, { type: "unblock" });
  }

  /** The first handoff of a lane that is still open after everything decided so far. */
  #laneHead(unit: UnitBuilder, namespace: string, lane: string): string | null {
    for (let limit = lane_page; ; limit *= 4) {
      const members = this.#lanesRead.get(...this.#askLane(namespace, lane, limit));
      if (this.isShared) unit.expected.lane({ namespace, lane, limit, members });
      const open = this.#firstOpen(unit, namespace, members);
      if (open !== null) return open;
      if (members.length < limit) break;
    }
    return this.#firstOpen(unit, namespace, this.#lanes.get(namespace, lane) ?? []);
  }

  #firstOpen(unit: UnitBuilder, namespace: string, ids: readonly string[]): string | null {
    for (const id of ids) {
      const handoff = this.see(namespace, id, unit);
      if (handoff !== null && !hasEnded(handoff.status)) return id;
    }
    return null;
  }
}

/** Names of namespaces and agents hold no space. */
function keyName(namespace: string, from: string, key: string): string {
  return `${namespace} ${from} ${key}`;
}
