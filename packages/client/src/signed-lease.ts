/**
 * What a sender signed, beside what the relay shows of it in a lease. Every member that the sender's document decides must
 * be the same in both, with the spec's own value where the sender left it out: a handler acts on labels and artifacts too.
 */

import type { HandoffDocument } from "@handfast/protocol";
import type { LeaseView } from "@handfast/protocol/wire";

/** Under this name an unedited redrive carries the sender's own document and proof. */
export const redriven_ext = "https://handfast.dev/ext/redriven-document";

type Shown = readonly [signed: unknown, shown: unknown];

/** In which of what the sender said the lease differs. */
export function leaseDifferences(lease: LeaseView, document: HandoffDocument): string[] {
  const { id, from, causation, limits } = document;
  const sender = document.redrive_of === undefined ? from : (document.on_behalf_of ?? from);
  // The group of a child that names none is its parent's, which this document does not tell.
  const correlation = document.correlation_id ?? (causation === undefined ? id : lease.correlation_id);
  return named({
    id: [id, lease.id],
    from: [sender, lease.from],
    idempotency_key: [document.idempotency_key ?? id, lease.idempotency_key],
    correlation: [correlation, lease.correlation_id],
    causation: [causation?.id ?? null, lease.causation_id],
    ext: [document.ext, lease.ext],
    // A lease tells what is left, which is never more than what was given.
    deadline: [true, limits?.deadline_ms === undefined || lease.deadline_ms <= limits.deadline_ms],
    lease: [limits?.lease_ms ?? lease.lease_ms, lease.lease_ms],
    ack: [limits?.ack_ms ?? lease.ack_ms, lease.ack_ms],
    ...kept(lease, document),
  });
}

/** The same for an unedited redrive and the document it repeats: it has an id, a key and a place of its own. */
export function redriveDifferences(lease: LeaseView, redriven_id: string, original: HandoffDocument): string[] {
  const { [redriven_ext]: _carried, ...ext } = lease.ext ?? {};
  return named({
    id: [original.id, redriven_id],
    from: [original.on_behalf_of ?? original.from, lease.from],
    ext: [original.ext ?? {}, ext],
    ...kept(lease, original),
  });
}

/** What a redrive keeps too. */
function kept(lease: LeaseView, document: HandoffDocument): Record<string, Shown> {
  return {
    kind: [document.kind ?? "handoff", lease.kind],
    to: [document.to ?? null, lease.to],
    capability: [document.capability ?? null, lease.capability],
    conversation: [document.conversation_id ?? null, lease.conversation_id],
    labels: [document.labels ?? {}, lease.labels],
    artifacts: [document.artifacts ?? [], lease.artifacts],
    traceparent: [document.traceparent, lease.traceparent],
    expects: [document.expects, lease.expects],
    evidence: [document.evidence ?? "any", lease.demands],
    input: [document.input, lease.payload],
  };
}

function named(pairs: Readonly<Record<string, Shown>>): string[] {
  return Object.entries(pairs).flatMap(([name, [signed, shown]]) => (isSame(signed, shown) ? [] : [name]));
}

/** The same JSON, in whatever order its members stand. */
function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const [ours, theirs] = [Object.entries(left), new Map(Object.entries(right))];
  return (
    ours.length === theirs.size && ours.every(([name, value]) => theirs.has(name) && isSame(value, theirs.get(name)))
  );
}
