/** Negotiations and contracts as they are shown: to the asker all but what is sealed, to a provider only what concerns it. */

import type { Time } from "@handfast/core";
import { type Capability, contractId } from "@handfast/protocol";
import type { ContractView, Miss, NegotiationView, OfferView, ProposalCall } from "@handfast/protocol/wire";
import type { IsRival } from "../directory/directory.ts";
import { comparePlaces } from "../directory/discovery/rank.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";
import type {
  ContractRecord,
  Declined,
  KeptMiss,
  ManifestWord,
  NegotiationRecord,
  Offer,
  Said,
} from "./contract-record.ts";
import { type Counts, intervalOf } from "./fulfilment.ts";
import type { FoundCall } from "./negotiations.ts";
import type { Standing } from "./standing.ts";

/** Why somebody that was asked is not among the offers: silence counts as a decline. */
const no_answer = "no_answer";
const sealed_reason = "sealed";
export const sealed_words = "It names its price when it is asked, and you offer the same capability, or did of late.";

export const sealed_price = "Its price is sealed, and not shown to the asker.";

/** `isRival`: whoever asked as a stranger to the trade may have joined it since. */
export function showNegotiation(
  id: string,
  negotiation: NegotiationRecord,
  now: Time,
  isRival: IsRival,
): NegotiationView {
  const { reply_by, offers, calls, declined, max_cost } = negotiation;
  const silent = calls.filter(({ answer }) => answer === null);
  const is_open = silent.length > 0 && now < reply_by;
  const unanswered = is_open ? [] : silent;
  // A price that was named to one that has become a rival is as if it had not been named: an offer would tell that it is low enough.
  const sealed = offers.filter((offer) => isSealed(offer, isRival));
  const hidden = sealed.filter(({ proposal }) => proposal !== null);
  const compared = max_cost === null ? [] : sealed.filter(({ proposal }) => proposal === null);
  const unseen = new Set([...hidden, ...compared]);
  const standing = offers.filter((offer) => now < offer.expires_at && !unseen.has(offer));
  return {
    negotiation_id: id,
    open: is_open,
    waiting_for: is_open ? silent.length : 0,
    reply_by,
    offers: bestFirst(standing.map((offer) => ({ offer, sealed: isSealed(offer, isRival) }))).map(showOffer),
    declined: [
      ...declined.map((each) => (isRival(each.capability) ? withoutComparison(each) : each)),
      ...hidden.map((offer) => declinedBy(offer, sealed_reason, sealed_words)),
      ...unanswered.map(({ asked }) => declinedBy(asked, no_answer, "It did not answer in time.")),
    ],
    near: showNear(negotiation, compared, isRival),
  };
}

/** Whether a price is above or below what was asked for, is not told to a rival: neither by what is said, nor by where, nor by the order. */
function showNear({ near }: NegotiationRecord, offers: readonly Offer[], isRival: IsRival): Miss[] {
  const tells = near.filter(({ compares, capability }) => compares === true && isRival(capability));
  const sealed = [
    ...tells.map((miss) => ({ ...miss, lacks: [sealed_price] })),
    ...offers.map(({ agent_id, capability }) => missOf(agent_id, capability, sealed_price)),
  ];
  const named = sealed.toSorted((one, other) => (one.agent_id < other.agent_id ? -1 : 1));
  return [...named, ...near.filter((miss) => !tells.includes(miss))].map(({ compares: _compares, ...miss }) => miss);
}

export function missOf(agent_id: string, { name, version }: Capability, lack: string): KeptMiss {
  return { agent_id, capability: name, version: version ?? null, lacks: [lack] };
}

function declinedBy({ agent_id, capability }: Offer, reason: string, message: string): Declined {
  return { agent_id, capability: capability.name, reason, message };
}

/** A price that its asker must not see, be it that it became a rival only since. */
export function isSealed({ sealed, terms }: Offer, isRival: IsRival): boolean {
  return sealed || (terms.cost !== null && isRival(terms.capability));
}

/** How a price compares with another tells of it too. */
function withoutComparison(declined: Declined): Declined {
  return declined.reason === "above_max_cost"
    ? { ...declined, reason: sealed_reason, message: sealed_words }
    : declined;
}

interface SeenOffer {
  readonly offer: Offer;
  readonly sealed: boolean;
}

/** In the order of a search, by the prices that are offered, whoever named them; a place among others must not tell what is sealed. */
function bestFirst(seen: readonly SeenOffer[]): readonly SeenOffer[] {
  const placed = seen.map((each) => {
    const { agent_id, capability, terms, merit = unranked } = each.offer;
    const cost = each.sealed ? null : terms.cost;
    return { each, place: { ...merit, cost, agent: agent_id, capability: capability.name } };
  });
  return placed.sort((one, other) => comparePlaces(one.place, other.place)).map(({ each }) => each);
}

const unranked = { class: 0, pace_ms: null, text: 0 };

/** A rival sees neither the price nor the terms, whose hash would give it away. */
function showOffer({ offer, sealed }: SeenOffer): OfferView {
  const { offer_id, agent_id, capability, manifest, terms, reliability, schemas, expires_at } = offer;
  const { cost_salt, proposal } = offer;
  return {
    offer_id,
    agent_id,
    capability,
    manifest,
    terms: sealed ? null : terms,
    contract_id: sealed ? null : contractId(nodeCrypto, terms),
    sealed,
    cost: sealed ? null : terms.cost,
    cost_salt: sealed ? null : cost_salt,
    reliability,
    schemas,
    made_by: proposal === null ? "manifest" : "proposal",
    proposal: proposal === null ? null : { document: proposal.document, proof: proofOf(proposal) },
    expires_at,
  };
}

/** Its own answer as it gave it, whatever came of it: a provider is not told how its price compares with what the asker would pay. */
export function showCall({ negotiation, call }: FoundCall): ProposalCall {
  const { asked, answer } = call;
  const proposed = negotiation.offers.find(({ offer_id }) => offer_id === asked.offer_id);
  return {
    id: asked.offer_id,
    from: negotiation.asker,
    capability: asked.capability.name,
    terms: answer?.terms ?? proposed?.terms ?? asked.terms,
    ...negotiation.schemas,
    asked_at: negotiation.asked_at,
    reply_by: negotiation.reply_by,
    answer: answer?.kind ?? null,
  };
}

export interface Shown {
  readonly id: string;
  readonly contract: ContractRecord;
  readonly standing: Standing;
  readonly counts: Counts;
}

/** For a list: without what can be asked for one by one. */
export function showContract({ id, contract, standing, counts }: Shown): ContractView {
  const { terms, agreed_at, ended, asker_said, proposal } = contract;
  const { fulfilled, breaches, uncounted, by_reason } = counts;
  return {
    contract_id: id,
    terms,
    state: standing.state,
    valid_until: terms.valid_until,
    agreed_at,
    ended,
    asker_evidence: { kind: asker_said.proof === null ? "attested" : "signed", document: null, proof: null },
    provider_evidence: {
      kind: proposal === null ? "manifest" : "proposal",
      document: null,
      proof: null,
      cost_salt: null,
    },
    fulfilment: { fulfilled, breaches, uncounted, by_reason: { ...by_reason }, ...intervalOf(counts) },
    changed: [...standing.changed],
  };
}

/** With the capability as it was agreed on, the asker's schemas, and what both sides said. */
export function showWhole(shown: Shown, provider_said: Said | ManifestWord): ContractView {
  const view = showContract(shown);
  const { capability, schemas, asker_said, cost_salt } = shown.contract;
  return {
    ...view,
    capability,
    ...schemas,
    asker_evidence: { ...view.asker_evidence, ...evidenceOf(asker_said) },
    provider_evidence: { ...view.provider_evidence, ...evidenceOf(provider_said), cost_salt },
  };
}

function evidenceOf(said: Said | ManifestWord) {
  return { document: said.document, proof: proofOf(said) };
}

/** Proofs are kept as they were checked. */
function proofOf({ proof }: Said | ManifestWord): ContractView["asker_evidence"]["proof"] {
  return (proof ?? null) as ContractView["asker_evidence"]["proof"];
}
