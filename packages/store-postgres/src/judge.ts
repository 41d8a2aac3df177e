/**
 * Which units of a batch may be written, given the rows, keys and records as they are, all locked: a pure function, so that
 * a conflict costs nothing and the statements that follow write what is known to hold.
 *
 * Several writes to one handoff, of one unit or of several, become one write of its last state.
 */

import type { LaneSeen, RecordWrite, Unit, UnitResult, Write } from "@handfast/engine";
import { ensure } from "./errors.ts";
import type { Standing } from "./standing.ts";

/** A handoff's row as it was found. */
export interface KnownRow {
  readonly num: number;
  readonly version: number;
  readonly standing: Standing;
  /** The last sign of whoever holds it; null: there was none. */
  readonly heard: NonNullable<Write["heard"]> | null;
}

export interface Known {
  /** By `nameOf`. */
  readonly rows: ReadonlyMap<string, KnownRow>;
  /** By `keyOf`. */
  readonly keys: ReadonlySet<string>;
  /** Versions, by `recordName`. */
  readonly records: ReadonlyMap<string, number>;
  /** Members of the lanes that units expect something of, by `laneName`. */
  readonly lanes: ReadonlyMap<string, readonly string[]>;
}

/** One handoff that the batch writes. */
export interface Target {
  /** Null: it is new. */
  readonly before: KnownRow | null;
  readonly first: Write;
  last: Write;
}

export interface Judgement {
  readonly results: readonly UnitResult[];
  /** The units to be written. */
  readonly units: readonly Unit[];
  /** By `nameOf`. */
  readonly targets: ReadonlyMap<string, Target>;
  /** The last write to each record, and whether it was there. */
  readonly records: ReadonlyMap<string, { readonly existed: boolean; readonly write: RecordWrite }>;
}

export function judge(units: readonly Unit[], known: Known): Judgement {
  const court = new Court(known);
  const results = units.map((unit) => court.judge(unit));
  return { results, units: units.filter((_, index) => results[index] === "ok"), ...court.verdict() };
}

class Court {
  readonly #known: Known;
  readonly #targets = new Map<string, Target>();
  readonly #keys: Set<string>;
  readonly #records = new Map<string, { existed: boolean; write: RecordWrite }>();
  /** What was decided on a unit that conflicted was decided on something that never was. */
  readonly #tainted = new Set<string>();

  constructor(known: Known) {
    this.#known = known;
    this.#keys = new Set(known.keys);
  }

  verdict(): Pick<Judgement, "targets" | "records"> {
    return { targets: this.#targets, records: this.#records };
  }

  judge(unit: Unit): UnitResult {
    const is_tainted = this.#tainted.size > 0 && namesIn(unit).some((name) => this.#tainted.has(name));
    const writes = is_tainted || !this.#isAsExpected(unit) ? null : this.#check(unit.writes);
    if (writes === null || !this.#recordsAsExpected(unit.records)) {
      for (const name of namesIn(unit)) this.#tainted.add(name);
      return "conflict";
    }
    for (const [name, target] of writes.targets) this.#targets.set(name, target);
    for (const key of writes.keys) this.#keys.add(key);
    for (const write of unit.records) {
      const name = recordName(write);
      const existed = this.#records.get(name)?.existed ?? this.#known.records.has(name);
      this.#records.set(name, { existed, write });
    }
    return "ok";
  }

  /** Handoffs as this batch leaves them so far; lanes as they were before it, which is how each of its units saw them. */
  #isAsExpected({ expects }: Unit): boolean {
    if (expects === undefined) return true;
    const handoffs = expects.handoffs.every(({ version, ...named }) => {
      const name = handoffName(named);
      return (this.#targets.get(name)?.last.next.version ?? this.#known.rows.get(name)?.version ?? 0) === version;
    });
    return (
      handoffs &&
      expects.lanes.every((lane) => {
        const members = this.#known.lanes.get(laneName(lane)) ?? [];
        return members.length === lane.members.length && members.every((id, nth) => id === lane.members[nth]);
      })
    );
  }

  /** What the writes of one unit aim at, or null where a version or key is not as expected. */
  #check(writes: readonly Write[]): { targets: Map<string, Target>; keys: Set<string> } | null {
    const targets = new Map<string, Target>();
    const keys = new Set<string>();
    for (const write of writes) {
      const { id } = write.next.accepted;
      ensure(write.next.version > write.expected_version, `handoff ${id}: its version must rise with a write`);
      const name = nameOf(write);
      const own = targets.get(name);
      ensure(own === undefined || own.last.purge === null, `handoff ${id}: nothing can be written after its purge`);
      const earlier = own ?? this.#targets.get(name);
      if (earlier !== undefined) {
        // Where the batch has purged it, whatever comes after is for another batch.
        if (earlier.last.purge !== null || earlier.last.next.version !== write.expected_version) return null;
        targets.set(name, { ...earlier, last: write });
        continue;
      }
      const row = this.#known.rows.get(name) ?? null;
      if ((row?.version ?? 0) !== write.expected_version || hasSpokenSince(row, write)) return null;
      if (row === null) {
        ensure(write.events.length > 0, `handoff ${id}: a new handoff comes with its accept event`);
        const key = keyOf(write);
        if (this.#keys.has(key) || keys.has(key)) return null;
        keys.add(key);
      }
      targets.set(name, { before: row, first: write, last: write });
    }
    return { targets, keys };
  }

  #recordsAsExpected(writes: readonly RecordWrite[]): boolean {
    const seen = new Set<string>();
    return writes.every((write) => {
      const name = recordName(write);
      ensure(!seen.has(name), `record ${name}: written twice in one unit`);
      seen.add(name);
      const earlier = this.#records.get(name)?.write;
      const version = earlier === undefined ? (this.#known.records.get(name) ?? 0) : versionAfter(earlier);
      return version === write.expected_version;
    });
  }
}

/** Its holder beat where this was not known yet: what was decided may be that it is silent. */
function hasSpokenSince(row: KnownRow | null, { heard }: Write): boolean {
  return row?.heard != null && row.heard.fence === heard?.fence && row.heard.at > heard.at;
}

function versionAfter({ expected_version, value }: RecordWrite): number {
  return value === undefined ? 0 : expected_version + 1;
}

/** Whatever of a unit that conflicts later units may have been decided on: its handoffs and its lanes. */
function namesIn({ writes, expects }: Unit): readonly string[] {
  return [...writes.map(nameOf), ...(expects?.lanes ?? []).map(laneName)];
}

/** JSON keeps apart names that would otherwise read alike. */
export function nameOf({ next: { accepted } }: Write): string {
  return handoffName(accepted);
}

export function handoffName({ namespace, id }: { readonly namespace: string; readonly id: string }): string {
  return JSON.stringify([namespace, id]);
}

/** A look at so many of a lane's first members. */
export function laneName({ namespace, lane, limit }: Omit<LaneSeen, "members">): string {
  return JSON.stringify([namespace, "lane", lane, limit]);
}

export function keyOf({ next: { accepted } }: Write): string {
  return JSON.stringify([accepted.namespace, accepted.from, accepted.idempotency_key]);
}

export function recordName({ namespace, kind, key }: Pick<RecordWrite, "namespace" | "kind" | "key">): string {
  return JSON.stringify([namespace, kind, key]);
}
