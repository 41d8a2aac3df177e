/** How each request becomes units of a batch: submit, one command, redrive, records, time. */

import { type Command, type Handoff, hasEnded, laneOf, type Refusal, reserved_key_prefix } from "@handfast/core";
import { type Batch, nothingEnclosed } from "./batch.ts";
import { handoffKey } from "./cache.ts";
import type { EngineLimits } from "./limits.ts";
import type { Poison } from "./poison.ts";
import type { Answer, Enclosure, RedriveAnswer, Submission, SubmitAnswer, Submitted } from "./requests.ts";
import type { Body, RecordWrite, Store } from "./store.ts";
import { UnitBuilder } from "./unit.ts";

export interface Plan<T> {
  readonly units: readonly UnitBuilder[];
  readonly answer: T;
}

/** All accepted in one unit, or none of them. */
export async function planSubmit(batch: Batch, submissions: readonly Submission[]): Promise<Plan<SubmitAnswer>> {
  const unit = new UnitBuilder();
  const submitted: Submitted[] = [];
  const refusals: { index: number; refusal: Refusal }[] = [];
  const fresh: Handoff[] = [];
  for (const [index, submission] of submissions.entries()) {
    const result = await submitInto(batch, unit, submission, fresh);
    if ("refusal" in result) refusals.push({ index, refusal: result.refusal });
    else submitted.push(result);
  }
  if (refusals.length > 0) return { units: [], answer: { ok: false, refusals } };
  if (fresh.length > 0) {
    batch.add(unit);
    for (const handoff of fresh) batch.accepted(unit, handoff);
  }
  return { units: fresh.length > 0 ? [unit] : [], answer: { ok: true, submitted } };
}

async function submitInto(
  batch: Batch,
  unit: UnitBuilder,
  submission: Submission,
  fresh: Handoff[],
): Promise<Submitted | { readonly refusal: Refusal }> {
  const { draft, queue_if_absent, target, body } = submission;
  const { namespace, id, from, idempotency_key, causation } = draft;
  const twin = fresh.find(({ accepted }) => accepted.from === from && accepted.idempotency_key === idempotency_key);
  const known = twin?.accepted ?? (await batch.known(namespace, from, idempotency_key));
  if (causation !== null) await batch.settle(namespace, causation.id);
  const parent = causation === null ? null : await batch.see(namespace, causation.id, unit);
  const lane = laneOf(draft);
  const ahead = lane !== null && fresh.some(({ accepted }) => laneOf(accepted) === lane);
  const decision = await batch.decide(
    unit,
    namespace,
    id,
    { type: "submit", draft, queue_if_absent },
    {
      known,
      parent,
      budgets: await budgetsAbove(batch, unit, parent),
      lane_busy: known === null && (ahead || (await batch.laneBusy(namespace, lane, unit))),
      // What the relay itself sends on must not fail for its sender's quota.
      sender_open: draft.evidence === "relay" ? 0 : batch.openOf(namespace, from) + fresh.length,
      id_used: known === null && (await batch.isUsed(namespace, id)),
      target,
    },
    { body, artifacts: draft.artifacts },
  );
  if (decision.refusal !== null) return { refusal: decision.refusal };
  if (decision.next !== null) {
    fresh.push(decision.next);
    return { id, handoff: decision.next, repeated: false };
  }
  const first = known?.id ?? id;
  return { id: first, handoff: await batch.see(namespace, first, unit), repeated: true };
}

/** Every handoff above that carries a budget, nearest first. */
async function budgetsAbove(batch: Batch, unit: UnitBuilder, parent: Handoff | null): Promise<readonly Handoff[]> {
  if (parent === null) return [];
  const { accepted } = parent;
  const above: Handoff[] = accepted.budget === null ? [] : [parent];
  for (const id of accepted.budget_holders) {
    const holder = await batch.see(accepted.namespace, id, unit);
    if (holder !== null) above.push(holder);
  }
  return above;
}

export async function planCommand(
  batch: Batch,
  namespace: string,
  id: string,
  command: Command,
  enclosure: Enclosure = nothingEnclosed,
): Promise<Plan<Answer>> {
  const unit = new UnitBuilder();
  const { next, refusal } = await batch.decide(unit, namespace, id, command, {}, enclosure);
  if (next !== null) batch.add(unit);
  const handoff = next ?? (await batch.see(namespace, id));
  return { units: next === null ? [] : [unit], answer: { handoff, refusal } };
}

/** The old dead letter is marked and the new handoff accepted in one unit; a second redrive finds the first one's id. */
export async function planRedrive(
  batch: Batch,
  namespace: string,
  id: string,
  actor: Extract<Command, { type: "redrive" }>["actor"],
  submission: Submission,
): Promise<Plan<RedriveAnswer>> {
  const unit = new UnitBuilder();
  const marked = await batch.decide(unit, namespace, id, { type: "redrive", actor, id: submission.draft.id });
  const before = await batch.see(namespace, id);
  if (marked.refusal !== null || marked.next === null) {
    return { units: [], answer: { handoff: before, refusal: marked.refusal, redriven_as: redrivenAs(before) } };
  }
  const fresh: Handoff[] = [];
  const result = await submitInto(batch, unit, submission, fresh);
  const refusal = "refusal" in result ? result.refusal : result.repeated ? keyInUse(submission, result.id) : null;
  if (refusal !== null || "refusal" in result)
    return { units: [], answer: { handoff: before, refusal, redriven_as: null } };
  batch.add(unit);
  for (const handoff of fresh) batch.accepted(unit, handoff);
  return { units: [unit], answer: { handoff: marked.next, refusal: null, redriven_as: result.id } };
}

/** Otherwise the dead letter would point at an id that never comes to be. */
function keyInUse({ draft }: Submission, id: string): Refusal {
  const message = `idempotency key ${JSON.stringify(draft.idempotency_key)} already stands for handoff ${id}`;
  return { code: 409, reason: "key_conflict", message };
}

function redrivenAs(handoff: Handoff | null): string | null {
  if (handoff === null || !hasEnded(handoff.status)) return null;
  return handoff.status.dead_letter?.status === "redriven" ? handoff.status.dead_letter.id : null;
}

export function planRecords(batch: Batch, records: readonly RecordWrite[]): Plan<true> {
  const unit = new UnitBuilder();
  unit.records.push(...records);
  batch.add(unit);
  return { units: [unit], answer: true };
}

/** Everything whose time has come, each in a unit of its own. Returns how many were due. */
export async function planDue(
  batch: Batch,
  store: Store,
  limits: EngineLimits,
  newId: () => string,
  poison: Poison,
  onBug: (error: unknown) => void,
): Promise<Plan<number>> {
  const found = await store.due(batch.now, limits.due_per_sweep + poison.size);
  const due = found.filter(({ namespace, id }) => !poison.has(handoffKey(namespace, id), batch.now));
  await batch.prefetch(due);
  const units: UnitBuilder[] = [];
  for (const { namespace, id } of due) {
    if (batch.changedHere(namespace, id)) continue;
    const handoff = await batch.see(namespace, id);
    if (handoff === null) continue;
    const unit = new UnitBuilder();
    try {
      await settleDue(batch, unit, store, limits, handoff, newId);
      batch.add(unit);
      units.push(unit);
    } catch (error) {
      poison.add(handoffKey(namespace, id), batch.now);
      onBug(error);
    }
  }
  return { units, answer: due.length };
}

async function settleDue(
  batch: Batch,
  unit: UnitBuilder,
  store: Store,
  limits: EngineLimits,
  handoff: Handoff,
  newId: () => string,
): Promise<void> {
  const { accepted, status } = handoff;
  if (hasEnded(status) && status.chores.children) return sweepChildren(batch, unit, store, limits, handoff);
  if (hasEnded(status) && status.chores.route) return route(batch, unit, handoff, limits, newId());
  await batch.decide(unit, accepted.namespace, accepted.id, { type: "tick" });
}

/** When a parent ends, its open children are canceled, a few at a time; the parent stays due until none is left. */
async function sweepChildren(
  batch: Batch,
  unit: UnitBuilder,
  store: Store,
  limits: EngineLimits,
  parent: Handoff,
): Promise<void> {
  const { namespace, id } = parent.accepted;
  const children = await store.openChildren(namespace, id, limits.children_per_sweep);
  for (const child of children) {
    const reason = `its parent ${id} has ended`;
    await batch.decide(unit, namespace, child, { type: "cancel", actor: { kind: "relay" }, reason, evidence: "relay" });
  }
  if (children.length < limits.children_per_sweep) await batch.decide(unit, namespace, id, { type: "swept" });
}

/** A dead letter goes, once, to the capability that its sender named: a new handoff with the sender's own bytes. */
async function route(
  batch: Batch,
  unit: UnitBuilder,
  dead: Handoff,
  limits: EngineLimits,
  newId: string,
): Promise<void> {
  const { accepted } = dead;
  const { namespace, id } = accepted;
  const original = await batch.body(namespace, id);
  const body: Body = original ?? { kind: "handoff", number: 0, document: null, proof: null, payload: null };
  const draft = {
    ...accepted,
    id: newId,
    to: null,
    capability: accepted.dead_letter_to,
    idempotency_key: `${reserved_key_prefix}dead-letter:${id}`,
    content: `${reserved_key_prefix}dead-letter:${id}`,
    evidence: "relay",
    causation: null,
    ordering_key: null,
    budget: null,
    dead_letter_to: null,
    redrive_of: id,
    redriven_by: "relay",
    terms: { ...accepted.terms, deadline_ms: limits.routed_deadline_ms, queue_ms: limits.routed_deadline_ms },
  } as const;
  const fresh: Handoff[] = [];
  const target = { kind: "fits", except: [] } as const;
  const result = await submitInto(batch, unit, { draft, queue_if_absent: true, target, body }, fresh);
  if ("refusal" in result) throw new Error(`dead letter ${id} could not be routed: ${result.refusal.message}`);
  await batch.decide(unit, namespace, id, { type: "routed", id: result.id });
  for (const handoff of fresh) batch.accepted(unit, handoff);
}
