/** Digests of what makes two acts the same. Never id, salt, signature or trace: an honest retry never conflicts. */

import type { HandoffDocument, OutcomeDocument } from "@handfast/protocol";
import { nodeCrypto } from "../proof/node-crypto.ts";
import { canonicalDigest } from "../schemas/canonical-json.ts";

/** Unsalted: a retry by a sender that draws a new salt is still the same content. */
function plainSha256(payload: Uint8Array | null): string | null {
  return payload === null ? null : nodeCrypto.sha256Hex(payload);
}

export function handoffContent(document: HandoffDocument, payload: Uint8Array): string {
  // A contract decides the target: whether it is also named is the sender's choice, now or at a retry.
  const { to = null, capability = null } = document.contract === undefined ? document : {};
  return canonicalDigest({
    kind: document.kind ?? "handoff",
    to,
    capability,
    // Only where it is asked for: what was accepted before there was such a thing keeps its digest.
    ...(document.version === undefined ? {} : { version: document.version }),
    input: { sha256: plainSha256(payload), media_type: document.input.media_type },
    expects: orAbsent(document.expects),
    ordering_key: document.ordering_key ?? null,
    contract: document.contract ?? null,
    limits: orAbsent(document.limits),
  });
}

/** An object without members says no more than none at all. */
function orAbsent<Value extends object>(value: Value | undefined): Value | null {
  return value === undefined || Object.keys(value).length === 0 ? null : value;
}

export function outcomeContent(document: OutcomeDocument, payload: Uint8Array | null): string {
  return canonicalDigest({
    status: document.status,
    code: document.code,
    output: plainSha256(payload),
    media_type: document.output?.media_type ?? null,
    error: document.error ?? null,
  });
}

export function answerContent(payload: Uint8Array, media_type: string): string {
  return canonicalDigest({ answer: plainSha256(payload), media_type });
}
