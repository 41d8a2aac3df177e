/**
 * What makes an offer its provider's own word, checked before anything is signed: whoever agrees need not believe the relay.
 * The terms are those that were asked for and hash to the contract's id; the provider signed them (a proposal), or signed the
 * manifest that they follow from. Who cannot sign is trusted as elsewhere: not where it must, or did so before.
 */

import type { Capability, ContractTerms } from "@handfast/protocol";
import {
  canonicalJson,
  capabilityDigest,
  contractId,
  manifestContent,
  manifestDigest,
  opensCost,
  schemaDigest,
  toUtf8,
} from "@handfast/protocol/client";
import type { NegotiationRequest, OfferView } from "@handfast/protocol/wire";
import type { Base } from "../base.ts";
import { documentReader } from "../documents.ts";
import { HandoffError } from "../errors.ts";
import { type About, untrusted } from "../trust.ts";

/** What was asked for, and between which moments of the asker's clock the relay answered. */
export interface Asked {
  readonly request: NegotiationRequest;
  readonly asked_at: number;
  readonly answered_at: number;
}

/** How long a contract holds where nothing is said of it. */
const valid_default_ms = 24 * 3_600_000;
/** So far the relay's clock may be from the asker's. */
const clock_slack_ms = 5 * 60_000;

/** Throws HandoffError (401) saying what is wrong. */
export async function checkOffer(base: Base, asked: Asked, offer: OfferView, terms: ContractTerms): Promise<void> {
  const about: About = { id: offer.offer_id, from: offer.agent_id, what: "offer" };
  const wrong = [
    ...differences(base, offer, terms),
    ...unasked(base, asked, offer, terms),
    ...base.trust.elsewhere(terms),
  ];
  if (wrong.length > 0) throw untrusted(about, "offer_differs", `its terms are not what they should be (${wrong})`);
  // A relay that shows less than it should proves less.
  const { proposal = null } = offer;
  if (proposal === null) await checkManifest(base, about, offer, terms);
  else await checkProposal(base, about, proposal, terms);
}

/** In what the terms are not those of the offer as it is shown, to the agent that it is shown to. */
function differences({ crypto, agent }: Base, offer: OfferView, terms: ContractTerms): readonly string[] {
  return differing({
    contract_id: [contractId(crypto, terms), offer.contract_id],
    asker: [terms.asker, agent],
    offer: [terms.offer, offer.offer_id],
    provider: [terms.provider, offer.agent_id],
    capability: [terms.capability, offer.capability.name],
    offered: [terms.offered, capabilityDigest(crypto, offer.capability)],
    cost: [terms.cost, offer.cost],
  });
}

/** In what they are not those that were asked for. A provider's proposal may narrow limits and validity, and name a price. */
function unasked({ crypto }: Base, told: Asked, offer: OfferView, terms: ContractTerms): readonly string[] {
  const { request: asked } = told;
  const { input_schema, output_schema, max_cost: most, capability = terms.capability } = asked;
  const same = differing({
    capability: [terms.capability, capability],
    input_schema: [terms.input_schema, input_schema === undefined ? null : schemaDigest(crypto, input_schema)],
    output_schema: [terms.output_schema, output_schema === undefined ? null : schemaDigest(crypto, output_schema)],
    min_reliability: [terms.min_reliability, asked.min_reliability ?? null],
    evidence: [terms.evidence, asked.evidence ?? "any"],
    data_policy: [terms.data_policy, asked.data_policy ?? null],
  });
  const is_proposed = (offer.proposal ?? null) !== null;
  const limits = is_proposed ? beyond(asked, terms) : otherLimits(asked, offer.capability, terms);
  const { cost } = terms;
  const is_dear = most !== undefined && (cost === null || cost.per !== most.per || cost.amount > most.amount);
  const is_other = asked.agents !== undefined && !asked.agents.includes(terms.provider);
  return [
    ...same,
    ...limits,
    ...(isValidAsAsked(told, terms, is_proposed) ? [] : ["valid_until"]),
    ...(is_dear ? ["max_cost"] : []),
    ...(is_other ? ["agents"] : []),
  ];
}

/** Of a proposal: which limits are more than was asked for. */
function beyond(asked: NegotiationRequest, terms: ContractTerms): readonly string[] {
  const { retry, ...counts } = asked.limits ?? {};
  const agreed: Readonly<Record<string, unknown>> = terms.limits;
  const more = Object.entries(counts).filter(([name, most]) => Number(agreed[name]) > Number(most));
  // Once acknowledged never again: whoever asked for that did not ask for a second attempt.
  const is_repeated = retry === "until_ack" && terms.limits.retry !== "until_ack";
  return [...more.map(([name]) => name), ...(is_repeated ? ["retry"] : [])];
}

const floored: ReadonlySet<string> = new Set(["queue_ms", "ack_ms", "lease_ms"]);

/** Without a proposal nobody narrowed them: they are as asked, and as the capability says. The rest is the relay's default. */
function otherLimits(
  { limits: asked = {} }: NegotiationRequest,
  { timeout_seconds, idempotent }: Capability,
  { limits: agreed }: ContractTerms,
): readonly string[] {
  const { deadline_ms, queue_ms, attempt_ms, ...others } = asked;
  const own_ms = timeout_seconds === undefined ? undefined : timeout_seconds * 1_000;
  const least = (...most: readonly (number | undefined)[]) =>
    Math.min(agreed.deadline_ms, ...most.filter((each) => each !== undefined));
  const is_bounded = attempt_ms !== undefined || own_ms !== undefined;
  const should: Readonly<Record<string, unknown>> = {
    ...others,
    ...(deadline_ms === undefined ? {} : { deadline_ms }),
    ...(queue_ms === undefined ? {} : { queue_ms: least(queue_ms) }),
    ...(is_bounded ? { attempt_ms: least(attempt_ms, own_ms) } : {}),
    retry: idempotent === false ? "until_ack" : (asked.retry ?? "attempts"),
  };
  const is: Readonly<Record<string, unknown>> = { ...agreed };
  // The relay raises these to its defaults where less is asked for: an attempt is to be possible at all.
  const isRaised = (name: string) => floored.has(name) && Number(is[name]) > Number(should[name]);
  return Object.keys(should).filter((name) => is[name] !== should[name] && !isRaised(name));
}

/** A proposal may make it shorter; nobody longer. */
function isValidAsAsked(told: Asked, { valid_until }: ContractTerms, is_proposed: boolean): boolean {
  const { request, asked_at, answered_at } = told;
  const valid_ms = request.valid_ms ?? valid_default_ms;
  if (valid_until > answered_at + valid_ms + clock_slack_ms) return false;
  return is_proposed || valid_until >= asked_at + valid_ms - clock_slack_ms;
}

function differing(pairs: Readonly<Record<string, readonly [unknown, unknown]>>): readonly string[] {
  const isSame = ([one, other]: readonly [unknown, unknown]) => canonicalJson(one) === canonicalJson(other);
  return Object.entries(pairs).flatMap(([name, pair]) => (isSame(pair) ? [] : [name]));
}

/** The provider's own document over these very terms. */
async function checkProposal(
  base: Base,
  about: About,
  { document: text, proof }: NonNullable<OfferView["proposal"]>,
  terms: ContractTerms,
): Promise<void> {
  const readDocument = await documentReader();
  const bytes = toUtf8(text);
  const read = readDocument("proposal", bytes);
  if (!read.ok) throw untrusted(about, "document_malformed", `its proposal is malformed: ${read.fault.message}`);
  // Whose terms they are and where they hold is in them, and the reader holds the document to that.
  if (
    read.document.terms === undefined ||
    contractId(base.crypto, read.document.terms) !== contractId(base.crypto, terms)
  ) {
    throw untrusted(about, "binds_another", "what its provider proposed are other terms");
  }
  if (proof === null) return checkUnsigned(base, about, terms, "its proposal");
  await base.trust.checkSignature(about, "proposal", terms.provider, bytes, proof);
}

/** What stands of it in the manifest that the provider signed: the capability as it was offered, and its sealed price. */
async function checkManifest(base: Base, about: About, offer: OfferView, terms: ContractTerms): Promise<void> {
  const { registration } = await readManifest(base, about, offer.manifest);
  // Of one that cannot sign, all of it is the relay's word.
  if (registration === null) return checkUnsigned(base, about, terms, "its manifest");
  const told = await readRegistration(base, about, registration.document);
  if (told.agent_id !== terms.provider || manifestDigest(base.crypto, told) !== offer.manifest) {
    throw untrusted(about, "binds_another", "the manifest that the relay shows is not the one that it follows from");
  }
  const capability = told.capabilities.find(({ name }) => name === terms.capability);
  if (capability === undefined || capabilityDigest(base.crypto, capability) !== terms.offered) {
    throw untrusted(about, "binds_another", `its provider's manifest does not offer ${terms.capability} like this`);
  }
  // It never let anybody promise in its name.
  if (capability.proposes === true) {
    throw untrusted(about, "proof_missing", "its provider wants to be asked, and its proposal is not shown");
  }
  if (!isPriced(base, capability, offer, terms)) {
    throw untrusted(about, "price_differs", "its price is not the one that its provider's manifest seals");
  }
  const bytes = toUtf8(registration.document);
  await base.trust.checkSignature(about, "registration", terms.provider, bytes, registration.proof);
}

async function readManifest({ link }: Base, about: About, digest: string) {
  try {
    return await link.call("manifest", { params: { digest } });
  } catch (error) {
    if (!(error instanceof HandoffError) || error.code !== 404) throw error;
    throw untrusted(about, "proof_missing", `the relay does not show the manifest ${digest} that it follows from`);
  }
}

async function readRegistration(base: Base, about: About, text: string) {
  const readDocument = await documentReader();
  const read = readDocument("registration", toUtf8(text));
  if (!read.ok) throw untrusted(about, "document_malformed", `its manifest is malformed: ${read.fault.message}`);
  const wrong = base.trust.elsewhere(read.document);
  if (wrong.length > 0) throw untrusted(about, "binds_another", `its manifest is signed for another ${wrong}`);
  return manifestContent(read.document);
}

function isPriced({ crypto }: Base, { cost: seal }: Capability, { cost_salt: salt }: OfferView, terms: ContractTerms) {
  if (seal === undefined || terms.cost === null) return seal === undefined && terms.cost === null;
  return salt !== null && opensCost(crypto, { salt, cost: terms.cost }, seal);
}

function checkUnsigned({ trust }: Base, about: About, { provider, evidence }: ContractTerms, what: string): void {
  if (evidence === "signed") {
    throw untrusted(about, "unsigned", `${what} is not signed by ${provider}, and signed evidence was asked for`);
  }
  trust.checkUnsigned(about, provider, what);
}
