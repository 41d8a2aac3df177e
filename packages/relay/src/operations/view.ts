/** A handoff's record as its parties are shown it. */

import { type Handoff, hasEnded, liveLease, type Outcome } from "@handfast/core";
import type { Body } from "@handfast/engine";
import { type OutcomeDocument, statusCode } from "@handfast/protocol";
import type { HandoffView, OutcomeView } from "@handfast/protocol/wire";
import { asText, showPayload } from "./payloads.ts";

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

export function showHandoff(handoff: Handoff, bodies: ViewBodies = {}): HandoffView {
  const { accepted, status } = handoff;
  const ended = hasEnded(status) ? status : null;
  const lease = liveLease(handoff);
  const code = codeOf(handoff);
  const { input, terms, content: _content, namespace: _namespace, budget_holders: _holders, ...fixed } = accepted;
  const receipts = bodies.receipts?.flatMap(showReceipt);
  const outcome = ended === null ? null : showOutcome(ended.outcome, bodies.outcomes);
  return {
    ...fixed,
    ...(bodies.input === undefined ? {} : showPayload("input", input.media_type, bodies.input?.payload ?? null)),
    ...(receipts === undefined ? {} : { receipts }),
    state: status.state,
    code,
    name: nameOfCode(code),
    retryable: outcome?.retryable ?? statusCode(code)?.retryable ?? false,
    payload: input,
    artifacts: [...accepted.artifacts],
    limits: terms,
    spent: handoff.spent,
    ready_at: status.state === "queued" ? status.ready_at : null,
    blocked: status.state === "queued" && status.blocked,
    queue_until: status.state === "queued" ? status.queue_until : null,
    ended_at: ended?.ended_at ?? null,
    taken_at: ended?.taken_at ?? null,
    version: handoff.version,
    seq: handoff.seq,
    fence: handoff.fence,
    attempts: handoff.attempts,
    deliveries: handoff.deliveries,
    lease:
      lease === null
        ? null
        : {
            agent: lease.agent,
            worker: lease.worker,
            fence: lease.fence,
            delivered_at: lease.delivered_at,
            acknowledged_at: lease.acknowledged_at,
            beat_at: lease.beat_at,
            lease_until: lease.beat_at + terms.lease_ms,
            attempt_until: lease.attempt_until,
          },
    question: showOpenQuestion(handoff),
    outcome,
    late: handoff.late.map(({ at, state, outcome }) => ({ at, state, outcome: showOutcome(outcome, bodies.outcomes) })),
    dead_letter: ended?.dead_letter ?? null,
    failures: showFailures(handoff),
    progress: handoff.progress,
    checkpoint: handoff.checkpoint,
  };
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

function showOutcome(outcome: Outcome, bodies: ReadonlyMap<number, Body> | undefined): OutcomeView {
  const { content: _content, output, ...rest } = outcome;
  const body = outcome.fence === null ? undefined : bodies?.get(outcome.fence);
  return {
    ...rest,
    ...(output === null ? {} : showPayload("output", output.media_type, body?.payload ?? null)),
    ...(output !== null || body === undefined ? {} : showFailure(outcome, body)),
    artifacts: [...outcome.artifacts],
    name: nameOfCode(outcome.code),
    payload: output,
  };
}

/** What only the agent's own document tells of a failure: whether it thinks that a retry helps, and the details. */
function showFailure({ error }: Outcome, { document }: Body): Pick<OutcomeView, "error" | "retryable"> {
  if (error === null || document === null) return { error };
  const { retryable = false, error: said } = JSON.parse(document) as OutcomeDocument;
  return { retryable, error: said?.detail === undefined ? error : { ...error, detail: said.detail } };
}

const receiptKinds = new Set<Body["kind"]>(["handoff", "ack", "outcome", "answer", "cancel"]);

function showReceipt(body: Body): NonNullable<HandoffView["receipts"]> {
  const { kind, number } = body;
  if (!receiptKinds.has(kind) || kind === "checkpoint" || kind === "question") return [];
  const signed = showSigned(body);
  return signed === undefined ? [] : [{ kind, number, signed }];
}

/** The exact bytes, for those who check for themselves. */
export function showSigned({ document, proof, payload }: Body) {
  if (document === null) return undefined;
  const shown = { document, proof: proof === null ? null : JSON.parse(proof) };
  if (payload === null) return shown;
  const text = asText(payload);
  return text === null
    ? { ...shown, payload: Buffer.from(payload).toString("base64"), payload_encoding: "base64" as const }
    : { ...shown, payload: text };
}
