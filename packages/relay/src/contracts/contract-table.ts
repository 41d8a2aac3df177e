/**
 * Every contract that is kept, wholly in memory and written through to the store: found by its id, by the offer it was
 * made of, and by its parties. Bounded per asker and in bytes over all.
 */

import type { Time } from "@handfast/core";
import { SortedNames } from "../directory/discovery/sorted-names.ts";
import { Expiries } from "../directory/expiries.ts";
import { type Change, RecordTable } from "../directory/record-table.ts";
import type { Records } from "../directory/records.ts";
import type { RelayLimits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { canonicalJson } from "../schemas/canonical-json.ts";
import type { ContractRecord, ManifestWord } from "./contract-record.ts";

const manifest_kind = "contract_manifest";

export class ContractTable {
  readonly #limits: RelayLimits;
  readonly #rows: RecordTable<ContractRecord>;
  readonly #sizes = new Map<string, number>();
  readonly #byOffer = new Map<string, string>();
  readonly #byParty = new Map<string, SortedNames>();
  /** When nobody can want to know of each any more. */
  readonly #expiries = new Expiries();
  #all = new SortedNames();
  /** Of each asker: how many, and how large. */
  readonly #asked = new Map<string, { count: number; bytes: number }>();
  /** How many contracts refer to a manifest's record. */
  readonly #referrers = new Map<string, number>();
  readonly #namespace: string;
  #total_bytes = 0;

  constructor(namespace: string, limits: RelayLimits) {
    this.#namespace = namespace;
    this.#limits = limits;
    this.#rows = new RecordTable(namespace, "contract", {
      remove: (id) => this.#remove(id),
      add: (id, contract) => this.#add(id, contract),
    });
  }

  async load(records: Records): Promise<void> {
    await this.#rows.load(records);
    const indexes = [this.#sizes, this.#byOffer, this.#byParty, this.#asked, this.#referrers, this.#expiries];
    for (const index of indexes) index.clear();
    this.#all = new SortedNames();
    this.#total_bytes = 0;
    // In order each joins the end of what is sorted already.
    const rows = [...this.#rows.entries()].sort(([one], [other]) => (one < other ? -1 : 1));
    for (const [id, contract] of rows) this.#add(id, contract);
  }

  get(id: string): ContractRecord | undefined {
    return this.#rows.get(id);
  }

  /** The id of the contract that was made of this offer. */
  madeOf(offer_id: string): string | undefined {
    return this.#byOffer.get(offer_id);
  }

  /** The first id after this one. Null as the party: of everybody. */
  next(party: string | null, after: string): string | undefined {
    return (party === null ? this.#all : this.#byParty.get(party))?.next(after);
  }

  /** The changes that keep a new contract; `word` is what its provider's manifest says, where that is its side. */
  adding(id: string, contract: ContractRecord, word: ManifestWord | null): readonly Change[] {
    this.#checkRoom(contract);
    const { manifest } = contract;
    const is_kept = this.#referrers.has(manifest);
    const change = this.set(id, contract);
    if (word === null || is_kept) return [change];
    const place = { namespace: this.#namespace, kind: manifest_kind, key: manifest };
    return [change, { write: { ...place, expected_version: 0, value: word }, apply: () => {} }];
  }

  set(id: string, contract: ContractRecord): Change {
    const { write, apply } = this.#rows.set(id, contract);
    return {
      write,
      apply: () => {
        this.#remove(id);
        apply();
        this.#add(id, contract);
      },
    };
  }

  /** The changes that drop these contracts, and what only they referred to. */
  dropping(ids: readonly string[]): readonly Change[] {
    const left = new Map<string, number>();
    for (const { proposal, manifest } of ids.flatMap((id) => this.#rows.get(id) ?? [])) {
      if (proposal === null) left.set(manifest, (left.get(manifest) ?? this.#referrers.get(manifest) ?? 0) - 1);
    }
    const unreferred = [...left].filter(([, count]) => count === 0);
    return [...ids.map((id) => this.#delete(id)), ...unreferred.map(([manifest]) => this.#forget(manifest))];
  }

  /** Those that have been over for so long that no handoff under them can be open; so many at most. */
  outlived(now: Time, most: number): readonly string[] {
    return this.#expiries.due(now, most);
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

  #forget(manifest: string): Change {
    const place = { namespace: this.#namespace, kind: manifest_kind, key: manifest };
    return { write: { ...place, expected_version: 1, value: undefined }, apply: () => {} };
  }

  #goneAt({ terms, ended }: ContractRecord): Time {
    const over_at = Math.min(ended?.at ?? terms.valid_until, terms.valid_until);
    return over_at + terms.limits.deadline_ms + this.#limits.contract_kept_ms;
  }

  #checkRoom(contract: ContractRecord): void {
    const { contracts_per_agent, contract_bytes_per_agent, contract_bytes_total } = this.#limits;
    const bytes = bytesOf(contract);
    const had = this.#asked.get(contract.terms.asker) ?? { count: 0, bytes: 0 };
    if (had.count >= contracts_per_agent || had.bytes + bytes > contract_bytes_per_agent) {
      const message = `You have ${had.count} contracts, which is as many as are kept for one agent. Use those that you have; those that are over are dropped in time.`;
      throw new Problem(429, "too_many_contracts", message, {}, 60);
    }
    if (this.#total_bytes + bytes <= contract_bytes_total) return;
    const message = `The contracts of all agents fill ${contract_bytes_total} bytes. Wait until some that are over have been dropped.`;
    throw new Problem(429, "too_many_contracts", message, {}, 60);
  }

  #add(id: string, contract: ContractRecord): void {
    const { terms, manifest, proposal } = contract;
    const bytes = bytesOf(contract);
    this.#sizes.set(id, bytes);
    this.#total_bytes += bytes;
    this.#byOffer.set(terms.offer, id);
    this.#expiries.set(id, this.#goneAt(contract));
    this.#all.add(id);
    for (const party of [terms.asker, terms.provider]) {
      const ids = this.#byParty.get(party) ?? new SortedNames();
      ids.add(id);
      this.#byParty.set(party, ids);
    }
    const { count, bytes: held } = this.#asked.get(terms.asker) ?? { count: 0, bytes: 0 };
    this.#asked.set(terms.asker, { count: count + 1, bytes: held + bytes });
    if (proposal === null) this.#referrers.set(manifest, (this.#referrers.get(manifest) ?? 0) + 1);
  }

  #remove(id: string): void {
    const contract = this.#rows.get(id);
    if (contract === undefined) return;
    const { terms, manifest, proposal } = contract;
    const bytes = this.#sizes.get(id) ?? 0;
    this.#total_bytes -= bytes;
    this.#sizes.delete(id);
    this.#byOffer.delete(terms.offer);
    this.#expiries.delete(id);
    this.#all.remove(id);
    const held = this.#asked.get(terms.asker);
    if (held === undefined || held.count <= 1) this.#asked.delete(terms.asker);
    else this.#asked.set(terms.asker, { count: held.count - 1, bytes: held.bytes - bytes });
    for (const party of [terms.asker, terms.provider]) {
      const ids = this.#byParty.get(party);
      ids?.remove(id);
      if (ids?.size === 0) this.#byParty.delete(party);
    }
    if (proposal === null) lessen(this.#referrers, manifest);
  }
}

export { manifest_kind };

function lessen(counts: Map<string, number>, key: string): void {
  const left = (counts.get(key) ?? 0) - 1;
  if (left > 0) counts.set(key, left);
  else counts.delete(key);
}

/** With what is kept apart for it. */
function bytesOf(contract: ContractRecord): number {
  return canonicalJson(contract).length + contract.manifest_bytes;
}
