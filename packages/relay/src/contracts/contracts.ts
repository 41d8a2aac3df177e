/**
 * The contracts of a relay: made of offers, looked at by their parties, ended by either side. What a contract demands of a
 * handoff is in under-contract.ts, how it stands in standing.ts.
 */

import type { Duration, Time } from "@handfast/core";
import type { LogEntry } from "@handfast/engine";
import { type Capability, contractId } from "@handfast/protocol";
import { changedWords } from "@handfast/protocol/client";
import type { Asker } from "../directory/directory.ts";
import type { Compare } from "../directory/discovery/schema-judge.ts";
import { type Change, commitChanges } from "../directory/record-table.ts";
import type { Records } from "../directory/records.ts";
import { Turns } from "../directory/turns.ts";
import type { RelayLimits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";
import { AnswerSchemas } from "./answer-schemas.ts";
import type { ContractRecord, ManifestWord, Offer, Said } from "./contract-record.ts";
import { ContractTable, manifest_kind } from "./contract-table.ts";
import { Expectations } from "./expectations.ts";
import type { Commit, FoundOffer } from "./negotiations.ts";
import { type Standing, standingOf } from "./standing.ts";
import type { Tally } from "./tally.ts";

/** What is asked of the directory about a party. */
export interface Parties {
  /** When the agent of this name became known; undefined: there is none. */
  knownSince(agent: string): Time | undefined;
  /** As it stands in its manifest; null: it does not offer it. */
  capability(agent: string, name: string): Capability | null;
  isLapsed(agent: string): boolean;
  /** How long half of its attempts take, as routing has it; null: nobody knows. */
  halfTakesMs(agent: string, capability: string, now: Time): Duration | null;
  /** Whether this asker must not see what others ask for the capability. */
  isRival(asker: Asker, capability: string): boolean;
  manifest(agent: string): ProviderManifest | null;
  /** One that was in force; null: it is not kept any more. */
  pastManifest(digest: string): Promise<ProviderManifest | null>;
}

interface ProviderManifest {
  readonly manifest: string;
  readonly word: ManifestWord;
}

export interface ContractsOptions {
  readonly namespace: string;
  readonly records: Records;
  readonly commit: Commit;
  readonly parties: Parties;
  readonly tally: Tally;
  readonly compare: Compare;
  readonly limits: RelayLimits;
  readonly now: () => Time;
}

export class Contracts {
  readonly turns: Turns;
  readonly tally: Tally;
  readonly expectations: Expectations;
  readonly answers: AnswerSchemas;
  readonly #options: ContractsOptions;
  readonly #table: ContractTable;

  private constructor(options: ContractsOptions) {
    this.#options = options;
    this.turns = new Turns(options.records.others);
    this.tally = options.tally;
    this.expectations = new Expectations(options.compare, options.limits.contract_expectations_kept);
    this.answers = new AnswerSchemas(options.compare, options.limits.answer_schemas_kept);
    this.#table = new ContractTable(options.namespace, options.limits);
  }

  static async open(options: ContractsOptions): Promise<Contracts> {
    const contracts = new Contracts(options);
    await contracts.load();
    return contracts;
  }

  load(): Promise<void> {
    return this.#table.load(this.#options.records);
  }

  get(id: string): ContractRecord | undefined {
    return this.#table.get(id);
  }

  /** The first id after this one, among those of a party; null as the party: of everybody. */
  next(party: string | null, after: string): string | undefined {
    return this.#table.next(party, after);
  }

  /** Whether the agent that has this name now is the one that agreed. */
  isAsker({ terms, asker_since }: ContractRecord, agent: string): boolean {
    return terms.asker === agent && this.#options.parties.knownSince(agent) === asker_since;
  }

  isProvider({ terms, provider_since }: ContractRecord, agent: string): boolean {
    return terms.provider === agent && this.#options.parties.knownSince(agent) === provider_since;
  }

  standing(id: string, contract: ContractRecord): Standing {
    return standingOf(contract, this.tally.of(id), this.#offeredNow(contract), this.#options.now());
  }

  /** The provider's side: what it signed, or what its manifest says. */
  async providerSaid({ proposal, manifest }: ContractRecord): Promise<Said | ManifestWord> {
    if (proposal !== null) return proposal;
    const record = await this.#options.records.find(manifest_kind, manifest);
    return record === null ? { document: null, proof: null } : (record.value as ManifestWord);
  }

  /** What was made of this offer before, if anything was: taking it again changes nothing. */
  madeOf(offer_id: string): { readonly id: string; readonly contract: ContractRecord } | null {
    const id = this.#table.madeOf(offer_id);
    const contract = id === undefined ? undefined : this.#table.get(id);
    return id === undefined || contract === undefined ? null : { id, contract };
  }

  /** Makes a contract of an offer, once. Throws Problem 428 where what was offered does not stand any more. */
  agree(found: FoundOffer, asker_said: Said): Promise<{ readonly id: string; readonly created: boolean }> {
    return this.turns.take(async () => {
      const { negotiation, offer } = found;
      const { terms, capability, proposal, cost_salt } = offer;
      const id = contractId(nodeCrypto, terms);
      if (this.#table.get(id) !== undefined) return { id, created: false };
      const { now, commit } = this.#options;
      if (now() >= offer.expires_at) throw offerExpired(offer.offer_id);
      const now_offered = this.#stillOffered(found);
      const { provider_since, manifest, word } = { ...now_offered, ...(await this.#priceBefore(offer)) };
      const contract: ContractRecord = {
        terms,
        agreed_at: now(),
        asker_since: negotiation.asker_since,
        provider_since,
        capability,
        schemas: negotiation.schemas,
        asker_said,
        proposal,
        cost_salt,
        manifest,
        manifest_bytes: proposal === null ? (word.document?.length ?? 0) : 0,
        ended: null,
      };
      const changes = this.#table.adding(id, contract, proposal === null ? word : null);
      const entry = { ...this.#entry("agreed", terms.asker, contract), detail: { contract: id } };
      await this.#commit(changes, (writes) => commit([entry], writes));
      return { id, created: true };
    });
  }

  /** Either side ends it, once; what is open under it goes on. */
  end(id: string, by: string, reason: string | null): Promise<void> {
    return this.turns.take(async () => {
      const contract = this.#table.get(id);
      if (contract === undefined) throw unknownContract(id);
      const { now, commit } = this.#options;
      // What is over stays as it ended.
      if (contract.ended !== null || now() >= contract.terms.valid_until) return;
      const change = this.#table.set(id, { ...contract, ended: { by, at: now(), reason } });
      const entry = { ...this.#entry("contract_ended", by, contract), detail: { contract: id } };
      await this.#commit([change], (writes) => commit([entry], writes));
    });
  }

  /** Drops what has been over for long, so many at a time; true: there may be more. */
  upkeep(): Promise<boolean> {
    return this.turns.take(async () => {
      const { now, limits, records } = this.#options;
      const gone = this.#table.outlived(now(), limits.contracts_dropped_at_once);
      const counts = gone.flatMap((id) => this.tally.ending(id)).map((write) => ({ write, apply: () => {} }));
      await commitChanges(records, [...this.#table.dropping(gone), ...counts]);
      for (const id of gone) this.tally.forgotten(id);
      return gone.length === limits.contracts_dropped_at_once;
    });
  }

  async #commit(changes: readonly Change[], commit: (writes: readonly Change["write"][]) => Promise<boolean>) {
    await commitChanges({ ...this.#options.records, put: commit }, changes);
  }

  #offeredNow({ terms, provider_since }: ContractRecord): Capability | null {
    const { parties } = this.#options;
    if (parties.knownSince(terms.provider) !== provider_since) return null;
    return parties.capability(terms.provider, terms.capability);
  }

  /** That the provider is there and offers exactly what was offered. */
  #stillOffered({ negotiation, offer }: FoundOffer) {
    const { parties, now } = this.#options;
    const { provider } = offer.terms;
    const provider_since = parties.knownSince(provider);
    const manifest = parties.manifest(provider);
    // Whoever came to the name since made no offer.
    const is_same = provider_since !== undefined && provider_since <= negotiation.asked_at;
    if (provider_since === undefined || !is_same || manifest === null || parties.isLapsed(provider)) {
      const message = `The agent ${provider}, whose offer this is, is not there any more. Negotiate anew.`;
      throw new Problem(428, "provider_gone", message, { agent_id: provider });
    }
    const contract = { terms: offer.terms, capability: offer.capability, ended: null } as ContractRecord;
    const nothing = { fulfilled: 0, breaches: 0, uncounted: 0, by_reason: {} };
    const standing = standingOf(contract, nothing, parties.capability(provider, offer.terms.capability), now());
    // Something else may have changed since in the manifest: the one in force says the same of this capability.
    if (standing.state === "in_force") return { provider_since, ...manifest };
    const message = `What ${provider} offers has changed since (${changedWords(standing.changed)}). Negotiate anew.`;
    throw new Problem(428, "offer_stale", message, { changed: standing.changed });
  }

  /** Where the list price has changed since, only the manifest of the offer proves the one that was offered; null: it is as it was. */
  async #priceBefore(offer: Offer): Promise<ProviderManifest | null> {
    const { terms, capability, cost_salt, manifest } = offer;
    const { parties } = this.#options;
    const now = parties.capability(terms.provider, terms.capability);
    if (cost_salt === null || now?.cost?.sha256 === capability.cost?.sha256) return null;
    const past = await parties.pastManifest(manifest);
    if (past === null) throw priceUnproven(offer);
    return past;
  }

  #entry(type: LogEntry["type"], by: string, { terms }: ContractRecord) {
    const { namespace } = this.#options;
    return { namespace, type, by, agents: [terms.asker, terms.provider], capability: terms.capability };
  }
}

function offerExpired(offer_id: string): Problem {
  const message = `The offer ${offer_id} has expired. Negotiate anew, and agree before expires_at.`;
  return new Problem(428, "offer_expired", message);
}

/** Whoever read the contract later could not tell that its provider ever named this price. */
function priceUnproven({ agent_id, capability }: Offer): Problem {
  const message = `The price that ${agent_id} offers has changed since, and the manifest that proves the one of this offer is not kept any more. Negotiate anew.`;
  return new Problem(428, "offer_stale", message, { changed: [{ field: "cost", from: capability.cost }] });
}

/** The same for one that is not there and for one that is another's. */
export function unknownContract(id: string): Problem {
  return new Problem(404, "unknown_contract", `There is no contract ${id}, or you are no party of it.`);
}
