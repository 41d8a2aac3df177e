/**
 * What each agent offered of late and does not offer any more: whoever drops a capability for one call must not be taken for a
 * stranger to its trade. Kept by name apart from the agent's record, since an agent may have itself forgotten and come back.
 *
 * Bounded per agent and over all. An agent that drops more names than are kept is taken to have offered anything, until the last
 * name that was pushed out would have been forgotten anyway: nobody buries one name under many.
 */

import type { Time } from "@handfast/core";
import type { RelayLimits } from "../limits.ts";
import { Expiries } from "./expiries.ts";
import { type Change, RecordTable } from "./record-table.ts";
import type { Records } from "./records.ts";

/** What is stored (record kind `offered_before`, by agent). */
interface Dropped {
  /** When each was last offered, the latest last. */
  readonly names: readonly { readonly name: string; readonly at: Time }[];
  /** When the last of those was offered that there was no room for. */
  readonly crowded_at?: Time;
}

/** A capability, as far as it matters here. */
interface Named {
  readonly name: string;
}

const nothing: Dropped = { names: [] };

export class OfferedBefore {
  private readonly limits: RelayLimits;
  private readonly rows: RecordTable<Dropped>;
  /** When each row tells nothing any more. */
  private readonly due = new Expiries();
  private total = 0;

  constructor(namespace: string, limits: RelayLimits) {
    this.limits = limits;
    this.rows = new RecordTable(namespace, "offered_before", {
      remove: (agent, dropped) => this.count(agent, dropped, nothing),
      add: (agent, dropped) => this.count(agent, nothing, dropped),
    });
  }

  async load(records: Records): Promise<void> {
    await this.rows.load(records);
    this.due.clear();
    this.total = 0;
    for (const [agent, dropped] of this.rows.entries()) this.count(agent, nothing, dropped);
  }

  /** `capability` null: anything. */
  has(agent: string, capability: string | null, now: Time): boolean {
    const { names, crowded_at } = this.rows.get(agent) ?? nothing;
    const oldest = now - this.limits.offered_before_ms;
    if (crowded_at !== undefined && crowded_at > oldest) return true;
    return names.some(({ name, at }) => (capability === null || name === capability) && at > oldest);
  }

  /** The changes that remember what an agent offered up to now, and forget what was remembered for long enough. */
  dropping(agent: string, before: readonly Named[], after: readonly Named[], now: Time): readonly Change[] {
    const known = this.rows.get(agent);
    const next = this.next(known ?? nothing, before.map(nameOf), after.map(nameOf), now);
    const is_same =
      next.names.length === known?.names.length && next.names.every((each, at) => each === known.names[at]);
    const own = is_same || (known === undefined && sizeOf(next) === 0) ? [] : [this.set(agent, next)];
    return [...own, ...this.outlived(agent, now)];
  }

  private next(
    { names, crowded_at }: Dropped,
    before: readonly string[],
    after: readonly string[],
    now: Time,
  ): Dropped {
    const oldest = now - this.limits.offered_before_ms;
    const offered = new Set([...before, ...after]);
    const offers = new Set(after);
    const kept = [
      ...names.filter(({ name, at }) => at > oldest && !offered.has(name)),
      ...before.filter((name) => !offers.has(name)).map((name) => ({ name, at: now })),
    ];
    const most = this.limits.offered_before_per_agent;
    const pushed_out = kept.length > most ? kept.at(-most - 1)?.at : undefined;
    const crowded = pushed_out ?? (crowded_at !== undefined && crowded_at > oldest ? crowded_at : undefined);
    return { names: kept.slice(-most), ...(crowded === undefined ? {} : { crowded_at: crowded }) };
  }

  /** Rows of others that tell nothing any more, a few at a time; the earliest of all, where there is no room. */
  private outlived(agent: string, now: Time): readonly Change[] {
    const { offered_before_total, offered_before_swept_at_once } = this.limits;
    const is_full = this.total > offered_before_total;
    const until = is_full ? Number.POSITIVE_INFINITY : now;
    const gone = this.due.due(until, offered_before_swept_at_once).filter((each) => each !== agent);
    return gone.map((each) => this.delete(each));
  }

  private set(agent: string, dropped: Dropped): Change {
    if (sizeOf(dropped) === 0) return this.delete(agent);
    const { write, apply } = this.rows.set(agent, dropped);
    return {
      write,
      apply: () => {
        this.count(agent, this.rows.get(agent) ?? nothing, dropped);
        apply();
      },
    };
  }

  private delete(agent: string): Change {
    const { write, apply } = this.rows.delete(agent);
    return {
      write,
      apply: () => {
        this.count(agent, this.rows.get(agent) ?? nothing, nothing);
        apply();
      },
    };
  }

  private count(agent: string, before: Dropped, after: Dropped): void {
    this.total += sizeOf(after) - sizeOf(before);
    const last_at = Math.max(after.names.at(-1)?.at ?? 0, after.crowded_at ?? 0);
    if (sizeOf(after) === 0) this.due.delete(agent);
    else this.due.set(agent, last_at + this.limits.offered_before_ms);
  }
}

function nameOf({ name }: Named): string {
  return name;
}

function sizeOf({ names, crowded_at }: Dropped): number {
  return names.length + (crowded_at === undefined ? 0 : 1);
}
