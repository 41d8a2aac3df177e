/** What is stored of a negotiation and of a contract (records, by id). */

import type { Time } from "@handfast/core";
import type { Capability, ContractTerms } from "@handfast/protocol";
import type { Miss, NegotiationView, OfferView, ReliabilityView } from "@handfast/protocol/wire";
import type { Merit } from "../directory/discovery/rank.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A document as it was signed, or as the relay wrote it for one that cannot sign. */
export interface Said {
  readonly document: string;
  /** Null: attested. */
  readonly proof: unknown;
}

/** What the asker declared that it sends and takes: the terms have only the digests. */
interface AskerSchemas {
  readonly input_schema?: JsonSchema;
  readonly output_schema?: JsonSchema;
}

/** Something that one provider promises until it expires. */
export interface Offer {
  readonly offer_id: string;
  readonly agent_id: string;
  readonly capability: Capability;
  readonly manifest: string;
  readonly terms: ContractTerms;
  /** The asker offers the same: it is not shown the price, and cannot agree. */
  readonly sealed: boolean;
  /** Opens, with the price in the terms, what the manifest seals; null: there is no price, or it is not of the manifest. */
  readonly cost_salt: string | null;
  readonly reliability: ReliabilityView;
  readonly schemas: OfferView["schemas"];
  /** As it was when the asker asked. Absent: kept by a relay that did not rank offers. */
  readonly merit?: Merit;
  /** Never later than the `valid_until` of its terms. */
  readonly expires_at: Time;
  /** The proposal of a provider that was asked live; null: the offer follows from its manifest. */
  readonly proposal: Said | null;
}

/** A call for a proposal, put to one agent. */
export interface Call {
  readonly asked: Offer;
  readonly answer: null | CallAnswer;
}

export interface CallAnswer {
  readonly kind: "proposed" | "declined";
  readonly content: string;
  readonly at: Time;
  /** What it proposed, where that is above what the asker would pay: no offer came of it, which it is not told. */
  readonly terms?: ContractTerms;
}

/** One that comes near. */
export interface KeptMiss extends Miss {
  /** What it lacks tells how its price compares. */
  readonly compares?: true;
}

export type Declined = NegotiationView["declined"][number];

export interface NegotiationRecord {
  readonly asker: string;
  /** When the asker became known: whoever takes the name later is another. */
  readonly asker_since: Time;
  /** Digest of what was asked: the same id with other content is a conflict. */
  readonly content: string;
  readonly schemas: AskerSchemas;
  /** What a live proposal must not exceed; never shown to those that are asked. */
  readonly max_cost: ContractTerms["cost"];
  readonly asked_at: Time;
  readonly reply_by: Time;
  readonly offers: readonly Offer[];
  readonly calls: readonly Call[];
  readonly declined: readonly Declined[];
  readonly near: readonly KeptMiss[];
  /** When nothing of it is of use any more. */
  readonly over_at: Time;
}

export interface ContractRecord {
  readonly terms: ContractTerms;
  readonly agreed_at: Time;
  readonly asker_since: Time;
  readonly provider_since: Time;
  /** As it was offered: what a stale contract is compared with, and what outputs are checked by. */
  readonly capability: Capability;
  readonly schemas: AskerSchemas;
  readonly asker_said: Said;
  /** Null: the provider's side is its manifest, kept apart because many contracts share it. */
  readonly proposal: Said | null;
  readonly cost_salt: string | null;
  readonly manifest: string;
  /** Of the manifest that is kept apart; 0 where none is. */
  readonly manifest_bytes: number;
  readonly ended: { readonly by: string; readonly at: Time; readonly reason: string | null } | null;
}

/** The manifest that stands for the provider's word (record kind `contract_manifest`, by digest). */
export interface ManifestWord {
  readonly document: string | null;
  readonly proof: unknown;
}
