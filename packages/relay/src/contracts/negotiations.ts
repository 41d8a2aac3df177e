/**
 * The negotiations that somebody may still want to know of, wholly in memory and written through to the store: found by
 * their id, by an offer's, and by the agent that was asked for one.
 */

import type { Time } from "@handfast/core";
import type { LogEntry, RecordWrite } from "@handfast/engine";
import { Expiries } from "../directory/expiries.ts";
import { type Change, RecordTable } from "../directory/record-table.ts";
import type { Records } from "../directory/records.ts";
import type { RelayLimits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { canonicalJson } from "../schemas/canonical-json.ts";
import type { Call, NegotiationRecord, Offer } from "./contract-record.ts";

/** Commits records, and entries of the log beside them. False: a version was not as expected. */
export type Commit = (entries: readonly Omit<LogEntry, "at">[], records: readonly RecordWrite[]) => Promise<boolean>;

export interface FoundOffer {
  readonly negotiation_id: string;
  readonly negotiation: NegotiationRecord;
  readonly offer: Offer;
}

export interface FoundCall {
  readonly negotiation_id: string;
  readonly negotiation: NegotiationRecord;
  readonly call: Call;
}

export class Negotiations {
  readonly #limits: RelayLimits;
  readonly #rows: RecordTable<NegotiationRecord>;
  readonly #sizes = new Map<string, number>();
  readonly #byAsker = new Map<string, Set<string>>();
  readonly #byOffer = new Map<string, string>();
  /** By the agent that was asked: the offers that it may still propose. */
  readonly #asked = new Map<string, Set<string>>();
  /** When nobody can want to know of each any more. */
  readonly #expiries = new Expiries();
  #total_bytes = 0;

  constructor(namespace: string, limits: RelayLimits) {
    this.#limits = limits;
    this.#rows = new RecordTable(namespace, "negotiation", {
      remove: (id) => this.#remove(id),
      add: (id, negotiation) => this.#add(id, negotiation),
    });
  }

  async load(records: Records): Promise<void> {
    await this.#rows.load(records);
    for (const index of [this.#sizes, this.#byAsker, this.#byOffer, this.#asked, this.#expiries]) index.clear();
    this.#total_bytes = 0;
    for (const [id, negotiation] of this.#rows.entries()) this.#add(id, negotiation);
  }

  get(id: string): NegotiationRecord | undefined {
    return this.#rows.get(id);
  }

  offer(offer_id: string): FoundOffer | null {
    const [negotiation_id, negotiation] = this.#holding(offer_id);
    const offer = negotiation?.offers.find((each) => each.offer_id === offer_id);
    return negotiation === undefined || offer === undefined ? null : { negotiation_id, negotiation, offer };
  }

  call(offer_id: string): FoundCall | null {
    const [negotiation_id, negotiation] = this.#holding(offer_id);
    const call = negotiation?.calls.find(({ asked }) => asked.offer_id === offer_id);
    return negotiation === undefined || call === undefined ? null : { negotiation_id, negotiation, call };
  }

  /** Calls that an agent may still answer, the oldest first: an id begins with its time. */
  openCalls(agent: string, now: Time): readonly FoundCall[] {
    const found = [...(this.#asked.get(agent) ?? [])].sort().flatMap((offer_id) => this.call(offer_id) ?? []);
    return found.filter(({ negotiation }) => now < negotiation.reply_by);
  }

  /** Whether one more call may be put to this agent. */
  hasRoomFor(agent: string, now: Time): boolean {
    return this.openCalls(agent, now).length < this.#limits.calls_per_agent;
  }

  /**
   * The changes that make room for one more of this asker's: those of its own that are over go first. Throws Problem 429 where that
   * is not enough.
   */
  makingRoom(asker: string, bytes: number, now: Time): readonly Change[] {
    const { negotiations_per_agent, negotiation_bytes_per_agent, negotiation_bytes_total } = this.#limits;
    const mine = [...(this.#byAsker.get(asker) ?? [])].sort();
    const size = (id: string) => this.#sizes.get(id) ?? 0;
    let [count, held, total] = [mine.length, mine.reduce((sum, id) => sum + size(id), 0), this.#total_bytes];
    const isFull = () => count >= negotiations_per_agent || held + bytes > negotiation_bytes_per_agent;
    const isAllFull = () => total + bytes > negotiation_bytes_total;
    const dropped: string[] = [];
    for (const id of mine) {
      if (!isFull() && !isAllFull()) break;
      if ((this.#rows.get(id)?.over_at ?? 0) > now) continue;
      dropped.push(id);
      count -= 1;
      held -= size(id);
      total -= size(id);
    }
    if (isFull()) {
      const message = `You have ${count} negotiations whose offers have not expired, which is as many as one agent may. Wait until some have expired.`;
      const over_at = Math.min(...mine.flatMap((id) => this.#rows.get(id)?.over_at ?? []));
      throw new Problem(429, "too_many_negotiations", message, {}, secondsUntil(over_at, now));
    }
    if (isAllFull()) {
      const message = `The negotiations of all agents fill ${negotiation_bytes_total} bytes. Wait until some have expired.`;
      throw new Problem(429, "too_many_negotiations", message, {}, secondsUntil(this.#expiries.earliest(), now));
    }
    return dropped.map((id) => this.#delete(id));
  }

  set(id: string, negotiation: NegotiationRecord): Change {
    const { write, apply } = this.#rows.set(id, negotiation);
    return {
      write,
      apply: () => {
        this.#remove(id);
        apply();
        this.#add(id, negotiation);
      },
    };
  }

  /** The changes that drop those of which nothing is of use any more, so many at a time. */
  outlived(now: Time, most: number): readonly Change[] {
    return this.#expiries.due(now, most).map((id) => this.#delete(id));
  }

  #delete(id: string): Change {
    const { write, apply } = this.#rows.delete(id);
    return {
      write,
      apply: () => {
        this.#remove(id);
        apply();
      },
    };
  }

  #holding(offer_id: string): [string, NegotiationRecord | undefined] {
    const id = this.#byOffer.get(offer_id) ?? "";
    return [id, this.#rows.get(id)];
  }

  #add(id: string, negotiation: NegotiationRecord): void {
    const bytes = bytesOf(negotiation);
    this.#sizes.set(id, bytes);
    this.#total_bytes += bytes;
    this.#expiries.set(id, negotiation.over_at + this.#limits.negotiation_kept_ms);
    join(this.#byAsker, negotiation.asker, id);
    for (const { offer_id } of negotiation.offers) this.#byOffer.set(offer_id, id);
    for (const { asked, answer } of negotiation.calls) {
      this.#byOffer.set(asked.offer_id, id);
      if (answer === null) join(this.#asked, asked.agent_id, asked.offer_id);
    }
  }

  #remove(id: string): void {
    const negotiation = this.#rows.get(id);
    if (negotiation === undefined) return;
    this.#total_bytes -= this.#sizes.get(id) ?? 0;
    this.#sizes.delete(id);
    this.#expiries.delete(id);
    leave(this.#byAsker, negotiation.asker, id);
    for (const { offer_id } of negotiation.offers) this.#byOffer.delete(offer_id);
    for (const { asked } of negotiation.calls) {
      this.#byOffer.delete(asked.offer_id);
      leave(this.#asked, asked.agent_id, asked.offer_id);
    }
  }
}

/** After which it is worth another try: a minute at most. */
function secondsUntil(at: Time | undefined, now: Time): number {
  const left_ms = Math.min((at ?? now) - now, 60_000);
  return Math.max(1, Math.ceil(left_ms / 1_000));
}

export function bytesOf(negotiation: NegotiationRecord): number {
  return canonicalJson(negotiation).length;
}

function join(index: Map<string, Set<string>>, key: string, id: string): void {
  index.set(key, (index.get(key) ?? new Set()).add(id));
}

function leave(index: Map<string, Set<string>>, key: string, id: string): void {
  const ids = index.get(key);
  ids?.delete(id);
  if (ids?.size === 0) index.delete(key);
}
