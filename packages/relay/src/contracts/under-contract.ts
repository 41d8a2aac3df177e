/**
 * What a contract makes of a handoff that names it: its provider, its clocks, its price. The handoff may ask for less, never for
 * more; what a contract that does not hold is refused with, the state machine says after it has looked at the key.
 */

import { coreLimits, type Refusal, type Terms, type UnderContract } from "@handfast/core";
import { type ContractTerms, type HandoffDocument, isInRange } from "@handfast/protocol";
import { changedWords, remedyOf } from "@handfast/protocol/client";
import type { ContractRecord } from "./contract-record.ts";
import type { Contracts } from "./contracts.ts";
import { type Counts, intervalOf } from "./fulfilment.ts";
import { beyond, isFewer, isSame, within } from "./narrower.ts";
import type { Standing } from "./standing.ts";

/** What a document says of itself that a contract decides too. */
type Said = Pick<HandoffDocument, "contract" | "to" | "capability" | "version" | "evidence" | "limits" | "expects">;

export interface Under {
  readonly kind: "under";
  readonly contract: UnderContract;
  readonly record: ContractRecord;
  readonly to: string;
  readonly capability: string;
  readonly demands: "signed" | "any";
  readonly terms: Omit<Terms, "max_deliveries">;
}

export type Applied = Under | { readonly kind: "refused"; readonly refusal: Refusal };

/** `from` is whose handoff it is, also where an operator redrives it. */
export function underContract(contracts: Contracts, from: string, said: Said, is_signed: boolean): Applied {
  const id = said.contract ?? "";
  const record = contracts.get(id);
  // One of another agent is answered as one that is not there: nothing is learned.
  if (record === undefined || !contracts.isAsker(record, from)) return refused(unknown(id));
  const no =
    standingRefusal(id, record, contracts.standing(id, record), contracts.tally.of(id)) ??
    targetRefusal(id, record, said) ??
    limitsRefusal(id, record.terms, said) ??
    expectsRefusal(contracts, id, record, said) ??
    (is_signed ? unsaidRefusal(id, record.terms, said) : null);
  if (no !== null) return refused(no);
  const { terms, capability } = record;
  const { max_concurrent } = capability;
  const agreed = within(said.limits ?? {}, terms.limits);
  return {
    kind: "under",
    contract: {
      id,
      price: terms.cost,
      in_full: isSame(agreed, terms.limits) && !isHurried(record),
      ...(isFewer(agreed, terms.limits) ? { fewer_attempts: true } : {}),
      ...(max_concurrent === undefined ? {} : { max_concurrent }),
    },
    record,
    to: terms.provider,
    capability: terms.capability,
    demands: said.evidence ?? terms.evidence,
    terms: agreed,
  };
}

/** Of its manifest alone nobody is held to less time than the default for an attempt that it said nothing of. */
function isHurried({ proposal, capability, terms }: ContractRecord): boolean {
  const { default_attempt_ms } = coreLimits;
  return proposal === null && capability.timeout_seconds === undefined && terms.limits.attempt_ms < default_attempt_ms;
}

/** What the relay writes into the document of a handoff that it attests, so that the document says whom it is for. */
export function filledIn(contracts: Contracts, from: string, said: Said): Partial<Said> {
  const record = said.contract === undefined ? undefined : contracts.get(said.contract);
  if (record === undefined || !contracts.isAsker(record, from)) return {};
  const { provider, capability, evidence } = record.terms;
  return { to: provider, capability, ...(evidence === "any" ? {} : { evidence }) };
}

function refused(refusal: Refusal): Applied {
  return { kind: "refused", refusal };
}

function unknown(id: string): Refusal {
  const message = `there is no contract ${JSON.stringify(id)} of yours; negotiate one, or leave it out`;
  return { code: 428, reason: "unknown_contract", message, extra: { fields: ["/contract"] } };
}

function standingRefusal(
  id: string,
  { terms, ended }: ContractRecord,
  { state, changed }: Standing,
  counts: Counts,
): Refusal | null {
  const refuse = (reason: string, what: string, extra: Readonly<Record<string, unknown>>): Refusal => {
    const message = `the contract ${id} ${what}; ${nextStep(428, reason)}`;
    return { code: 428, reason, message, extra: { fields: ["/contract"], ...extra } };
  };
  switch (state) {
    case "in_force":
      return null;
    case "ended":
      return refuse("contract_ended", `was ended by ${ended?.by ?? "a party"}`, { ended });
    case "expired":
      return refuse("contract_expired", "is past its validity", { valid_until: terms.valid_until });
    case "breached": {
      const { fulfilled, breaches } = counts;
      const of = fulfilled + breaches;
      const what = `was kept ${fulfilled} times of ${of}, which is less than the ${terms.min_reliability} agreed on`;
      const bounds = { min_reliability: terms.min_reliability, ...intervalOf(counts) };
      return refuse("contract_breached", what, { fulfilled, breaches, ...bounds });
    }
    case "stale": {
      const { provider, capability } = terms;
      const is_gone = changed.some(({ field }) => field === "name");
      const how = is_gone
        ? `does not offer ${capability} any more`
        : `has changed ${capability} (${changedWords(changed)})`;
      return refuse("contract_stale", `is stale: ${provider} ${how}`, { offered: terms.offered, changed });
    }
    default:
      throw new Error(`unreachable state ${JSON.stringify(state satisfies never)}`);
  }
}

/** What the reason's remedy says, as the end of a sentence: whoever is told both reads it once. */
function nextStep(code: number, reason: string): string {
  const { remedy } = remedyOf(code, reason);
  return `${remedy.charAt(0).toLowerCase()}${remedy.slice(1).replace(/\.$/, "")}`;
}

function targetRefusal(
  id: string,
  { terms, capability: agreed }: ContractRecord,
  { to, capability, version }: Said,
): Refusal | null {
  const wrong = [
    ...(to === undefined || to === terms.provider ? [] : ["to"]),
    ...(capability === undefined || capability === terms.capability ? [] : ["capability"]),
    ...(version === undefined || isInRange(agreed.version, version) ? [] : ["version"]),
  ];
  if (wrong.length === 0) return null;
  const what = agreed.version === undefined ? terms.capability : `${terms.capability} ${agreed.version}`;
  const message = `the contract ${id} is with ${terms.provider} for ${what}; name these, or neither, or leave the contract out`;
  return { code: 400, reason: "beyond_contract", message, extra: { fields: wrong.map((name) => `/${name}`) } };
}

function limitsRefusal(id: string, terms: ContractTerms, { limits = {}, evidence }: Said): Refusal | null {
  const more = beyond(limits, terms.limits);
  if (more.length > 0) {
    const asked = more.map((name) => `${name} is ${limits[name]}, where ${terms.limits[name]} is agreed on`).join(", ");
    const message = `of the handoff under the contract ${id} ${asked}; ${nextStep(400, "beyond_contract")}`;
    const extra = { fields: more.map((name) => `/limits/${name}`), agreed: terms.limits };
    return { code: 400, reason: "beyond_contract", message, extra };
  }
  if (evidence !== "signed" || terms.evidence === "signed") return null;
  const message = `evidence is demanded to be signed, which the contract ${id} does not`;
  return { code: 400, reason: "beyond_contract", message, extra: { fields: ["/evidence"] } };
}

/** Where what it expects were not sure to be what was agreed on, its sender could make the provider fail at will. */
function expectsRefusal(contracts: Contracts, id: string, record: ContractRecord, { expects }: Said): Refusal | null {
  const expected = expects?.output_schema;
  if (expected === undefined || contracts.expectations.areAgreed(id, record, expected)) return null;
  const message = `it is not proven that every output that the contract ${id} allows fits what the handoff expects; leave expects out, or negotiate with this output_schema`;
  return { code: 400, reason: "beyond_contract", message, extra: { fields: ["/expects/output_schema"] } };
}

/** Nobody adds to what was signed: a recipient holds the document against the lease. */
function unsaidRefusal(id: string, terms: ContractTerms, { to, capability, evidence }: Said): Refusal | null {
  const unsaid = [
    ...(to === undefined ? ["to"] : []),
    ...(capability === undefined ? ["capability"] : []),
    ...(terms.evidence === "signed" && evidence !== "signed" ? ["evidence"] : []),
  ];
  if (unsaid.length === 0) return null;
  const message = `a signed handoff under the contract ${id} must itself say ${unsaid.join(" and ")}`;
  const fields = unsaid.map((name) => `/signed/document/${name}`);
  const wanted = { to: terms.provider, capability: terms.capability, evidence: terms.evidence };
  return { code: 400, reason: "contract_unsaid", message, extra: { fields, wanted } };
}
