/**
 * One transaction in the making: decides commands in turn, each seeing what those before it decided, and gathers their
 * units. Nothing outside the batch changes until it was committed.
 */

import {
  type Command,
  type Context,
  type CoreLimits,
  type Decision,
  decide,
  findable,
  type Handoff,
  hasEnded,
  laneOf,
  type Ready,
  type Time,
  wakeAt,
} from "@handfast/core";
import { idTime } from "@handfast/protocol";
import type { BodyCache } from "./body-cache.ts";
import { type HandoffCache, handoffKey } from "./cache.ts";
import type { Enclosure } from "./requests.ts";
import type { Body, Store } from "./store.ts";
import { UnitBuilder } from "./unit.ts";

export interface BatchSurroundings {
  readonly store: Store;
  readonly cache: HandoffCache;
  readonly bodies: BodyCache;
  readonly limits: CoreLimits;
  readonly resumed_at: Time;
  readonly random: () => number;
  /** How many agents besides this one and those excluded offer what the handoff needs. */
  readonly others: (handoff: Handoff, besides: string) => number;
  /** How many handoffs this sender has open. */
  readonly openOf: (namespace: string, from: string) => number;
}

export const nothingEnclosed: Enclosure = { body: null, artifacts: [] };

const lane_page = 8;
/** Nothing is purged within so short a time of its making. */
const fresh_id_ms = 1_000;

export class Batch {
  readonly now: Time;
  readonly #around: BatchSurroundings;
  readonly #seen = new Map<string, Handoff>();
  readonly #keys = new Map<string, { readonly id: string; readonly content: string }>();
  /** How many handoffs of each sender this batch accepted. */
  readonly #acceptedFrom = new Map<string, number>();
  /** Handoffs accepted in this batch, by lane, in order. */
  readonly #lanes = new Map<string, string[]>();
  readonly #units: UnitBuilder[] = [];
  /** The unit in which a handoff of this batch was accepted: its delivery joins it. */
  readonly #born = new Map<string, UnitBuilder>();

  constructor(around: BatchSurroundings, now: Time) {
    this.#around = around;
    this.now = now;
  }

  get units(): readonly UnitBuilder[] {
    return this.#units;
  }

  get timing(): { readonly limits: CoreLimits; readonly resumed_at: Time } {
    return this.#around;
  }

  /** Reads what the jobs will need in one go. */
  async prefetch(wanted: readonly { readonly namespace: string; readonly id: string }[]): Promise<void> {
    const missing = Map.groupBy(
      wanted.filter(({ namespace, id }) => this.#around.cache.get(handoffKey(namespace, id)) === undefined),
      ({ namespace }) => namespace,
    );
    for (const [namespace, items] of missing) {
      const ids = [...new Set(items.map(({ id }) => id))];
      for (const handoff of await this.#around.store.load(namespace, ids)) {
        if (handoff !== null) this.#around.cache.set(handoffKey(namespace, handoff.accepted.id), handoff);
      }
    }
  }

  /** The handoff as this unit, this batch, or else the last commit left it. */
  async see(namespace: string, id: string, unit?: UnitBuilder): Promise<Handoff | null> {
    const key = handoffKey(namespace, id);
    const known = unit?.see(key) ?? this.#seen.get(key) ?? this.#around.cache.get(key);
    if (known !== undefined) return known;
    const [loaded] = await this.#around.store.load(namespace, [id]);
    if (loaded == null) return null;
    this.#around.cache.set(key, loaded);
    return loaded;
  }

  changedHere(namespace: string, id: string): boolean {
    return this.#seen.has(handoffKey(namespace, id));
  }

  /** The handoff as this batch leaves it. */
  latest(handoff: Handoff): Handoff {
    const { namespace, id } = handoff.accepted;
    return this.#seen.get(handoffKey(namespace, id)) ?? handoff;
  }

  /** The unit that accepted it, if nothing later in this batch changed it. */
  bornIn(handoff: Handoff): UnitBuilder | undefined {
    const key = handoffKey(handoff.accepted.namespace, handoff.accepted.id);
    const unit = this.#born.get(key);
    return unit?.see(key) === handoff ? unit : undefined;
  }

  /** Decides one command and whatever must follow it, into a unit that is not part of the batch yet. */
  async decide(
    unit: UnitBuilder,
    namespace: string,
    id: string,
    command: Command,
    given: Partial<Context> = {},
    enclosure: Enclosure = nothingEnclosed,
  ): Promise<Decision> {
    const before = await this.see(namespace, id, unit);
    const context = this.#context(before, command, given);
    const decision = decide(before, command, context, this.now);
    if (decision.next === null) return decision;
    const body =
      enclosure.body !== null && decision.keep !== null ? { ...enclosure.body, number: decision.keep } : null;
    unit.put(before, decision.next, decision, body, decision.keep === null ? [] : enclosure.artifacts);
    for (const follow of decision.follow) {
      if (follow.kind === "command") await this.decide(unit, namespace, follow.id, follow.command);
      else await this.#freeLane(unit, namespace, follow.lane);
    }
    return decision;
  }

  /** Makes a unit part of the batch: later commands see it, and it will be committed. */
  add(unit: UnitBuilder): void {
    this.#units.push(unit);
    for (const [key, handoff] of unit.handoffs) this.#seen.set(key, handoff);
  }

  /** A unit that is part of the batch changed this handoff again; its others may have gone on in later units. */
  extended(handoff: Handoff): void {
    this.#seen.set(handoffKey(handoff.accepted.namespace, handoff.accepted.id), handoff);
  }

  /** What this batch accepted: its key and its place in its lane count for the submits after it. */
  accepted(unit: UnitBuilder, handoff: Handoff): void {
    const { accepted } = handoff;
    this.#born.set(handoffKey(accepted.namespace, accepted.id), unit);
    this.#keys.set(senderKey(accepted.namespace, accepted.from, accepted.idempotency_key), accepted);
    const sender = handoffKey(accepted.namespace, accepted.from);
    this.#acceptedFrom.set(sender, (this.#acceptedFrom.get(sender) ?? 0) + 1);
    const lane = laneOf(accepted);
    if (lane === null) return;
    const key = handoffKey(accepted.namespace, lane);
    this.#lanes.set(key, [...(this.#lanes.get(key) ?? []), accepted.id]);
  }

  async known(
    namespace: string,
    from: string,
    key: string,
  ): Promise<{ readonly id: string; readonly content: string } | null> {
    return this.#keys.get(senderKey(namespace, from, key)) ?? (await this.#around.store.key(namespace, from, key));
  }

  /** Whether the id belonged to a handoff that retention dropped. Only an old id can: a fresh one need not be looked up. */
  async isUsed(namespace: string, id: string): Promise<boolean> {
    const is_fresh = idTime(id) > this.now - fresh_id_ms;
    return !is_fresh && (await this.#around.store.wasPurged(namespace, id));
  }

  openOf(namespace: string, from: string): number {
    return this.#around.openOf(namespace, from) + (this.#acceptedFrom.get(handoffKey(namespace, from)) ?? 0);
  }

  async laneBusy(namespace: string, lane: string | null, unit: UnitBuilder): Promise<boolean> {
    return lane !== null && (await this.#laneHead(unit, namespace, lane)) !== null;
  }

  /** Handoffs that this batch itself made ready: they need not go to disk before they are delivered. */
  readyHere(namespace: string): readonly Ready[] {
    const ready: Ready[] = [];
    for (const handoff of this.#seen.values()) {
      if (handoff.accepted.namespace !== namespace) continue;
      const { queue, rank } = findable(handoff, this.timing, this.now);
      if (queue === null) continue;
      const { excluded, avoid, prefer, accepted } = handoff;
      ready.push({ id: accepted.id, queue, rank, excluded, avoid, prefer });
    }
    return ready;
  }

  get changed(): IterableIterator<[string, Handoff]> {
    return this.#seen.entries();
  }

  /** A body that this batch is about to write, that was written lately, or that is on disk. */
  async body(namespace: string, id: string): Promise<Body | null> {
    const known = this.#around.bodies.get(handoffKey(namespace, id));
    return known ?? (await this.#around.store.body(namespace, id, "handoff", 0));
  }

  /** Settles a handoff whose clocks ran out before something else relies on its state. */
  async settle(namespace: string, id: string): Promise<void> {
    const handoff = await this.see(namespace, id);
    if (handoff === null || hasEnded(handoff.status)) return;
    const wake_at = wakeAt(handoff, this.timing, this.now);
    if (wake_at === null || wake_at > this.now) return;
    const unit = new UnitBuilder();
    await this.decide(unit, namespace, id, { type: "tick" });
    this.add(unit);
  }

  #context(before: Handoff | null, command: Command, given: Partial<Context>): Context {
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
      target: { kind: "fits", except: [] },
      others: this.#others(before, command),
      ...given,
    };
  }

  #others(before: Handoff | null, command: Command): number {
    if (before === null || (command.type !== "reject" && command.type !== "exclude")) return 0;
    return this.#around.others(before, command.agent);
  }

  async #freeLane(unit: UnitBuilder, namespace: string, lane: string): Promise<void> {
    const head = await this.#laneHead(unit, namespace, lane);
    if (head !== null) await this.decide(unit, namespace, head, { type: "unblock" });
  }

  /** The first handoff of a lane that is still open after everything decided so far. */
  async #laneHead(unit: UnitBuilder, namespace: string, lane: string): Promise<string | null> {
    for (let limit = lane_page; ; limit *= 4) {
      const members = await this.#around.store.laneMembers(namespace, lane, limit);
      const open = await this.#firstOpen(unit, namespace, members);
      if (open !== null) return open;
      if (members.length < limit) break;
    }
    return this.#firstOpen(unit, namespace, this.#lanes.get(handoffKey(namespace, lane)) ?? []);
  }

  async #firstOpen(unit: UnitBuilder, namespace: string, ids: readonly string[]): Promise<string | null> {
    for (const id of ids) {
      const handoff = await this.see(namespace, id, unit);
      if (handoff !== null && !hasEnded(handoff.status)) return id;
    }
    return null;
  }
}

function senderKey(namespace: string, from: string, key: string): string {
  return JSON.stringify([namespace, from, key]);
}
