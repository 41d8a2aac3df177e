/** One round of terms: a need is put to those that could meet it, and the offers that come back can be taken. */

import type { Limits } from "@handfast/protocol";
import { makeId, protocolLimits, wireLimits } from "@handfast/protocol/client";
import type { Miss, NegotiationRequest, NegotiationView, OfferView } from "@handfast/protocol/wire";
import { agree } from "../acts.ts";
import type { Base } from "../base.ts";
import { type Duration, toMilliseconds } from "../duration.ts";
import { HandoffError } from "../errors.ts";
import { present } from "../present.ts";
import { limitsOf } from "../send/draft.ts";
import { usage } from "../send/faults.ts";
import type { SendingFrom, SendOptions } from "../send/mod.ts";
import { textList } from "../text-list.ts";
import { type Contract, contractOf } from "./contract.ts";
import { listOf, nearOf } from "./find.ts";
import { type Need, readNeed } from "./need.ts";
import { type Asked, checkOffer } from "./offer-proof.ts";

/** A need, and the terms on which it is to be met. What is not said is what the relay or the provider says. */
export interface TermsNeeded
  extends Need,
    Pick<SendOptions, "timeout" | "queue" | "ack" | "lease" | "attempt" | "attempts" | "retry" | "evidence"> {
  /** Only these agents are asked. */
  readonly agents?: readonly string[];
  /** How long those that are asked live may take to answer. Default: the relay's, 5 s. */
  readonly replyBy?: Duration;
  /** How long the contract is to hold, at most 30 days. Default: the relay's, 24 hours. */
  readonly valid?: Duration;
}

/** Options of `negotiate()`. */
export interface NegotiateOptions {
  readonly signal?: AbortSignal;
}

/** Somebody's word, for a while: as the relay shows it, and to be taken. */
export interface Offer extends OfferView {
  /**
   * Takes it. What the provider signed is checked first: these very terms, or the manifest that they follow from, by a key that
   * is known to be the provider's; else it throws (401) and nothing is agreed on. Then an agent with a key signs the
   * terms. Repeated, it is the same contract.
   */
  accept(options?: NegotiateOptions): Promise<Contract>;
}

/** An agent that was asked and would not. */
export type Declined = NegotiationView["declined"][number];

/** What came of a round. No offers is no error: `declined` and `near` say why. */
export interface Negotiation {
  /** Null: nothing came of it, so that nothing is kept. */
  readonly id: string | null;
  /** As the relay ranks them, the best first. */
  readonly offers: readonly Offer[];
  readonly declined: readonly Declined[];
  /** Those that do not meet the need, the nearest first, and what each lacks. */
  readonly near: readonly Miss[];
}

const termNames = [
  ...(["timeout", "queue", "ack", "lease", "attempt", "attempts", "retry", "evidence"] as const),
  ...(["agents", "replyBy", "valid"] as const),
] satisfies readonly (keyof TermsNeeded)[];

/** Longer than a relay waits for proposals unless told otherwise; it answers as soon as there is nobody left to wait for. */
const wait_default_ms = 60_000;

export async function negotiate(
  base: Base,
  sends: Pick<SendingFrom, "send">,
  need: TermsNeeded,
  { signal }: NegotiateOptions = {},
): Promise<Negotiation> {
  const body = requestOf(base, need);
  const { now } = base.surroundings;
  const asked_at = now();
  const wait_ms = body.reply_by_ms === undefined ? wait_default_ms : body.reply_by_ms + 1_000;
  try {
    const view = await base.link.call("negotiate", { body }, { wait_ms, signal });
    const { negotiation_id: id, declined, near } = view;
    const asked: Asked = { request: body, asked_at, answered_at: now() };
    return { id, offers: view.offers.map((offer) => offerOf(base, sends, asked, offer)), declined, near };
  } catch (error) {
    const near = nearOf(error, "no_offer");
    if (near === null || !(error instanceof HandoffError)) throw error;
    return { id: null, offers: [], declined: listOf<Declined>(error, "declined"), near };
  }
}

/** The id is the asker's, so that a repeat of the call asks nobody twice. */
function requestOf(base: Base, need: TermsNeeded): NegotiationRequest {
  const wanted = readNeed(need, termNames);
  const { words, capability, tags, input, input_schema, output_schema } = wanted;
  const said = [words, capability, tags, input, input_schema, output_schema, need.agents];
  // Everybody would be asked, whatever they do.
  if (said.every((each) => each === undefined)) {
    throw usage("A negotiation needs words, a capability or schemas.", "Say what is to be done.");
  }
  const { now, randomBytes } = base.surroundings;
  const limits: Limits = limitsOf(need);
  return {
    id: makeId(now(), randomBytes(10)),
    ...wanted,
    ...present({
      limits: Object.keys(limits).length === 0 ? undefined : limits,
      evidence: need.evidence,
      agents: need.agents === undefined ? undefined : textList(need.agents, "agents"),
      reply_by_ms:
        need.replyBy === undefined ? undefined : toMilliseconds(need.replyBy, "replyBy", wireLimits.reply_by_most_ms),
      valid_ms: need.valid === undefined ? undefined : toMilliseconds(need.valid, "valid", protocolLimits.duration_ms),
    }),
  };
}

function offerOf(base: Base, sends: Pick<SendingFrom, "send">, asked: Asked, offer: OfferView): Offer {
  return {
    ...offer,
    accept: async ({ signal } = {}) => {
      const { terms, offer_id, contract_id } = offer;
      if (terms === null || contract_id === null) {
        // Nobody agrees to a price unseen: the relay says why.
        const view = await agree(base, { offer_id, terms: null }, { signal });
        return contractOf(base, sends, view, view.contract_id);
      }
      await checkOffer(base, asked, offer, terms);
      const view = await agree(base, { offer_id, terms: { id: contract_id, terms } }, { signal });
      return contractOf(base, sends, view, contract_id);
    },
  };
}
