/**
 * One signature for a frame: the documents without a proof are one batch, in the order of their calls, and each gets the
 * proof that it would have carried if the client had sent it. Whether the signature verifies is found out where every
 * proof is: all of a frame lead to one signed root, so it is verified once.
 */

import { type DocumentTyp, leafDigest, merkleTree, protocolLimits, type SignedRoot } from "@handfast/protocol";
import type { Signatures } from "../../identity/signatures.ts";
import { nodeCrypto } from "../../proof/node-crypto.ts";
import { type FrameCall, type FrameSignature, isObject } from "./frame.ts";

/** The kind of document in the signed body of each operation that takes one. */
const typOf: ReadonlyMap<string, DocumentTyp> = new Map<string, DocumentTyp>([
  ["submit", "handoff"],
  ["submit_batch", "handoff"],
  ["redrive", "handoff"],
  ["ack", "ack"],
  ["complete", "outcome"],
  ["fail", "outcome"],
  ["reject", "outcome"],
  ["answer", "answer"],
  ["cancel", "cancel"],
  ["agree", "contract"],
  ["propose", "proposal"],
  ["register", "registration"],
  ["rotate_key", "rotation"],
]);

interface Unproven {
  readonly typ: DocumentTyp;
  readonly signed: { readonly document: string; proof?: unknown };
}

export function addProofs(
  calls: readonly FrameCall[],
  { key, sig }: FrameSignature,
  signatures: Pick<Signatures, "open" | "made">,
): void {
  const unproven = calls.flatMap(unprovenOf);
  // Of more than one signature may cover no proof would be taken; without one each call is told that it lacks it.
  if (unproven.length === 0 || unproven.length > protocolLimits.batch_messages) return;
  const { paths } = merkleTree(
    nodeCrypto,
    unproven.map(({ typ, signed }) => leafDigest(nodeCrypto, typ, Buffer.from(signed.document))),
  );
  // A digest stands in the paths of many.
  const texts = new Map<Uint8Array, string>();
  let root: SignedRoot | null = null;
  for (const [index, { typ, signed }] of unproven.entries()) {
    const path = (paths[index] ?? []).map((digest) => textOf(digest, texts));
    const proof = { key, sig, index, size: unproven.length, path };
    signed.proof = proof;
    // All lead to what the first leads to; where that is nothing, each is refused like any other proof.
    if (index === 0) root = signatures.open(typ, signed.document, proof);
    if (root !== null) signatures.made(proof, typ, signed.document, root);
  }
}

function textOf(digest: Uint8Array, texts: Map<Uint8Array, string>): string {
  const known = texts.get(digest) ?? Buffer.from(digest.buffer, digest.byteOffset, digest.length).toString("base64url");
  texts.set(digest, known);
  return known;
}

function unprovenOf({ op, body }: FrameCall): Unproven[] {
  const typ = typOf.get(op);
  if (typ === undefined || !isObject(body)) return [];
  const { handoffs } = body as { readonly handoffs?: unknown };
  const bodies: readonly unknown[] = op === "submit_batch" && Array.isArray(handoffs) ? handoffs : [body];
  return bodies.flatMap((each) => {
    const signed = isObject(each) ? each["signed"] : undefined;
    if (!isObject(signed) || typeof signed["document"] !== "string" || Object.hasOwn(signed, "proof")) return [];
    return [{ typ, signed: signed as unknown as Unproven["signed"] }];
  });
}
