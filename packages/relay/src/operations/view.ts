/**
 * A handoff's record as its parties are shown it, written as JSON: payloads and proofs are JSON already and go into it
 * as they are.
 */

import { type Handoff, hasEnded, liveLease, type Outcome } from "@handfast/core";
import type { Body } from "@handfast/engine";
import { type OutcomeDocument, statusCode } from "@handfast/protocol";
import type { HandoffView, OutcomeView } from "@handfast/protocol/wire";
import type { IsRival } from "../directory/directory.ts";
import { withMembers } from "./json-text.ts";
import { asText, payloadMember } from "./payloads.ts";

/** How a handoff goes, as one number: its outcome, or how far it has come. */
export function codeOf(handoff: Handoff): number {
  const { status, progress } = handoff;
  switch (status.state) {
    case "queued":
      return 202;
    case "delivered":
      return 210;
    case "working":
      return progress === null ? 211 : 212;
    case "waiting":
      return 213;
    default:
      return status.outcome.code;
  }
}

export function nameOfCode(code: number): string {
  return statusCode(code)?.name ?? "unknown";
}

/** Bytes that belong into the view; without them it shows digests only. */
export interface ViewBodies {
  readonly input?: Body | null;
  /** Outcomes by fence. */
  readonly outcomes?: ReadonlyMap<number, Body>;
  readonly receipts?: readonly Body[];
}

/** `isRival`: what a handoff's tree has cost may tell the caller a price that is sealed. */
export function handoffJson(handoff: Handoff, isRival: IsRival, bodies: ViewBodies = {}): string {
  const { accepted, status, late } = handoff;
  const { input, receipts } = bodies;
  const outcome = hasEnded(status) ? showOutcome(status.outcome, bodies.outcomes) : null;
  const lates = late.map((each) => {
    const { text } = showOutcome(each.outcome, bodies.outcomes);
    return `{"at":${each.at},"state":"${each.state}","outcome":${text}}`;
  });
  return withMembers(
    JSON.stringify({ ...showRecord(handoff, outcome?.retryable), ...withoutCost(handoff, isRival) }),
    `"outcome":${outcome === null ? "null" : outcome.text}`,
    `"late":[${lates.join(",")}]`,
    input === undefined ? "" : payloadMember("input", accepted.input.media_type, input?.payload ?? null),
    receipts === undefined ? "" : `"receipts":[${receipts.flatMap(receiptJson).join(",")}]`,
  );
}

type Written = "outcome" | "late" | "input" | "text" | "base64" | "receipts";

/** All but what its agents gave. `retryable`: what the agent said of it, if it did. */
function showRecord(handoff: Handoff, retryable: boolean | undefined): Omit<HandoffView, Written> {
  const { accepted, status } = handoff;
  const ended = hasEnded(status) ? status : null;
  const queued = status.state === "queued" ? status : null;
  const code = codeOf(handoff);
  const known = statusCode(code);
  return {
    id: accepted.id,
    kind: accepted.kind,
    state: status.state,
    code,
    name: known?.name ?? "unknown",
    retryable: retryable ?? known?.retryable ?? false,
    from: accepted.from,
    to: accepted.to,
    capability: accepted.capability,
    version_range: accepted.version_range ?? null,
    canary: accepted.canary ?? null,
    idempotency_key: accepted.idempotency_key,
    correlation_id: accepted.correlation_id,
    causation: accepted.causation,
    conversation_id: accepted.conversation_id,
    detached: accepted.detached,
    hops: accepted.hops,
    ordering_key: accepted.ordering_key,
    priority: accepted.priority,
    labels: accepted.labels,
    digest: accepted.digest,
    evidence: accepted.evidence,
    demands: accepted.demands,
    payload: accepted.input,
    artifacts: [...accepted.artifacts],
    limits: accepted.terms,
    budget: accepted.budget,
    spent: handoff.spent,
    ...(accepted.contract === undefined ? {} : { contract: accepted.contract.id }),
    dead_letter_to: accepted.dead_letter_to,
    redrive_of: accepted.redrive_of,
    redriven_by: accepted.redriven_by,
    accepted_at: accepted.accepted_at,
    deadline_at: accepted.deadline_at,
    ready_at: queued?.ready_at ?? null,
    blocked: queued?.blocked ?? false,
    queue_until: queued?.queue_until ?? null,
    ended_at: ended?.ended_at ?? null,
    taken_at: ended?.taken_at ?? null,
    version: handoff.version,
    seq: handoff.seq,
    fence: handoff.fence,
    attempts: handoff.attempts,
    deliveries: handoff.deliveries,
    lease: showLiveLease(handoff),
    why: handoff.why ?? null,
    question: showOpenQuestion(handoff),
    dead_letter: ended?.dead_letter ?? null,
    failures: showFailures(handoff),
    progress: handoff.progress,
    checkpoint: handoff.checkpoint,
  };
}

/** Only for what is charged from below: what its own work cost, a party is told. Budgets are kept exactly all the same. */
function withoutCost({ accepted, spent, charged_for }: Handoff, isRival: IsRival): Partial<HandoffView> {
  const { budget, budget_tells } = accepted;
  const tells_spent = charged_for?.some(isRival) === true;
  const tells_left = budget_tells?.some(isRival) === true;
  if (!tells_spent && !tells_left) return {};
  return {
    cost_sealed: true,
    ...(tells_spent ? { spent: { ...spent, cost: null } } : {}),
    ...(tells_left && budget !== null ? { budget: { ...budget, cost: null } } : {}),
  };
}

function showLiveLease(handoff: Handoff): HandoffView["lease"] {
  const lease = liveLease(handoff);
  if (lease === null) return null;
  const { agent, worker, fence, delivered_at, acknowledged_at, beat_at, attempt_until } = lease;
  const lease_until = beat_at + handoff.accepted.terms.lease_ms;
  return { agent, worker, fence, delivered_at, acknowledged_at, beat_at, lease_until, attempt_until };
}

export function showFailures({ failures }: Handoff) {
  return failures.map(({ content: _content, ...failure }) => ({ ...failure, name: nameOfCode(failure.code) }));
}

function showOpenQuestion({ status, questions }: Handoff): HandoffView["question"] {
  if (status.state !== "waiting") return null;
  const question = questions.find(({ id }) => id === status.question);
  if (question === undefined) return null;
  const { id, fence, asked_at, answer_by, to } = question;
  return { id, fence, asked_at, answer_by, to, parked: status.lease === null };
}

function showOutcome(outcome: Outcome, bodies: ReadonlyMap<number, Body> | undefined) {
  const { code, fence, agent, worker, evidence, output, artifacts, usage } = outcome;
  const body = fence === null ? undefined : bodies?.get(fence);
  const view: Omit<OutcomeView, "output" | "text" | "base64"> = {
    code,
    name: nameOfCode(code),
    fence,
    agent,
    worker,
    evidence,
    payload: output,
    artifacts: [...artifacts],
    error: outcome.error,
    usage,
    ...(output !== null || body === undefined ? {} : showFailure(outcome, body)),
  };
  const member = output === null ? "" : payloadMember("output", output.media_type, body?.payload ?? null);
  return { retryable: view.retryable, text: withMembers(JSON.stringify(view), member) };
}

/** What only the agent's own document tells of a failure: whether it thinks that a retry helps, and the details. */
function showFailure({ error }: Outcome, { document }: Body): Pick<OutcomeView, "error" | "retryable"> {
  if (error === null || document === null) return { error };
  const { retryable = false, error: said } = JSON.parse(document) as OutcomeDocument;
  return { retryable, error: said?.detail === undefined ? error : { ...error, detail: said.detail } };
}

const receiptKinds: ReadonlySet<Body["kind"]> = new Set(["handoff", "ack", "outcome", "answer", "cancel"]);

function receiptJson(body: Body): readonly string[] {
  const { kind, number } = body;
  const signed = receiptKinds.has(kind) ? signedJson(body) : null;
  return signed === null ? [] : [`{"kind":"${kind}","number":${number},"signed":${signed}}`];
}

/** The exact bytes, for those who check for themselves. Null: it has no document. */
export function signedJson({ document, proof, payload }: Body): string | null {
  if (document === null) return null;
  const text = payload === null ? null : asText(payload);
  const shown =
    payload === null
      ? { document }
      : text === null
        ? { document, payload: Buffer.from(payload).toString("base64"), payload_encoding: "base64" }
        : { document, payload: text };
  return withMembers(JSON.stringify(shown), `"proof":${proof ?? "null"}`);
}
