/** What an episode has learned so far from the relay's own answers: real ids, fences, questions, cursors to be wrong with. */

import type { ContractTerms } from "@handfast/protocol";
import type { Random } from "../chance.ts";
import { isObject } from "../json/schema-values.ts";

export interface KnownLease {
  readonly fence: number;
  readonly agent: string;
  readonly worker: string;
  readonly manifest: string | null;
}

export interface Known {
  readonly id: string;
  /** As last heard. */
  state: string;
  digest: string | null;
  /** Newest last. */
  readonly leases: KnownLease[];
  readonly questions: string[];
}

export interface KnownArtifact {
  readonly sha256: string;
  readonly size: number;
  readonly media_type: string;
}

const ended: ReadonlySet<string> = new Set(["completed", "failed", "rejected", "canceled", "expired"]);
const dead: ReadonlySet<string> = new Set(["failed", "rejected", "expired"]);

export const is = {
  open: ({ state }: Known) => !ended.has(state),
  ended: ({ state }: Known) => ended.has(state),
  dead: ({ state }: Known) => dead.has(state),
  leased: ({ leases, state }: Known) => leases.length > 0 && !ended.has(state),
  asked: ({ questions }: Known) => questions.length > 0,
};

export class World {
  readonly handoffs: Known[] = [];
  readonly artifacts: KnownArtifact[] = [];
  readonly cursors: string[] = [];
  readonly token_ids: string[] = [];
  readonly tokens: string[] = [];
  /** Digests. */
  readonly manifests: string[] = [];
  readonly plans: string[] = [];
  readonly challenges: string[] = [];
  readonly request_ids: string[] = [];
  readonly idempotency_keys: string[] = [];
  readonly negotiations: string[] = [];
  readonly offers: string[] = [];
  /** Offers that were asked for live. */
  readonly calls: string[] = [];
  readonly contracts: string[] = [];
  /** As offers and calls showed them. */
  readonly terms: ContractTerms[] = [];
  readonly #by_id = new Map<string, Known>();

  note(id: string, state: string, digest: string | null = null): Known {
    const known = this.#by_id.get(id) ?? { id, state, digest: null, leases: [], questions: [] };
    if (!this.#by_id.has(id)) {
      this.#by_id.set(id, known);
      this.handoffs.push(known);
    }
    known.state = state;
    known.digest ??= digest;
    return known;
  }

  /** Takes from an answer whatever could be used again. `caller` is who asked. */
  learn(body: unknown, caller: string, worker: string | null): void {
    if (!isObject(body)) return;
    const { id, state, digest, cursor, plan, challenge, token, sha256, size, media_type, handoff } = body;
    if (typeof id === "string" && typeof state === "string") {
      const is_question = typeof handoff === "string";
      const known = this.note(is_question ? handoff : id, state, textOf(digest));
      if (is_question) hearQuestion(known, id, body["open"] === true);
    }
    if (isObject(handoff)) this.learn(handoff, caller, worker);
    keep(this.cursors, cursor);
    keep(this.plans, plan);
    const { manifest } = body;
    keep(this.manifests, isObject(manifest) ? manifest["digest"] : manifest);
    keep(this.challenges, challenge);
    if (typeof token === "string") {
      keep(this.tokens, token);
      keep(this.token_ids, id);
    }
    if (typeof sha256 === "string" && typeof size === "number" && typeof media_type === "string") {
      this.artifacts.push({ sha256, size, media_type });
    }
    this.#learnTerms(body);
    for (const list of ["receipts", "handoffs", "dead_letters", "questions", "offers", "proposals", "contracts"]) {
      const items = body[list];
      if (Array.isArray(items)) for (const item of items.slice(0, 8)) this.learn(item, caller, worker);
    }
    if (Array.isArray(body["leases"])) for (const lease of body["leases"]) this.#learnLease(lease, caller, worker);
  }

  /** Refusals tell something too: how the handoff stands by now, and that a lease is lost. */
  learnRefusal(id: string | undefined, problem: unknown): void {
    const known = id === undefined ? undefined : this.#by_id.get(id.split(":", 1)[0] ?? "");
    if (known === undefined || !isObject(problem)) return;
    const { state, code } = problem;
    if (typeof state === "string") known.state = state;
    if (code === 412) known.leases.pop();
    if (id !== known.id && (code === 409 || code === 410 || code === 408)) hearQuestion(known, id ?? "", false);
  }

  #learnTerms({ negotiation_id, offer_id, contract_id, state, terms, reply_by, id }: Record<string, unknown>): void {
    keep(this.negotiations, negotiation_id);
    keep(this.offers, offer_id);
    // Of an offer it is only what the contract would be called.
    if (typeof state === "string") keep(this.contracts, contract_id);
    if (typeof reply_by === "number" && isObject(terms)) keep(this.calls, id);
    if (isObject(terms) && this.terms.length < 100) this.terms.push(terms as unknown as ContractTerms);
  }

  #learnLease(lease: unknown, agent: string, worker: string | null): void {
    if (!isObject(lease) || worker === null) return;
    const { id, fence, manifest, digest } = lease;
    if (typeof id !== "string" || typeof fence !== "number") return;
    const known = this.note(id, "delivered", textOf(digest));
    if (known.leases.some((held) => held.fence === fence)) return;
    known.leases.push({ fence, agent, worker, manifest: textOf(manifest) });
  }

  /** One of those that it holds for, if there is any; now and then any other. */
  choose(random: Random, wanted: (known: Known) => boolean): Known | null {
    const fitting = random.chance(0.85) ? this.handoffs.filter(wanted) : this.handoffs;
    const among = fitting.length > 0 ? fitting : this.handoffs;
    return among.length === 0 ? null : random.pick(among);
  }
}

function hearQuestion({ questions }: Known, id: string, is_open: boolean): void {
  const at = questions.indexOf(id);
  if (is_open && at < 0) questions.push(id);
  if (!is_open && at >= 0) questions.splice(at, 1);
}

function keep(list: string[], value: unknown): void {
  if (typeof value === "string" && list.length < 100) list.push(value);
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
