/** Makes of each candidate of a negotiation an offer in its name, a call for a proposal, or a reason why neither. */

import type { Time } from "@handfast/core";
import { canonicalJson, makeId } from "@handfast/protocol";
import type { NegotiationRequest } from "@handfast/protocol/wire";
import { durationWords } from "../directory/discovery/sentences.ts";
import type { RelayLimits } from "../limits.ts";
import { askedTerms, attemptAsked } from "./asked-terms.ts";
import type { Call, Declined, KeptMiss, Offer } from "./contract-record.ts";
import type { Parties } from "./contracts.ts";
import { dearer, priceWords } from "./dearer.ts";
import type { Negotiations } from "./negotiations.ts";
import type { Asker, Candidate } from "./seek.ts";
import { missOf, sealed_price, sealed_words } from "./show.ts";

export interface RoundOptions {
  readonly namespace: string;
  readonly table: Negotiations;
  readonly parties: Parties;
  readonly canSign: (agent: string) => boolean;
  readonly limits: RelayLimits;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly relay: () => string;
}

export interface Asked {
  readonly asker: Asker;
  readonly request: NegotiationRequest;
  readonly asked_at: Time;
  readonly reply_by: Time;
}

export interface Look {
  readonly agent_id: string;
  readonly capability: string;
  /** Null: it was only compared. */
  readonly offer_id: string | null;
}

export class Round {
  readonly offers: Offer[] = [];
  readonly calls: Call[] = [];
  readonly declined: Declined[] = [];
  readonly missed: KeptMiss[] = [];
  /** Whose price the asker is shown, or told how it compares. */
  readonly looks: Look[] = [];
  readonly #options: RoundOptions;
  readonly #asked: Asked;
  /** Of the capabilities that are quoted. */
  #bytes = 0;
  #over_at: Time;

  constructor(options: RoundOptions, asked: Asked) {
    this.#options = options;
    this.#asked = asked;
    this.#over_at = asked.asked_at;
  }

  /** When the last of the offers has expired. */
  get over_at(): Time {
    return this.#over_at;
  }

  ask(candidate: Candidate): void {
    const { limits, table } = this.#options;
    const { agent_id, capability, cost } = candidate;
    if (agent_id === this.#asked.asker.name) {
      const itself = "It is the asker itself, and an agent is never offered its own work.";
      return void this.missed.push(missOf(agent_id, capability, itself));
    }
    const lack = this.#lack(candidate) ?? this.#tooDear(candidate);
    if (lack !== null) return void this.missed.push(lack);
    const bytes = canonicalJson(capability).length;
    const is_full = this.offers.length + this.calls.length >= limits.offers_per_negotiation;
    if (is_full || this.#bytes + bytes > limits.negotiation_bytes) {
      return this.#decline(
        candidate,
        "too_many_offers",
        "Those that are ranked before it are as many as one negotiation holds.",
      );
    }
    if (capability.proposes !== true) {
      this.#bytes += bytes;
      const offer = this.#offer(candidate, cost.kind === "sealed");
      this.offers.push(offer);
      if (cost.kind === "shown") {
        this.looks.push({ agent_id, capability: capability.name, offer_id: offer.offer_id });
      }
      return;
    }
    if (cost.kind === "sealed" || this.#options.parties.isRival(this.#asked.asker, capability.name)) {
      return this.#decline(candidate, "sealed", sealed_words);
    }
    if (this.calls.length >= limits.calls_per_negotiation || !table.hasRoomFor(agent_id, this.#asked.asked_at)) {
      return this.#decline(
        candidate,
        "too_many_calls",
        "It has as many calls for proposals open as are put at a time.",
      );
    }
    this.#bytes += bytes;
    this.calls.push({ asked: this.#offer(candidate, false), answer: null });
  }

  /** What keeps it from meeting the terms, beyond what a search looks at; null: nothing. */
  #lack({ agent_id, capability, schemas }: Candidate): KeptMiss | null {
    const { canSign, limits, parties } = this.#options;
    const { request, asked_at } = this.#asked;
    const miss = (lack: string) => missOf(agent_id, capability, lack);
    if (request.evidence === "signed" && !canSign(agent_id)) {
      return miss("It has no key, and so cannot sign what it says.");
    }
    const given_ms = attemptAsked(request, limits);
    const { timeout_seconds } = capability;
    if (timeout_seconds !== undefined && timeout_seconds * 1_000 > given_ms) {
      const most = durationWords(timeout_seconds * 1_000);
      return miss(`It may take ${most} for one attempt, and is given ${durationWords(given_ms)}.`);
    }
    // Routing would give it nothing of what it agreed to, and each handoff would count against it as late.
    const half_ms = parties.halfTakesMs(agent_id, capability.name, asked_at) ?? 0;
    const deadline_ms = request.limits?.deadline_ms ?? limits.default_deadline_ms;
    if (half_ms > deadline_ms) {
      return miss(
        `Half of its attempts take ${durationWords(half_ms)}, and all is to be done in ${durationWords(deadline_ms)}.`,
      );
    }
    // Nobody is bound by a manifest to an output that it never promised; whoever is asked may agree to it itself.
    const { output } = schemas;
    if (request.output_schema === undefined || output.verdict === "proven" || capability.proposes === true) return null;
    const because = output.because === undefined ? "" : `: ${output.because}`;
    return miss(`Its manifest does not prove that its output is what is asked for${because}.`);
  }

  #tooDear({ agent_id, capability, cost }: Candidate): KeptMiss | null {
    const { max_cost } = this.#asked.request;
    if (max_cost === undefined || capability.proposes === true) return null;
    if (cost.kind === "sealed") return missOf(agent_id, capability, sealed_price);
    if (cost.kind === "none") {
      return missOf(agent_id, capability, "It names no price, and so promises to stay below none.");
    }
    if (!dearer(cost.cost, max_cost)) return null;
    this.looks.push({ agent_id, capability: capability.name, offer_id: null });
    const lack = `It asks ${priceWords(cost.cost)}, and ${priceWords(max_cost)} is the most.`;
    return { ...missOf(agent_id, capability, lack), compares: true };
  }

  #offer(candidate: Candidate, sealed: boolean): Offer {
    const { agent_id, capability, manifest, reliability, schemas, merit, cost } = candidate;
    const { namespace, relay, limits, randomBytes } = this.#options;
    const { asker, request, asked_at, reply_by } = this.#asked;
    const offer_id = makeId(asked_at, randomBytes(10));
    const terms = askedTerms(
      { relay: relay(), namespace, asker: asker.name, request, now: asked_at, limits },
      { agent_id, capability, cost: cost.kind === "shown" ? cost.cost : null },
      offer_id,
    );
    const from = capability.proposes === true ? reply_by : asked_at;
    const expires_at = Math.min(from + limits.offer_life_ms, terms.valid_until);
    this.#over_at = Math.max(this.#over_at, expires_at);
    return {
      offer_id,
      agent_id,
      capability,
      manifest,
      terms,
      sealed,
      cost_salt: cost.kind === "shown" ? cost.salt : null,
      reliability,
      schemas,
      merit,
      expires_at,
      proposal: null,
    };
  }

  #decline({ agent_id, capability }: Candidate, reason: string, message: string): void {
    this.declined.push({ agent_id, capability: capability.name, reason, message });
  }
}
