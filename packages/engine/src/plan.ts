/** How each request becomes units of a batch: submit, one command, redrive, records, time. */

import { type Command, type Handoff, hasEnded, laneOf, type Refusal, reserved_key_prefix } from "@handfast/core";
import { type Batch, nothingEnclosed } from "./batch.ts";
import type { EngineLimits } from "./limits.ts";
import type { Poison } from "./poison.ts";
import { Missing } from "./reading.ts";
import type { Answer, Enclosure, RedriveAnswer, Submission, SubmitAnswer, Submitted } from "./requests.ts";
import type { Body, LogEntry, RecordWrite } from "./store.ts";
import { UnitBuilder } from "./unit.ts";

export interface Plan<T> {
  readonly units: readonly UnitBuilder[];
  readonly answer: T;
}

/** All accepted in one unit, or none of them. */
export function planSubmit(batch: Batch, submissions: readonly Submission[]): Plan<SubmitAnswer> {
  const unit = new UnitBuilder();
  const submitted: Submitted[] = [];
  const refusals: { index: number; refusal: Refusal }[] = [];
  const fresh: Handoff[] = [];
  for (const [index, submission] of submissions.entries()) {
    const result = submitInto(batch, unit, submission, fresh);
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

function submitInto(
  batch: Batch,
  unit: UnitBuilder,
  submission: Submission,
  fresh: Handoff[],
): Submitted | { readonly refusal: Refusal } {
  const { draft, queue_if_absent, target, body, posted } = submission;
  const { namespace, id, from, idempotency_key, causation } = draft;
  const twin = fresh.find(({ accepted }) => accepted.from === from && accepted.idempotency_key === idempotency_key);
  const known = twin?.accepted ?? batch.known(namespace, from, idempotency_key);
  if (causation !== null) batch.settle(namespace, causation.id);
  const parent = causation === null ? null : batch.see(namespace, causation.id, unit);
  batch.relyOn(unit, parent);
  const lane = laneOf(draft);
  const ahead = lane !== null && fresh.some(({ accepted }) => laneOf(accepted) === lane);
  const decision = batch.decide(
    unit,
    namespace,
    id,
    { type: "submit", draft, queue_if_absent, ...(posted && { posted }) },
    {
      known,
      parent,
      budgets: budgetsAbove(batch, unit, parent),
      lane_busy: known === null && (ahead || batch.laneBusy(namespace, lane, unit)),
      // What the relay itself sends on must not fail for its sender's quota.
      sender_open: draft.evidence === "relay" ? 0 : batch.openOf(namespace, from) + fresh.length,
      id_used: (known === null || posted === true) && batch.isUsed(namespace, id),
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
  return { id: first, handoff: batch.sure(namespace, first, unit), repeated: true };
}

/** Every handoff above that carries a budget, nearest first. */
function budgetsAbove(batch: Batch, unit: UnitBuilder, parent: Handoff | null): readonly Handoff[] {
  if (parent === null) return [];
  const { accepted } = parent;
  const above: Handoff[] = accepted.budget === null ? [] : [parent];
  for (const id of accepted.budget_holders) {
    const holder = batch.see(accepted.namespace, id, unit);
    batch.relyOn(unit, holder);
    if (holder !== null) above.push(holder);
  }
  return above;
}

export function planCommand(
  batch: Batch,
  namespace: string,
  id: string,
  command: Command,
  enclosure: Enclosure = nothingEnclosed,
): Plan<Answer> {
  const unit = new UnitBuilder();
  const { next, refusal } = batch.decide(unit, namespace, id, command, undefined, enclosure);
  if (next !== null) batch.add(unit);
  const handoff = next ?? batch.see(namespace, id);
  return { units: next === null ? [] : [unit], answer: { handoff, refusal } };
}

/** The old dead letter is marked and the new handoff accepted in one unit; a second redrive finds the first one's id. */
export function planRedrive(
  batch: Batch,
  namespace: string,
  id: string,
  actor: Extract<Command, { type: "redrive" }>["actor"],
  submission: Submission,
): Plan<RedriveAnswer> {
  const unit = new UnitBuilder();
  const marked = batch.decide(unit, namespace, id, { type: "redrive", actor, id: submission.draft.id });
  const before = batch.see(namespace, id);
  if (marked.refusal !== null || marked.next === null) {
    return { units: [], answer: { handoff: before, refusal: marked.refusal, redriven_as: redrivenAs(before) } };
  }
  const fresh: Handoff[] = [];
  const result = submitInto(batch, unit, submission, fresh);
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

/** `at` is the batch's own time: along the log times never go back. */
export function planEntries(
  batch: Batch,
  entries: readonly Omit<LogEntry, "at">[],
  records: readonly RecordWrite[],
): Plan<true> {
  const unit = new UnitBuilder();
  unit.entries.push(...entries.map((entry) => ({ ...entry, at: batch.now })));
  unit.records.push(...records);
  batch.add(unit);
  return { units: [unit], answer: true };
}

/** Everything whose time has come, each in a unit of its own; `settled` gets those units. Returns how many were due. */
export function planDue(
  batch: Batch,
  limits: EngineLimits,
  newId: () => string,
  poison: Poison,
  settled: UnitBuilder[],
  onBug: (error: unknown) => void,
): number {
  const found = batch.due(limits.due_per_sweep + poison.size);
  const due = found.filter(({ namespace, id }) => !poison.has(namespace, id, batch.now));
  for (const { namespace, id } of due) {
    if (batch.changedHere(namespace, id)) continue;
    const handoff = batch.see(namespace, id);
    if (handoff === null) continue;
    const unit = new UnitBuilder();
    try {
      settleDue(batch, unit, limits, handoff, newId);
      batch.add(unit);
      settled.push(unit);
    } catch (error) {
      if (error instanceof Missing) throw error;
      poison.add(namespace, id, batch.now);
      onBug(error);
    }
  }
  return due.length;
}

function settleDue(batch: Batch, unit: UnitBuilder, limits: EngineLimits, handoff: Handoff, newId: () => string): void {
  const { accepted, status } = handoff;
  if (hasEnded(status) && status.chores.children) return sweepChildren(batch, unit, limits, handoff);
  if (hasEnded(status) && status.chores.route) return route(batch, unit, handoff, limits, newId);
  batch.decide(unit, accepted.namespace, accepted.id, { type: "tick" });
}

/** When a parent ends, its open children are canceled, a few at a time; the parent stays due until none is left. */
function sweepChildren(batch: Batch, unit: UnitBuilder, limits: EngineLimits, parent: Handoff): void {
  const { namespace, id } = parent.accepted;
  const children = batch.openChildren(namespace, id, limits.children_per_sweep);
  for (const child of children) {
    const reason = `its parent ${id} has ended`;
    batch.decide(unit, namespace, child, { type: "cancel", actor: { kind: "relay" }, reason, evidence: "relay" });
  }
  if (children.length < limits.children_per_sweep) batch.decide(unit, namespace, id, { type: "swept" });
}

/** A dead letter goes, once, to the capability that its sender named: a new handoff with the sender's own bytes. */
function route(batch: Batch, unit: UnitBuilder, dead: Handoff, limits: EngineLimits, newId: () => string): void {
  // What was asked of the versions of one capability says nothing of another's; a contract is with the provider that had it.
  const { version_range: _range, canary: _canary, contract: _contract, ...accepted } = dead.accepted;
  const { namespace, id } = accepted;
  const original = batch.body(namespace, id);
  const body: Body = original ?? { kind: "handoff", number: 0, document: null, proof: null, payload: null };
  const draft = {
    ...accepted,
    id: batch.successorOf(namespace, id, newId),
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
  const result = submitInto(batch, unit, { draft, queue_if_absent: true, target, body }, fresh);
  if ("refusal" in result) throw new Error(`dead letter ${id} could not be routed: ${result.refusal.message}`);
  batch.decide(unit, namespace, id, { type: "routed", id: result.id });
  for (const handoff of fresh) batch.accepted(unit, handoff);
}
