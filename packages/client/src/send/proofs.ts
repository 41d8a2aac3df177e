/**
 * Proofs of a handoff's life, checked here: whoever relies on them need not believe the relay. Each receipt is a document
 * that its author signed. It must be well formed, speak of this very handoff (by the digest of the handoff's own
 * document), bear a valid signature by its author's key, and fit the payload beside it. What was attested has no
 * signature: it is told as such, and is the relay's word.
 */

import type { DocumentOf, PayloadDigest } from "@handfast/protocol";
import { documentDigest, fromBase64url, payloadDigest, toUtf8 } from "@handfast/protocol/client";
import type { HandoffView } from "@handfast/protocol/wire";
import type { Base } from "../base.ts";
import { documentReader } from "../documents.ts";
import { fromBase64, openPayload, toBase64 } from "../payload.ts";
import { notProven } from "./faults.ts";

type Kind = "handoff" | "ack" | "outcome" | "answer" | "cancel";
type Shown = NonNullable<HandoffView["receipts"]>[number];

/** One document of a handoff's life. */
export type ProvenReceipt = {
  [K in Kind]: {
    readonly kind: K;
    /** The fence of an ack or an outcome; the place of an answer's question; else 0. */
    readonly number: number;
    /** Its author. */
    readonly by: string;
    /** `signed`: the author's own signature was checked. `attested`: the relay's word. */
    readonly evidence: "signed" | "attested";
    /** Thumbprint of the key that signed it; null: attested. */
    readonly key: string | null;
    readonly document: DocumentOf<K>;
    /** The exact text that was signed. */
    readonly text: string;
    /** The bytes that it vouches for; null where it has none or the relay no longer has them. */
    readonly payload: Uint8Array | null;
  };
}[Kind];

/** Everything that can be proven of a handoff. */
export interface Proven {
  readonly handoff: HandoffView;
  readonly receipts: readonly ProvenReceipt[];
}

/** Of a view that was read with its proofs. Throws a HandoffError that says which receipt is wrong and how. */
export async function proofsOf(base: Base, handoff: HandoffView): Promise<Proven> {
  const shown = handoff.receipts ?? [];
  return { handoff, receipts: await Promise.all(shown.map((each) => proven(base, handoff, each))) };
}

async function proven(base: Base, handoff: HandoffView, shown: Shown): Promise<ProvenReceipt> {
  const readDocument = await documentReader();
  const { kind, number, signed } = shown;
  const bytes = toUtf8(signed.document);
  const read = readDocument(kind, bytes);
  const wrong = (what: string) => doubtful(handoff, `The ${kind} (${number}) ${what}.`);
  if (!read.ok) throw wrong(`is malformed: ${read.fault.message}`);
  const receipt = { kind, document: read.document } as Bound;
  const differs = differences(base, handoff, number, receipt, bytes);
  if (differs.length > 0) throw wrong(`is about another ${differs.join(", ")}`);
  const payload = payloadOf(signed);
  const digest = digestIn(receipt);
  if (payload !== null && (digest === undefined || !fits(base, digest, payload))) {
    throw wrong("comes with another payload than the one it was written for");
  }
  const { from } = read.document;
  if (signed.proof !== null) await base.trust.checkSignature(handoff, kind, from, bytes, signed.proof);
  const evidence = signed.proof === null ? "attested" : "signed";
  const key = signed.proof?.key ?? null;
  return { ...receipt, number, by: from, evidence, key, text: signed.document, payload } as ProvenReceipt;
}

type Bound = { [K in Kind]: { readonly kind: K; readonly document: DocumentOf<K> } }[Kind];

/** In what it does not speak of this handoff. Its digest stands for everything that its sender said, the relay included. */
function differences(base: Base, view: HandoffView, number: number, receipt: Bound, bytes: Uint8Array): string[] {
  const { document } = receipt;
  const differs = [
    ...(document.id === view.id ? [] : ["id"]),
    ...(document.namespace === base.namespace ? [] : ["namespace"]),
  ];
  if (receipt.kind === "handoff") {
    const digest = documentDigest(base.crypto, "handoff", bytes);
    const sender = receipt.document.on_behalf_of ?? receipt.document.from;
    return [...differs, ...(digest === view.digest ? [] : ["digest"]), ...(sender === view.from ? [] : ["sender"])];
  }
  if (receipt.document.handoff !== view.digest) differs.push("digest");
  const isOfFence = receipt.kind === "ack" || receipt.kind === "outcome";
  if (isOfFence && receipt.document.fence !== number) differs.push("fence");
  return differs;
}

function digestIn(receipt: Bound): PayloadDigest | undefined {
  switch (receipt.kind) {
    case "handoff":
      return receipt.document.input;
    case "outcome":
      return receipt.document.output;
    case "answer":
      return receipt.document.answer;
    default:
      return undefined;
  }
}

function payloadOf({ payload, payload_encoding }: Shown["signed"]): Uint8Array | null {
  if (payload === undefined) return null;
  return payload_encoding === "base64" ? fromBase64(payload) : toUtf8(payload);
}

function fits({ crypto }: Base, { salt, size, sha256 }: PayloadDigest, bytes: Uint8Array): boolean {
  const raw = fromBase64url(salt);
  return raw !== null && bytes.length === size && payloadDigest(crypto, raw, bytes) === sha256;
}

/**
 * The view with the output that its agent signed, in place of the one that the relay shows. Throws where the outcome is
 * the agent's and it did not sign it. An end that the relay itself decided, such as a passed deadline, stays as it is;
 * that something is completed the relay cannot decide.
 */
export function provenOutcome({ receipts }: Proven, view: HandoffView): HandoffView {
  const { outcome } = view;
  const is_completed = view.state === "completed";
  if (is_completed && outcome === null && !isNotice(receipts)) {
    throw doubtful(view, "The relay shows it as completed, without an outcome.");
  }
  if (outcome === null || (outcome.evidence === "relay" && !is_completed)) return view;
  const receipt = receipts.find((each) => each.kind === "outcome" && each.number === outcome.fence);
  // A cancel has no outcome of its own: whoever called it off decided it.
  if (receipt === undefined && view.state === "canceled") return view;
  if (receipt?.kind !== "outcome") throw doubtful(view, "The relay shows an outcome and no receipt for it.");
  if (receipt.evidence !== "signed") {
    const remedy = 'Demand it when sending (evidence: "signed"), or do without (verify: false).';
    throw notProven(view.id, `The outcome of ${view.id} is not signed by ${receipt.by}: the relay attests it.`, remedy);
  }
  const { document, payload, by } = receipt;
  if (by !== outcome.agent || document.status !== view.state) {
    throw doubtful(
      view,
      `The relay shows it as ${view.state} by ${outcome.agent}, but ${by} signed ${document.status}.`,
    );
  }
  if (document.output === undefined) return { ...view, outcome: { ...outcome, error: document.error ?? null } };
  if (payload === null) throw doubtful(view, "The relay does not give the output that was signed.");
  const { output: _output, text: _text, base64: _base64, ...rest } = outcome;
  const forms = shownAs(payload, document.output.media_type);
  if (forms === null) throw doubtful(view, `The output is not ${document.output.media_type}, as it says.`);
  return { ...view, outcome: { ...rest, ...forms, payload: document.output } };
}

/** By its own document: a notice ends with its ack and has no outcome. */
function isNotice(receipts: readonly ProvenReceipt[]): boolean {
  return receipts.some((each) => each.kind === "handoff" && each.document.kind === "notice");
}

/** That what was signed about it was signed about this very handoff, by the sender's own signature under its document. */
export function checkOwn({ handoff, receipts }: Proven, id: string, sender: string): void {
  const own = receipts.find((each) => each.kind === "handoff");
  if (handoff.id === id && own?.evidence === "signed" && own.by === sender) return;
  throw doubtful(handoff, `The relay does not show the document that ${sender} signed.`);
}

/**
 * The answer to a question as its author wrote it, of a handoff that was read with its proofs. Throws where it should be
 * signed and is not. Only its own receipt counts: those of other attempts have nothing to do with it.
 */
export async function provenAnswer(
  base: Base,
  { id, digest, from }: Pick<HandoffView, "id" | "digest" | "from">,
  view: HandoffView,
  question: string,
): Promise<unknown> {
  const mentions = JSON.stringify(question);
  const shown = (view.receipts ?? []).filter(
    ({ kind, signed }) => kind === "answer" && signed.document.includes(mentions),
  );
  const { receipts } = await proofsOf(base, { ...view, id, digest, receipts: shown });
  const receipt = receipts.find((each) => each.kind === "answer" && each.document.question === question);
  if (receipt?.kind !== "answer")
    throw doubtful(view, `The relay shows an answer to ${question} and no receipt for it.`);
  const { document, payload, by, evidence } = receipt;
  if (evidence !== "signed") base.trust.checkUnsigned({ id, from }, by, `the answer to ${question}`);
  const opened = payload === null ? null : openPayload(payload, document.answer.media_type);
  if (opened === null) throw doubtful(view, `The relay does not give the answer to ${question} that was written.`);
  return opened.input;
}

function shownAs(payload: Uint8Array, media_type: string) {
  const opened = openPayload(payload, media_type);
  if (opened === null) return null;
  if (opened.text !== undefined) return { text: opened.text };
  return opened.input === payload ? { base64: toBase64(payload) } : { output: opened.input };
}

function doubtful({ id }: HandoffView, detail: string): Error {
  const remedy = "Do not rely on it: what the relay shows is not what was signed. Tell the relay's operator.";
  return notProven(id, `The handoff ${id} is not proven: ${detail}`, remedy);
}
