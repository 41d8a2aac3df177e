/**
 * A database that several nodes write to, as far as it matters to them: one real store, what each node keeps for its next commit,
 * beats, a clock. A node's calls take time, and it may die during each: then nothing comes back, and what it kept is free.
 */

import type { Duration, Time } from "@handfast/core";
import { liveLease } from "@handfast/core";
import type { Beat, LaneSeen, Sharing, Store, Unit, UnitResult, Write } from "@handfast/engine";
import type { Timeline } from "../world/timeline.ts";

/** A node as its database sees it. */
export interface Session {
  readonly alive: boolean;
  /** Takes a while; a node that dies meanwhile never comes back from it. */
  step(): Promise<void>;
}

export interface DiskMistakes {
  /** What units expect is not held against what is there. */
  readonly expects_ignored?: boolean;
  /** Beats get nowhere. */
  readonly beats_dropped?: boolean;
  /** What a holder said since a decision is not held against it. */
  readonly heard_ignored?: boolean;
}

/** How long a transaction waits for a row that another one keeps before it gives up what it keeps itself. */
const patience_ms: Duration = 1_000;

export class SharedDisk {
  readonly #store: Store;
  readonly #timeline: Timeline;
  readonly #mistakes: DiskMistakes;
  readonly #kept = new Map<string, Session>();
  readonly #beats = new Map<string, Beat>();
  /** Whose workers get it first, and since when. */
  readonly #staying = new Map<string, { readonly session: Session; readonly rank: Time }>();
  readonly #listeners = new Map<(has_left: boolean) => void, Session>();
  /** One commit at a time: what is checked still holds when it is written. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: Store, timeline: Timeline, mistakes: DiskMistakes) {
    this.#store = store;
    this.#timeline = timeline;
    this.#mistakes = mistakes;
  }

  /** The disk itself, for whoever looks at everything afterwards. */
  get store(): Store {
    return this.#store;
  }

  /** What a node that died kept is there for others. */
  release(session: Session): void {
    this.#release(session);
    for (const [listener, by] of this.#listeners) if (by === session) this.#listeners.delete(listener);
  }

  /** The disk as one node sees it. */
  openFor(session: Session): Store {
    const own: Partial<Store> = {
      sharing: this.#sharing(session),
      commit: (units) => this.#commit(session, units),
      load: async (namespace, ids) => this.#withBeats(await this.#store.load(namespace, ids)),
      candidates: async (query) => {
        const found = await this.#store.candidates({ ...query, limit: query.limit + 64 });
        const nameIn = ({ id }: { readonly id: string }) => nameOf(query.namespace, id);
        const free = found.filter((one) => !this.#staysElsewhere(session, nameIn(one), query.stays_ms ?? 0));
        return this.#keep(session, free, nameIn, query.limit);
      },
      due: async (now, limit) => {
        const due = await this.#store.due(now, limit + 64);
        return this.#keep(session, due, ({ namespace, id }) => nameOf(namespace, id), limit);
      },
      recover: async () => this.release(session),
      close: async () => {},
    };
    return new Proxy(this.#store, {
      get: (target, name) => {
        const value: unknown = Reflect.has(own, name) ? Reflect.get(own, name) : Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return async (...given: unknown[]) => {
          await this.#alive(session);
          const answer: unknown = await value.apply(target, given);
          await this.#alive(session);
          return answer;
        };
      },
    });
  }

  async #alive(session: Session): Promise<void> {
    await session.step();
    if (!session.alive) await new Promise(() => {});
  }

  #sharing(session: Session): Sharing {
    return {
      now: async () => {
        await this.#alive(session);
        return this.#timeline.now;
      },
      beat: async (beats) => {
        await this.#alive(session);
        if (this.#mistakes.beats_dropped === true) return beats.map(() => true);
        return Promise.all(beats.map((beat) => this.#beat(beat)));
      },
      follow: async (after_pos, limit) => {
        await this.#alive(session);
        const { events } = await this.#store.events({ namespace: "default", after_pos, limit });
        return events.map((event) => ({ ...event, namespace: "default" }));
      },
      head: async () => {
        await this.#alive(session);
        return (await this.#store.events({ namespace: "default", after_pos: 0, limit: 1 })).head;
      },
      // Of what nodes tell each other besides, nothing here is about.
      recordHead: async () => 0,
      changedRecords: async (after) => ({ names: [], after, is_cut: false }),
      namedRecords: async () => [],
      hear: async () => {},
      heard: async () => ({ signs: [], read_at: this.#timeline.now }),
      nodes: {
        life: "",
        sign: async () => false,
        all: async () => ({ nodes: [], read_at: this.#timeline.now }),
        ask: async () => {},
      },
      appendText: async () => {},
      readText: async () => null,
      listenToText: () => () => {},
      bytes: () => {
        throw new Error("artifacts are not simulated");
      },
      listen: (onSignal) => {
        const heard = (has_left: boolean) => onSignal(null, { has_records: false, has_left });
        this.#listeners.set(heard, session);
        return () => this.#listeners.delete(heard);
      },
    };
  }

  /** After the commit that is under way: it may be that of the lease's end. */
  async #beat(beat: Beat): Promise<boolean> {
    const mine = this.#last.then(async () => {
      const [handoff = null] = await this.#store.load(beat.namespace, [beat.id]);
      const lease = handoff === null ? null : liveLease(handoff);
      if (lease?.agent !== beat.agent || lease.worker !== beat.worker) return false;
      const name = nameOf(beat.namespace, beat.id);
      const known = this.#beats.get(name);
      const is_newer = known === undefined || beat.fence > known.fence;
      if (is_newer || (beat.fence === known.fence && beat.at >= known.at)) this.#beats.set(name, beat);
      return true;
    });
    this.#last = mine.catch(() => undefined);
    return mine;
  }

  #withBeats(handoffs: Awaited<ReturnType<Store["load"]>>): Awaited<ReturnType<Store["load"]>> {
    return handoffs.map((handoff) => {
      const beat =
        handoff === null ? undefined : this.#beats.get(nameOf(handoff.accepted.namespace, handoff.accepted.id));
      const lease = handoff === null ? null : liveLease(handoff);
      if (handoff === null || lease === null || beat === undefined || beat.fence !== lease.fence) return handoff;
      const { status } = handoff;
      if (status.state !== "delivered" && status.state !== "working" && status.state !== "waiting") return handoff;
      if (beat.at < lease.beat_at) return handoff;
      const progress = beat.progress ?? handoff.progress;
      return { ...handoff, status: { ...status, lease: { ...lease, beat_at: beat.at } }, progress };
    });
  }

  /** Of what others do not keep, so many. */
  #keep<Found>(
    session: Session,
    found: readonly Found[],
    nameIn: (one: Found) => string,
    limit: number,
  ): readonly Found[] {
    const kept: Found[] = [];
    for (const one of found) if (kept.length < limit && this.#tryToKeep(session, nameIn(one))) kept.push(one);
    return kept;
  }

  #tryToKeep(session: Session, name: string): boolean {
    const keeper = this.#kept.get(name);
    if (keeper !== undefined && keeper !== session) return false;
    this.#kept.set(name, session);
    return true;
  }

  async #commit(session: Session, units: readonly Unit[]): Promise<readonly UnitResult[]> {
    await this.#untilFree(session, units);
    const mine = this.#last.then(() => this.#write(units));
    this.#last = mine.catch(() => undefined);
    const results = await mine;
    this.#release(session);
    if (units.length > 0) this.#signal(session, this.#leave(session, units));
    return results;
  }

  /** Whether something is left to all alike. */
  #leave(session: Session, units: readonly Unit[]): boolean {
    let has_left = false;
    for (const { writes } of units) {
      for (const { next, find, stays = false } of writes) {
        const name = nameOf(next.accepted.namespace, next.accepted.id);
        this.#staying.delete(name);
        if (find?.queue == null) continue;
        if (stays) this.#staying.set(name, { session, rank: find.rank });
        else has_left = true;
      }
    }
    return has_left;
  }

  #staysElsewhere(session: Session, name: string, stays_ms: Duration): boolean {
    const staying = this.#staying.get(name);
    if (staying === undefined || staying.session === session) return false;
    return Math.abs(this.#timeline.now - staying.rank) <= stays_ms;
  }

  /** As a transaction waits for rows: in a circle, one gives up what it keeps, and is decided on versions alone. */
  async #untilFree(session: Session, units: readonly Unit[]): Promise<void> {
    const names = units.flatMap((unit) => [
      ...unit.writes.map(({ next }) => nameOf(next.accepted.namespace, next.accepted.id)),
      ...(unit.expects?.handoffs ?? []).map(({ namespace, id }) => nameOf(namespace, id)),
    ]);
    const isKept = () => names.some((name) => (this.#kept.get(name) ?? session) !== session);
    for (let waited = 0; isKept(); waited += 1) {
      if (waited >= patience_ms) this.#release(session);
      await this.#timeline.sleep(1);
      if (!session.alive) await new Promise(() => {});
    }
  }

  #release(session: Session): void {
    for (const [name, keeper] of this.#kept) if (keeper === session) this.#kept.delete(name);
  }

  #signal(from: Session, has_left: boolean): void {
    for (const [listener, session] of this.#listeners) {
      if (session !== from && session.alive) this.#timeline.schedule(1, () => listener(has_left));
    }
  }

  /** Nothing comes between: a unit after the other, each held against what it expects. */
  async #write(units: readonly Unit[]): Promise<readonly UnitResult[]> {
    const lanes = new Map<string, readonly string[]>();
    for (const seen of units.flatMap(({ expects }) => expects?.lanes ?? [])) {
      lanes.set(laneName(seen), await this.#store.laneMembers(seen.namespace, seen.lane, seen.limit));
    }
    const tainted = new Set<string>();
    const written = new Set<string>();
    const results: UnitResult[] = [];
    for (const unit of units) {
      const handoffs = unit.writes.map(({ next: { accepted } }) => nameOf(accepted.namespace, accepted.id));
      const ours = [...handoffs, ...(unit.expects?.lanes ?? []).map(laneName)];
      const isWrong =
        ours.some((name) => tainted.has(name)) ||
        unit.writes.some((write, nth) => !written.has(handoffs[nth] ?? "") && this.#hasSpokenSince(write)) ||
        !(await this.#isAsExpected(unit, lanes));
      const [result = "conflict"] = isWrong ? [] : await this.#store.commit([unit]);
      if (result === "conflict") for (const name of ours) tainted.add(name);
      else for (const name of handoffs) written.add(name);
      results.push(result);
    }
    return results;
  }

  /** Its holder beat at another node, which was not known where this was decided. */
  #hasSpokenSince({ heard, next: { accepted } }: Write): boolean {
    if (heard === undefined || this.#mistakes.heard_ignored === true) return false;
    const beat = this.#beats.get(nameOf(accepted.namespace, accepted.id));
    return beat !== undefined && beat.fence === heard.fence && beat.at > heard.at;
  }

  async #isAsExpected({ expects }: Unit, lanes: ReadonlyMap<string, readonly string[]>): Promise<boolean> {
    if (expects === undefined || this.#mistakes.expects_ignored === true) return true;
    for (const { namespace, id, version } of expects.handoffs) {
      const [handoff] = await this.#store.load(namespace, [id]);
      if ((handoff?.version ?? 0) !== version) return false;
    }
    return expects.lanes.every((seen) => {
      const members = lanes.get(laneName(seen)) ?? [];
      return members.length === seen.members.length && members.every((id, nth) => id === seen.members[nth]);
    });
  }
}

function nameOf(namespace: string, id: string): string {
  return `${namespace} ${id}`;
}

function laneName({ namespace, lane, limit }: LaneSeen): string {
  return `${namespace} ${limit} ${lane}`;
}
