/**
 * The two forms of an act. Signed: the author's own bytes, verified. Plain: the relay writes the document for a caller
 * that cannot sign, and the act counts as attested. From here on both are the same.
 */

import type { Evidence } from "@handfast/core";
import { type DocumentOf, fromBase64url, type PayloadDigest, payloadDigest } from "@handfast/protocol";
import type { SignedAct } from "@handfast/protocol/wire";
import type { Caller } from "../identity/caller.ts";
import { limits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";
import type { Sealed } from "./payloads.ts";
import type { Relay } from "./relay.ts";

export type ActTyp = "handoff" | "ack" | "outcome" | "answer" | "cancel" | "contract" | "proposal";

export interface Act<Typ extends ActTyp> {
  readonly document: DocumentOf<Typ>;
  /** Exact text, as signed or as the relay wrote it. */
  readonly text: string;
  /** JSON of the proof; null: attested. */
  readonly proof: string | null;
  readonly payload: Uint8Array | null;
  readonly evidence: Evidence;
}

/** What a document says besides who, where and what kind it is. */
type Said<Typ extends ActTyp> = Omit<DocumentOf<Typ>, "v" | "typ" | "relay" | "namespace" | "from">;

export function attestedAct<Typ extends ActTyp>(
  relay: Relay,
  typ: Typ,
  from: string,
  said: Said<Typ>,
  payload: Sealed | null,
): Act<Typ> {
  if (payload !== null) checkSize(payload.bytes.length);
  const { namespace } = relay.configuration;
  const document = { v: 1, typ, relay: relay.audience.all()[0] ?? "", namespace, from, ...said };
  return {
    document: document as unknown as DocumentOf<Typ>,
    text: JSON.stringify(document),
    proof: null,
    payload: payload?.bytes ?? null,
    evidence: "attested",
  };
}

/** `digestOf` finds in the document what the payload beside it must hash to. */
export async function signedAct<Typ extends ActTyp>(
  relay: Relay,
  caller: Caller,
  typ: Typ,
  signed: SignedAct,
  digestOf: (document: DocumentOf<Typ>) => PayloadDigest | undefined,
): Promise<Act<Typ>> {
  const { document: text, proof } = signed;
  const { document } = await relay.identity.verify(caller, typ, { document: text, proof });
  const payload = readPayload(signed);
  checkPayload(payload, digestOf(document));
  return { document, text, proof: JSON.stringify(proof), payload, evidence: "signed" };
}

function readPayload({ payload, payload_encoding }: SignedAct): Uint8Array | null {
  if (payload === undefined) return null;
  if (payload_encoding !== "base64") return Buffer.from(payload);
  const bytes = Buffer.from(payload, "base64");
  if (bytes.toString("base64") === payload) return bytes;
  throw new Problem(400, "payload_encoding", "The payload is not base64 with padding.", {
    fields: ["/signed/payload"],
  });
}

function checkSize(size: number): void {
  if (size <= limits.inline_payload_bytes) return;
  const most = limits.inline_payload_bytes;
  throw new Problem(
    413,
    "payload_too_large",
    `The payload has ${size} bytes; at most ${most} go inline. Put it up as an artifact and refer to it.`,
  );
}

function checkPayload(payload: Uint8Array | null, digest: PayloadDigest | undefined): void {
  const where = { fields: ["/signed/payload"] };
  if (digest === undefined) {
    if (payload === null) return;
    throw new Problem(400, "payload_unasked", "The document speaks of no payload, but one was sent.", where);
  }
  if (payload === null)
    throw new Problem(400, "payload_missing", "The payload that the document speaks of is missing.", where);
  checkSize(payload.length);
  const salt = fromBase64url(digest.salt);
  if (salt !== null && payload.length === digest.size && payloadDigest(nodeCrypto, salt, payload) === digest.sha256)
    return;
  throw new Problem(400, "payload_differs", "The payload is not the one that the document was signed over.", where);
}
