/**
 * Every act that can be signed, in both forms: a document that this agent's key signs, or the plain fields where there
 * is only a token. The answers are the same.
 */

import type {
  Artifact,
  ContractTerms,
  DocumentOf,
  DocumentTyp,
  HandoffDocument,
  OutcomeError,
  Usage,
} from "@handfast/protocol";
import type {
  ContractView,
  HandoffView,
  HeldReply,
  LeaseView,
  Operations,
  ProposalCall,
  QuestionView,
  Receipt,
} from "@handfast/protocol/wire";
import type { Base } from "./base.ts";
import { UsageError } from "./errors.ts";
import type { CallOptions, Unsigned } from "./link/link.ts";
import { type Given, type Sealed, seal } from "./payload.ts";
import { present } from "./present.ts";

/** A handoff as it is to be sent. The id is made by the sender, so that a repeat is the same handoff. */
export type Draft = Omit<HandoffDocument, "v" | "typ" | "relay" | "namespace" | "from" | "input"> & Given<"input">;

export type OutcomeReply = Operations["complete"]["reply"];

/** What ended well: JSON or text, and what it cost. */
export interface Result extends Given<"output"> {
  readonly usage?: Usage;
  readonly artifacts?: Artifact[];
}

export interface Failure {
  readonly error: OutcomeError;
  readonly retryable: boolean;
  readonly retry_after_ms?: number;
  readonly usage?: Usage;
}

type Header = "v" | "typ" | "relay" | "namespace" | "from";

export async function submit(base: Base, draft: Draft, options?: CallOptions): Promise<Receipt> {
  if (base.signs) return base.link.sign("submit", {}, handoff(base, draft), options);
  return base.link.call("submit", { body: plainDraft(draft) }, options);
}

/** All are accepted, or none. */
export async function submitBatch(
  base: Base,
  drafts: readonly Draft[],
  options?: CallOptions,
): Promise<readonly Receipt[]> {
  const { receipts } = base.signs
    ? await base.link.signBatch(
        drafts.map((draft) => handoff(base, draft)),
        options,
      )
    : await base.link.call("submit_batch", { body: { handoffs: drafts.map(plainDraft) } }, options);
  return receipts;
}

export async function acknowledge(
  base: Base,
  lease: LeaseView,
  worker: string,
  options?: CallOptions,
): Promise<HeldReply> {
  const params = { id: lease.id };
  if (base.signs) return base.link.sign("ack", { params }, unsigned(base, "ack", bound(lease, worker)), options);
  return base.link.call("ack", { params, body: { fence: lease.fence, worker } }, options);
}

export async function complete(
  base: Base,
  lease: LeaseView,
  worker: string,
  result: Result,
  options?: CallOptions,
): Promise<OutcomeReply> {
  const { output, text, bytes, ...rest } = result;
  const said = present(rest);
  const given = present({ output, text, bytes });
  const params = { id: lease.id };
  if (!base.signs) {
    if (bytes !== undefined) throw bytesNeedKey("output");
    const body = {
      fence: lease.fence,
      worker,
      ...said,
      ...(text === undefined ? { output: output ?? null } : { text }),
    };
    return base.link.call("complete", { params, body }, options);
  }
  const sealed = seal(base, Object.keys(given).length === 0 ? { output: null } : given, "output");
  const fields = { ...bound(lease, worker), status: "completed" as const, code: 200, output: sealed.digest, ...said };
  return base.link.sign("complete", { params }, unsigned(base, "outcome", fields, sealed), options);
}

export async function fail(
  base: Base,
  lease: LeaseView,
  worker: string,
  failure: Failure,
  options?: CallOptions,
): Promise<OutcomeReply> {
  const params = { id: lease.id };
  const said = present(failure);
  if (!base.signs) return base.link.call("fail", { params, body: { fence: lease.fence, worker, ...said } }, options);
  const fields = { ...bound(lease, worker), status: "failed" as const, code: 500, ...said };
  return base.link.sign("fail", { params }, unsigned(base, "outcome", fields), options);
}

export async function reject(
  base: Base,
  lease: LeaseView,
  worker: string,
  { error }: { readonly error: OutcomeError },
  options?: CallOptions,
): Promise<OutcomeReply> {
  const params = { id: lease.id };
  if (!base.signs) return base.link.call("reject", { params, body: { fence: lease.fence, worker, error } }, options);
  const fields = { ...bound(lease, worker), status: "rejected" as const, code: 501, error };
  return base.link.sign("reject", { params }, unsigned(base, "outcome", fields), options);
}

/** The digest is that of the receipt; where it is not known, it is read first. */
export async function cancel(
  base: Base,
  { id, digest }: { readonly id: string; readonly digest?: string | null | undefined },
  reason?: string,
  options?: CallOptions,
): Promise<HandoffView> {
  const params = { id };
  const said = reason === undefined ? {} : { reason };
  if (!base.signs) return base.link.call("cancel", { params, body: said }, options);
  const known = digest ?? (await base.link.call("get", { params }, options)).digest;
  return base.link.sign("cancel", { params }, unsigned(base, "cancel", { id, handoff: known, ...said }), options);
}

/** Takes an offer: on terms that this agent has seen, or, where they are sealed, by the offer's id alone. */
export async function agree(
  base: Base,
  { offer_id, terms }: { offer_id: string; terms: { id: string; terms: ContractTerms } | null },
  options?: CallOptions,
): Promise<ContractView> {
  if (!base.signs || terms === null) return base.link.call("agree", { body: { offer_id } }, options);
  const document = unsigned(base, "contract", { contract: terms.id, terms: terms.terms });
  return base.link.sign("agree", {}, document, options);
}

/** What an agent that is asked live says: the whole terms as it would agree to them, or why not. */
export type ProposalSaid = Pick<DocumentOf<"proposal">, "terms" | "decline">;

/** Answers a call for a proposal. Repeated alike, it is answered alike. */
export async function propose(
  base: Base,
  { id }: Pick<ProposalCall, "id">,
  said: ProposalSaid,
  options?: CallOptions,
): Promise<ProposalCall> {
  const params = { id };
  if (base.signs) {
    return base.link.sign("propose", { params }, unsigned(base, "proposal", { offer: id, ...said }), options);
  }
  const { terms, decline } = said;
  const body =
    terms === undefined ? { decline } : { cost: terms.cost, limits: terms.limits, valid_until: terms.valid_until };
  return base.link.call("propose", { params, body: present(body) }, options);
}

/** A question as it is listed; or its id alone, and the rest is read first. */
export async function answer(
  base: Base,
  question: { readonly id: string; readonly handoff?: string; readonly digest?: string },
  value: unknown,
  options?: CallOptions,
): Promise<QuestionView> {
  const params = { id: question.id };
  if (!base.signs) return base.link.call("answer", { params, body: { answer: value ?? null } }, options);
  const { handoff: id, digest } = await boundQuestion(base, question, options);
  const sealed = seal(base, { answer: value ?? null }, "answer");
  const fields = { id, handoff: digest, question: question.id, answer: sealed.digest };
  return base.link.sign("answer", { params }, unsigned(base, "answer", fields, sealed), options);
}

async function boundQuestion(
  base: Base,
  { id, handoff: of, digest }: { readonly id: string; readonly handoff?: string; readonly digest?: string },
  options?: CallOptions,
): Promise<{ readonly handoff: string; readonly digest: string }> {
  if (of !== undefined && digest !== undefined) return { handoff: of, digest };
  return base.link.call("question", { params: { id } }, options);
}

function handoff(base: Base, { input, text, bytes, ...said }: Draft): Unsigned {
  const given = present({ input, text, bytes });
  // A sender that brings its own key may come again with its members in another order: that is the same input.
  const sealed = seal(base, given, "input", said.idempotency_key !== undefined);
  return unsigned(base, "handoff", { ...present(said), input: sealed.digest }, sealed);
}

function plainDraft({ bytes, ...draft }: Draft): Operations["submit"]["body"] {
  if (bytes !== undefined) throw bytesNeedKey("input");
  if (draft.input === undefined && draft.text === undefined) {
    throw new UsageError("There is no input: it is undefined.", "Give a JSON value; null, if there is nothing to say.");
  }
  const { redrive_of: _of, on_behalf_of: _for, ...said } = draft;
  return present(said);
}

/** What an ack and an outcome bind, as the lease states it. */
function bound({ id, digest, fence, manifest }: LeaseView, worker: string) {
  return { id, handoff: digest, fence, worker, manifest };
}

function unsigned<Typ extends DocumentTyp>(
  base: Base,
  typ: Typ,
  said: Omit<DocumentOf<Typ>, Header>,
  sealed?: Sealed,
): Unsigned {
  const { relay, namespace, agent: from } = base;
  const document = JSON.stringify({ v: 1, typ, relay, namespace, from, ...said });
  return sealed === undefined ? { typ, document } : { typ, document, ...sealed.payload };
}

function bytesNeedKey(what: string): UsageError {
  const message = `The ${what} is bytes, which only an agent with a key can send inline.`;
  return new UsageError(message, "Send it as an artifact or as text in base64, or connect with a key.");
}
