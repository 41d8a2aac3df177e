/**
 * Registrations are leased. Any sign of life renews the lease; an agent whose lease ran out has *lapsed*: it is not found and not
 * routed to until its next sign. The last sign is written a few times per lease, so that a restart forgets little; and nobody
 * lapses right after a start, since nobody had the time to be heard. Who had lapsed before it stays lapsed: that is written too.
 */

import type { Time } from "@handfast/core";
import type { RelayLimits } from "../limits.ts";
import { Expiries } from "./expiries.ts";
import { type Change, RecordTable } from "./record-table.ts";
import type { Records } from "./records.ts";

/** What is stored (record kind `sign_of_life`, by agent). */
interface StoredSign {
  readonly seen_at: Time;
  /** When it last came back after it had lapsed. */
  readonly returned_at: Time;
  /** It lapsed, and nothing was heard of it since. */
  readonly is_out?: true;
}

interface Held {
  lease_ms: number;
  seen_at: Time;
  returned_at: Time;
  /** The sign that a restart would remember. */
  kept_at: Time;
  is_out: boolean;
}

export interface LeaseOptions {
  readonly namespace: string;
  readonly now: () => Time;
  readonly limits: RelayLimits;
  /** A worker of it waits for work at this moment: that is a sign of life, however long ago it began to. */
  readonly isAsking: (agent: string) => boolean;
}

export class RegistrationLeases {
  private readonly options: LeaseOptions;
  private readonly started_at: Time;
  private readonly rows: RecordTable<StoredSign>;
  private readonly held = new Map<string, Held>();
  private readonly due = new Expiries();
  private readonly unsaved = new Set<string>();
  /** The relay was up at this time of an earlier life, by the latest sign of life of anybody that was written. */
  private was_up_at: Time = 0;

  constructor(options: LeaseOptions) {
    this.options = options;
    this.started_at = options.now();
    this.rows = new RecordTable(options.namespace, "sign_of_life");
  }

  /** To be followed by `hold` of every agent. What was heard of them in this life of the relay stays. */
  async load(records: Records): Promise<void> {
    await this.rows.load(records);
    this.was_up_at = 0;
    for (const { seen_at } of this.rows.values()) this.was_up_at = Math.max(this.was_up_at, seen_at);
    this.due.clear();
    this.unsaved.clear();
  }

  /** From a registration on, or from the start of the relay. `renewed_at`: when it last said what it offers, as stored. */
  hold(name: string, lease_ms: number, renewed_at: Time): void {
    const stored = this.rows.get(name);
    const known = this.held.get(name);
    const kept_at = Math.max(stored?.seen_at ?? 0, renewed_at);
    const seen_at = Math.max(known?.seen_at ?? 0, kept_at);
    // Of what was accepted while it was not there nobody asked whether it fits this agent.
    const was_out = kept_at + lease_ms <= this.started_at;
    const returned_at = Math.max(known?.returned_at ?? (was_out ? this.started_at : 0), stored?.returned_at ?? 0);
    const held: Held = { lease_ms, seen_at, returned_at, kept_at, is_out: false };
    held.is_out = known?.is_out ?? (stored?.is_out === true || this.lapsedUnnoticed(held));
    this.held.set(name, held);
    if (held.is_out && this.end(held) > this.options.now()) held.is_out = false;
    if (!held.is_out) this.due.set(name, this.end(held));
    else if (stored?.is_out !== true) this.unsaved.add(name);
  }

  /** True: it had lapsed, and is back. */
  seen(name: string, at: Time): boolean {
    const held = this.held.get(name);
    if (held === undefined) return false;
    const returns = held.is_out;
    held.seen_at = at;
    if (returns) {
      held.is_out = false;
      held.returned_at = at;
      this.due.set(name, this.end(held));
    }
    const { registration_signs_per_lease: signs } = this.options.limits;
    if (returns || at - held.kept_at >= held.lease_ms / signs) this.unsaved.add(name);
    return returns;
  }

  /**
   * Another node heard of it then, and writes that; nothing is heard twice. True: it had lapsed, and is back.
   */
  seenElsewhere(name: string, at: Time): boolean {
    const held = this.held.get(name);
    if (held === undefined || at <= held.seen_at) return false;
    held.seen_at = at;
    if (!held.is_out || at + held.lease_ms <= this.options.now()) return false;
    held.is_out = false;
    held.returned_at = at;
    this.due.set(name, this.end(held));
    return true;
  }

  /** Another node has written some of them: what it wrote counts, and what is newer here is written on it. */
  async relearn(records: Records): Promise<void> {
    await this.rows.load(records);
    for (const [name, { seen_at, returned_at }] of this.rows.entries()) {
      const held = this.held.get(name);
      if (held === undefined) continue;
      held.kept_at = Math.max(held.kept_at, seen_at);
      held.returned_at = Math.max(held.returned_at, returned_at);
    }
  }

  holds(name: string): boolean {
    return this.held.has(name);
  }

  /** Those that lapsed since it was last asked: whoever asks makes the directory forget where they are. */
  lapse(): readonly string[] {
    const now = this.options.now();
    const lapsed: string[] = [];
    for (let name = this.due.take(now); name !== undefined; name = this.due.take(now)) {
      const held = this.held.get(name);
      if (held === undefined || held.is_out) continue;
      const end = this.end(held);
      if (end > now) this.due.set(name, end);
      else if (this.options.isAsking(name)) {
        held.seen_at = now;
        this.due.set(name, this.end(held));
      } else {
        held.is_out = true;
        this.unsaved.add(name);
        lapsed.push(name);
      }
    }
    return lapsed;
  }

  /** As `lapse` left it: left out of what is offered. */
  isOut(name: string): boolean {
    return this.held.get(name)?.is_out ?? true;
  }

  isLapsed(name: string): boolean {
    return this.until(name) <= this.options.now();
  }

  /** 0: there is no such agent. */
  until(name: string): Time {
    const held = this.held.get(name);
    if (held === undefined) return 0;
    const end = this.end(held);
    const now = this.options.now();
    return end <= now && !held.is_out && this.options.isAsking(name) ? now + held.lease_ms : end;
  }

  /** Work accepted before this may not have been judged by what this agent takes: it was not there. */
  returnedAt(name: string): Time {
    return this.held.get(name)?.returned_at ?? 0;
  }

  /** As the store knows it, for an agent that this relay has not heard of yet. */
  storedSign(name: string): Time | null {
    return this.rows.get(name)?.seen_at ?? null;
  }

  get hasUnsaved(): boolean {
    return this.unsaved.size > 0;
  }

  /** The changes that keep what was heard; at most so many at a time, the rest comes next. */
  saving(): readonly Change[] {
    const changes: Change[] = [];
    for (const name of this.unsaved) {
      if (changes.length >= this.options.limits.signs_saved_at_once) break;
      this.unsaved.delete(name);
      const held = this.held.get(name);
      if (held !== undefined) changes.push(this.save(name, held));
    }
    return changes;
  }

  /** To be committed with a registration: it brings back an agent that had lapsed. */
  returning(name: string): readonly Change[] {
    const now = this.options.now();
    return this.held.get(name)?.is_out === true ? [this.rows.set(name, { seen_at: now, returned_at: now })] : [];
  }

  /** The changes that make nothing remain of it. */
  ending(name: string): readonly Change[] {
    return this.rows.get(name) === undefined ? [] : [this.rows.delete(name)];
  }

  forget(name: string): void {
    this.held.delete(name);
    this.due.delete(name);
    this.unsaved.delete(name);
  }

  private save(name: string, held: Held): Change {
    const { seen_at, returned_at, is_out } = held;
    const { write, apply } = this.rows.set(name, { seen_at, returned_at, ...(is_out ? { is_out } : {}) });
    return {
      write,
      apply: () => {
        apply();
        held.kept_at = seen_at;
      },
    };
  }

  /** Its lease was over while the relay was still up, even if it gave a last sign that was not written any more. */
  private lapsedUnnoticed({ kept_at, lease_ms }: Held): boolean {
    const unwritten_ms = lease_ms / this.options.limits.registration_signs_per_lease;
    return kept_at + lease_ms + unwritten_ms <= this.was_up_at;
  }

  /** The grace after a start is for those whose lease the relay's absence may have ended. */
  private end({ seen_at, lease_ms, is_out }: Held): Time {
    if (is_out) return seen_at + lease_ms;
    const grace_ms = Math.min(lease_ms, this.options.limits.registration_grace_ms);
    return Math.max(seen_at + lease_ms, this.started_at + grace_ms);
  }
}
