/**
 * One round: a need is put to those that could meet it. Whose manifest says all that is needed has an offer made in its name;
 * whoever wants to be asked is, and has until `reply_by` to propose or decline. There are no counter-offers.
 */

import type { Time } from "@handfast/core";
import { type ContractTerms, type Limits, makeId } from "@handfast/protocol";
import type { Need, NegotiationRequest } from "@handfast/protocol/wire";
import { type Change, commitChanges } from "../directory/record-table.ts";
import type { Records } from "../directory/records.ts";
import { Turns } from "../directory/turns.ts";
import { unknownAgent } from "../directory/unknown-agent.ts";
import type { RelayLimits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { canonicalDigest } from "../schemas/canonical-json.ts";
import { toldWithin } from "../told-within.ts";
import type { Call, CallAnswer, NegotiationRecord, Offer, Said } from "./contract-record.ts";
import type { Parties } from "./contracts.ts";
import { dearer } from "./dearer.ts";
import { beyond, within } from "./narrower.ts";
import { bytesOf, type Commit, type FoundCall, Negotiations } from "./negotiations.ts";
import { type Look, Round } from "./round.ts";
import type { Asker, Seek } from "./seek.ts";

export interface NegotiatingOptions {
  readonly namespace: string;
  readonly records: Records;
  readonly commit: Commit;
  readonly seek: Seek;
  readonly parties: Parties;
  /** Whether an agent can sign what it says. */
  readonly canSign: (agent: string) => boolean;
  readonly limits: RelayLimits;
  readonly now: () => Time;
  readonly randomBytes: (count: number) => Uint8Array;
  /** By which URL documents name this relay. */
  readonly relay: () => string;
  /** Told once it is safe: whom something was put to, and whose negotiation has news. */
  readonly onAsked: (agents: readonly string[]) => void;
  readonly onAnswered: (negotiation_id: string) => void;
}

/** What a provider answers to a call. */
export type Answer =
  | { readonly kind: "proposed"; readonly terms: ContractTerms; readonly said: Said }
  | { readonly kind: "declined"; readonly reason: string; readonly message: string };

export class Negotiating {
  readonly turns: Turns;
  readonly table: Negotiations;
  readonly #options: NegotiatingOptions;
  readonly #searches = new Turns();
  #in_line = 0;

  private constructor(options: NegotiatingOptions) {
    this.#options = options;
    this.turns = new Turns(options.records.others);
    this.table = new Negotiations(options.namespace, options.limits);
  }

  static async open(options: NegotiatingOptions): Promise<Negotiating> {
    const negotiating = new Negotiating(options);
    await negotiating.load();
    return negotiating;
  }

  load(): Promise<void> {
    return this.table.load(this.#options.records);
  }

  /** Another node began, answered or dropped these: whoever waits here for them is told. */
  takenOver(ids: Iterable<string>): void {
    for (const id of ids) {
      const called = (this.table.get(id)?.calls ?? []).filter(({ answer }) => answer === null);
      if (called.length > 0) this.#options.onAsked(called.map(({ asked }) => asked.agent_id));
      this.#options.onAnswered(id);
    }
  }

  /** Whether the agent that has this name now is the one that asked. */
  isAsker({ asker, asker_since }: NegotiationRecord, agent: string): boolean {
    return asker === agent && this.#options.parties.knownSince(agent) === asker_since;
  }

  /** A negotiation; with the same id and content, the one that was begun before. What brought nothing is not kept. */
  begin(
    asker: Asker,
    request: NegotiationRequest,
  ): Promise<{ readonly id: string; readonly begun: NegotiationRecord }> {
    return this.#inLine(async () => {
      const { now, randomBytes } = this.#options;
      const { id = makeId(now(), randomBytes(10)), ...asked } = request;
      const content = canonicalDigest(asked);
      const known = this.table.get(id);
      if (known !== undefined) {
        if (this.isAsker(known, asker.name) && known.content === content) return { id, begun: known };
        throw new Problem(409, "id_taken", `The id ${id} is in use for another negotiation; make a new UUIDv7.`);
      }
      const { negotiation, looks } = await this.#asked(asker, request, content);
      if (negotiation.offers.length + negotiation.calls.length === 0) {
        if (looks.length > 0) await this.#commit([], asker.name, looks);
        return { id, begun: negotiation };
      }
      await this.turns.take(async () => {
        const room = this.table.makingRoom(asker.name, bytesOf(negotiation), now());
        await this.#commit([...room, this.table.set(id, negotiation)], asker.name, looks);
      });
      const called = negotiation.calls.map((call) => call.asked.agent_id);
      if (called.length > 0) this.#options.onAsked(called);
      return { id, begun: negotiation };
    });
  }

  /**
   * One search after another: they are work for the processor, and more at once would take as long. Answers do not wait for
   * them, and nobody waits behind more than so many.
   */
  async #inLine<Result>(search: () => Promise<Result>): Promise<Result> {
    const { negotiations_in_line } = this.#options.limits;
    if (this.#in_line >= negotiations_in_line) {
      const message = `${negotiations_in_line} negotiations are being begun, which is as many as may wait for each other. Ask again in a moment.`;
      throw new Problem(429, "busy", message, {}, 1);
    }
    this.#in_line += 1;
    try {
      return await this.#searches.take(search);
    } finally {
      this.#in_line -= 1;
    }
  }

  /** Answers a call, once; the same again is answered alike. */
  answer(offer_id: string, agent: string, decide: (found: FoundCall) => Answer): Promise<FoundCall> {
    return this.turns.take(async () => {
      const found = this.table.call(offer_id);
      if (found === null || found.call.asked.agent_id !== agent) throw unknownProposal(offer_id);
      const { negotiation_id, negotiation, call } = found;
      const answer = decide(found);
      const content = contentOf(answer);
      if (call.answer !== null) {
        if (call.answer.content === content) return found;
        throw new Problem(409, "already_proposed", `The call ${offer_id} has another answer. One round: it stands.`);
      }
      if (this.#options.now() >= negotiation.reply_by) {
        const message = `The call ${offer_id} was to be answered by ${negotiation.reply_by}; it counts as declined.`;
        throw new Problem(408, "proposal_too_late", message, { reply_by: negotiation.reply_by });
      }
      if (answer.kind === "proposed" && answer.terms.valid_until <= this.#options.now())
        throw validityOver(answer.terms);
      const next = this.#answered(negotiation, call, answer, content);
      const { agent_id, capability } = call.asked;
      const is_priced = answer.kind === "proposed" && answer.terms.cost !== null;
      const looks = is_priced ? [{ agent_id, capability: capability.name, offer_id }] : [];
      await this.#commit([this.table.set(negotiation_id, next)], negotiation.asker, looks);
      this.#options.onAnswered(negotiation_id);
      return this.table.call(offer_id) ?? found;
    });
  }

  /** Drops those that nobody can use any more, so many at a time; true: there may be more. */
  upkeep(): Promise<boolean> {
    return this.turns.take(async () => {
      const { now, limits, records } = this.#options;
      const gone = this.table.outlived(now(), limits.negotiations_dropped_at_once);
      await commitChanges(records, gone);
      return gone.length === limits.negotiations_dropped_at_once;
    });
  }

  async #asked(
    asker: Asker,
    request: NegotiationRequest,
    content: string,
  ): Promise<{ readonly negotiation: NegotiationRecord; readonly looks: readonly Look[] }> {
    const { now, limits, parties, seek } = this.#options;
    const asked_at = now();
    const asker_since = parties.knownSince(asker.name);
    // It was forgotten while it waited for its turn.
    if (asker_since === undefined) throw unknownAgent(asker.name);
    const only = request.agents === undefined ? null : new Set(request.agents);
    const { candidates, near } = await seek(needOf(request), asker, only);
    const reply_by = asked_at + (request.reply_by_ms ?? limits.default_reply_by_ms);
    const round = new Round({ ...this.#options, table: this.table }, { asker, request, asked_at, reply_by });
    for (const candidate of candidates) round.ask(candidate);
    const { offers, calls, declined, missed } = round;
    const { input_schema, output_schema } = request;
    const negotiation: NegotiationRecord = {
      asker: asker.name,
      asker_since,
      content,
      schemas: {
        ...(input_schema === undefined ? {} : { input_schema }),
        ...(output_schema === undefined ? {} : { output_schema }),
      },
      max_cost: request.max_cost ?? null,
      asked_at,
      reply_by: calls.length === 0 ? asked_at : reply_by,
      offers,
      calls,
      declined,
      near: toldWithin([...missed, ...near].slice(0, limits.near_per_negotiation), limits.negotiation_bytes).shown,
      over_at: round.over_at,
    };
    return { negotiation, looks: round.looks };
  }

  #answered(negotiation: NegotiationRecord, call: Call, answer: Answer, content: string): NegotiationRecord {
    const { asked } = call;
    const { agent_id, capability } = asked;
    const answered = { kind: answer.kind, content, at: this.#options.now() };
    const calls = (more: Pick<CallAnswer, "terms"> = {}) =>
      negotiation.calls.map((each) => (each === call ? { ...call, answer: { ...answered, ...more } } : each));
    const declined = (reason: string, message: string) => [
      ...negotiation.declined,
      { agent_id, capability: capability.name, reason, message },
    ];
    if (answer.kind === "declined") {
      return { ...negotiation, calls: calls(), declined: declined(answer.reason, answer.message) };
    }
    const { terms, said } = answer;
    if (dearer(terms.cost, negotiation.max_cost)) {
      const message = "It does not stay below the max_cost of this negotiation.";
      return { ...negotiation, calls: calls({ terms }), declined: declined("above_max_cost", message) };
    }
    // It may have narrowed the validity: nobody is told to take by then what holds no longer.
    const expires_at = Math.min(asked.expires_at, terms.valid_until);
    const offer: Offer = { ...asked, terms, cost_salt: null, proposal: said, expires_at };
    return { ...negotiation, calls: calls(), offers: [...negotiation.offers, offer] };
  }

  /** Each look at a price is in the log before it is told. */
  async #commit(changes: readonly Change[], by: string, looks: readonly Look[]): Promise<void> {
    const { namespace, records, commit } = this.#options;
    const entries = looks.map(({ agent_id, capability, offer_id }) => ({
      namespace,
      type: "looked" as const,
      by,
      agents: [agent_id],
      capability,
      ...(offer_id === null ? {} : { detail: { offer: offer_id } }),
    }));
    // Also where nothing but the looks is to be kept.
    if (changes.length === 0) await commit(entries, []);
    await commitChanges({ ...records, put: (writes) => commit(entries, writes) }, changes);
  }
}

/**
 * What must hold of whoever is asked. Its price is looked at here: whoever makes one when it is asked names none before, and what is
 * sealed must not be found out by asking for less and less.
 */
function needOf(request: NegotiationRequest): Need {
  const { id: _id, limits: _limits, evidence: _evidence, agents: _agents, ...rest } = request;
  const { reply_by_ms: _by, valid_ms: _valid, max_cost: _cost, ...need } = rest;
  return need;
}

function contentOf(answer: Answer): string {
  return canonicalDigest(
    answer.kind === "proposed" ? { terms: answer.terms } : { reason: answer.reason, message: answer.message },
  );
}

export function unknownProposal(id: string): Problem {
  return new Problem(404, "unknown_proposal", `There is no call for a proposal ${id}, or it was not put to you.`);
}

/** Nobody could take what is offered so, and the asker would never see it. */
function validityOver({ valid_until }: ContractTerms): Problem {
  const message = `The terms would be valid until ${valid_until}, which is past already. Name a later time (milliseconds since 1970), or decline.`;
  return new Problem(400, "validity_over", message, { fields: ["/valid_until"], valid_until });
}

/** What a provider changed of the terms it was asked for: its price, narrower limits, a shorter validity. */
export interface Proposed {
  readonly cost?: ContractTerms["cost"];
  readonly limits?: Limits;
  readonly valid_until?: Time;
}

/** The terms with what was proposed. Throws Problem 400 where that goes beyond what was asked. */
export function proposedTerms(asked: ContractTerms, { cost, limits = {}, valid_until }: Proposed): ContractTerms {
  const more: string[] = beyond(limits, asked.limits).map((name) => `/limits/${name}`);
  if (valid_until !== undefined && valid_until > asked.valid_until) more.push("/valid_until");
  if (more.length > 0) {
    const message = `A proposal may narrow what was asked for, never widen it: ${more.join(", ")}. Leave it as it was asked, or decline.`;
    throw new Problem(400, "beyond_call", message, { fields: more, asked: asked.limits });
  }
  return {
    ...asked,
    limits: within(limits, asked.limits),
    cost: cost === undefined ? asked.cost : cost,
    valid_until: valid_until ?? asked.valid_until,
  };
}
