/** A worker's question back, and its answer. One question is open at a time. */

import { type Change, refusal } from "./change.ts";
import { openQuestion, resumeAttempt } from "./clocks.ts";
import type { Actor, Command, Decision } from "./command.ts";
import { type HandoffError, hasEnded, type Question } from "./handoff.ts";
import { ensureAcknowledged, heldLease, isRefusal, refuseNotice } from "./hold.ts";
import { requeue } from "./requeue.ts";

export function ask(change: Change, command: Extract<Command, { type: "ask" }>): Decision {
  const asked = change.handoff.questions.find((question) => question.id === command.question);
  if (asked !== undefined && asked.fence === command.fence && asked.agent === command.agent) return change.done();
  const held = heldLease(change, command);
  if (isRefusal(held)) return change.refused(held);
  const no = refuseNotice(change);
  if (no !== null) return change.refused(no);
  const open = openQuestion(change.handoff);
  if (open !== undefined) return change.refused(refusal(409, "question_open", `question ${open.id} is still open`));
  if (asked !== undefined)
    return change.refused(refusal(409, "question_taken", `question ${asked.id} was asked before`));
  const { limits } = change.context;
  if (change.handoff.questions.length >= limits.max_questions) {
    return change.refused(
      refusal(429, "too_many_questions", `at most ${limits.max_questions} questions in one handoff`),
    );
  }
  const lease = ensureAcknowledged(change, held, "attested");
  if (isRefusal(lease)) return change.refused(lease);

  const { handoff, now } = change;
  const { deadline_at } = handoff.accepted;
  const answer_by = command.answer_ms === null ? deadline_at : Math.min(now + command.answer_ms, deadline_at);
  const question: Question = {
    id: command.question,
    fence: lease.fence,
    agent: lease.agent,
    asked_at: now,
    answer_by,
    to: command.to,
    ...(command.beyond_agreed === true ? { beyond_agreed: true } : {}),
    resolution: null,
  };
  const attempt_left_ms = Math.max(1, (lease.attempt_until ?? now) - now);
  change.set({
    questions: [...handoff.questions, question],
    continues_ms: command.park ? attempt_left_ms : null,
    status: {
      state: "waiting",
      question: question.id,
      lease: command.park ? null : { ...lease, attempt_until: null, attempt_left_ms },
    },
  });
  const { agent, fence } = lease;
  change.emit({
    type: "asked",
    code: 213,
    agent,
    fence,
    question: question.id,
    to: command.to,
    answer_by,
    parked: command.park,
  });
  return change.done(handoff.questions.length);
}

export function answer(change: Change, command: Extract<Command, { type: "answer" }>): Decision {
  const { handoff, now, context } = change;
  const { status, accepted } = handoff;
  const number = handoff.questions.findIndex((question) => question.id === command.question);
  const question = handoff.questions[number];
  if (question === undefined) return change.refused(refusal(404, "unknown_question", "there is no such question"));
  if (!mayAnswer(question, accepted.from, command)) {
    return change.refused(refusal(403, "not_asked", `question ${question.id} was not put to you`));
  }
  const { resolution } = question;
  if (resolution?.kind === "answered") {
    if (resolution.content === command.content) return change.done();
    return change.refused(refusal(409, "already_answered", `question ${question.id} has another answer already`));
  }
  if (status.state !== "waiting" || status.question !== question.id) {
    const canceled = hasEnded(status) && status.state === "canceled";
    return change.refused(
      refusal(canceled ? 410 : 408, "question_closed", `question ${question.id} is no longer open`),
    );
  }
  if (command.fault !== undefined) return refuseUnfit(change, question, command.actor, command.fault);
  const { evidence, content, actor } = command;
  const by = nameOf(actor);
  change.set({
    questions: handoff.questions.map((q) =>
      q.id === question.id ? { ...q, resolution: { kind: "answered", by, at: now, content, evidence } } : q,
    ),
  });
  change.emit({ type: "answered", by, question: question.id, evidence, answer: command.answer });
  if (status.lease !== null) {
    change.set({ status: { state: "working", lease: resumeAttempt(status.lease, now) } });
  } else {
    const prefer = { agent: question.agent, until: now + context.limits.preference_ms };
    requeue(change, { why: "answered", code: null, lease: null, error: null, ready_at: now, patch: { prefer } });
  }
  return change.done(number);
}

/** Under a contract it is kept that the asker did answer: what follows is not its silence. */
function refuseUnfit(change: Change, question: Question, actor: Actor, fault: HandoffError): Decision {
  const { handoff, now } = change;
  const is_askers = question.to === null && actor.kind === "agent" && handoff.accepted.contract !== undefined;
  if (is_askers && question.refused_at === undefined) {
    const tried = { ...question, refused_at: now };
    change.set({ questions: handoff.questions.map((q) => (q.id === question.id ? tried : q)) });
  }
  return change.refused({ ...refusal(422, fault.reason, fault.message), extra: { fields: ["/answer"] } });
}

function mayAnswer(question: Question, from: string, { actor, offers }: Extract<Command, { type: "answer" }>): boolean {
  if (actor.kind !== "agent") return true;
  return question.to === null ? actor.agent === from : offers.includes(question.to);
}

export function nameOf(actor: Actor): string {
  switch (actor.kind) {
    case "agent":
      return actor.agent;
    case "operator":
      return `operator:${actor.name}`;
    case "relay":
      return "relay";
    default:
      throw new Error(`unreachable actor ${JSON.stringify(actor satisfies never)}`);
  }
}
