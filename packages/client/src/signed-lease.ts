/**
 * What a sender signed, beside what the relay shows of it in a lease. Every member that the sender's document decides must
 * be the same in both, with the spec's own value where the sender left it out: a handler acts on labels and artifacts too.
 */

import type { HandoffDocument } from "@handfast/protocol";
import type { LeaseView } from "@handfast/protocol/wire";

/** Under this name an unedited redrive carries the sender's own document and proof. */
export const redriven_ext = "https://handfast.dev/ext/redriven-document";

/** In which of what the sender said the lease differs. */
export function leaseDifferences(lease: LeaseView, document: HandoffDocument): string[] {
  const { id, from, causation, limits } = document;
  const sender = document.redrive_of === undefined ? from : (document.on_behalf_of ?? from);
  // The group of a child that names none is its parent's, which this document does not tell.
  const correlation = document.correlation_id ?? (causation === undefined ? id : lease.correlation_id);
  const differs = new Differences();
  differs.compare("id", id, lease.id);
  differs.compare("from", sender, lease.from);
  differs.compare("idempotency_key", document.idempotency_key ?? id, lease.idempotency_key);
  differs.compare("correlation", correlation, lease.correlation_id);
  differs.compare("causation", causation?.id ?? null, lease.causation_id);
  differs.compare("ext", document.ext, lease.ext);
  // A lease tells what is left, which is never more than what was given.
  differs.compare("deadline", true, limits?.deadline_ms === undefined || lease.deadline_ms <= limits.deadline_ms);
  differs.compare("lease", limits?.lease_ms ?? lease.lease_ms, lease.lease_ms);
  differs.compare("ack", limits?.ack_ms ?? lease.ack_ms, lease.ack_ms);
  compareKept(differs, lease, document);
  return differs.names;
}

/** The same for an unedited redrive and the document it repeats: it has an id, a key and a place of its own. */
export function redriveDifferences(lease: LeaseView, redriven_id: string, original: HandoffDocument): string[] {
  const { [redriven_ext]: _carried, ...ext } = lease.ext ?? {};
  const differs = new Differences();
  differs.compare("id", original.id, redriven_id);
  differs.compare("from", original.on_behalf_of ?? original.from, lease.from);
  differs.compare("ext", original.ext ?? {}, ext);
  compareKept(differs, lease, original);
  return differs.names;
}

/** What a redrive keeps too. */
function compareKept(differs: Differences, lease: LeaseView, document: HandoffDocument): void {
  differs.compare("kind", document.kind ?? "handoff", lease.kind);
  differs.compare("to", document.to ?? null, lease.to);
  differs.compare("capability", document.capability ?? null, lease.capability);
  differs.compare("conversation", document.conversation_id ?? null, lease.conversation_id);
  differs.compare("labels", document.labels ?? {}, lease.labels);
  differs.compare("artifacts", document.artifacts ?? [], lease.artifacts);
  differs.compare("traceparent", document.traceparent, lease.traceparent);
  differs.compare("expects", document.expects, lease.expects);
  differs.compare("evidence", document.evidence ?? "any", lease.demands);
  differs.compare("input", document.input, lease.payload);
}

class Differences {
  readonly names: string[] = [];

  compare(name: string, signed: unknown, shown: unknown): void {
    if (!isSame(signed, shown)) this.names.push(name);
  }
}

/** The same JSON, in whatever order its members stand. */
function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const ours = Object.entries(left);
  const theirs: Readonly<Record<string, unknown>> = { ...right };
  return (
    ours.length === Object.keys(theirs).length &&
    ours.every(([name, value]) => Object.hasOwn(theirs, name) && isSame(value, theirs[name]))
  );
}
