import { describe, expect, it } from "vitest";
import { coreLimits } from "./limits.ts";
import { Life, operator, stranger } from "./testing/life.ts";
import { digestOf, start } from "./testing/sample.ts";

const desk = { kind: "agent", agent: "dora" } as const;

describe("ask", () => {
  it("moves to waiting with one open question and the lease kept", () => {
    const life = Life.working();
    const { events, keep } = life.ask();
    expect(life.state).toBe("waiting");
    expect(life.lease.fence).toBe(1);
    expect(events).toMatchObject([{ type: "asked", code: 213, question: "question-1", parked: false }]);
    expect(keep).toBe(0);
  });

  it("may park: no slot is held", () => {
    const life = Life.working();
    life.ask({ park: true });
    expect(life.handoff.status).toEqual({ state: "waiting", question: "question-1", lease: null });
    expect(life.beat().refusal).toMatchObject({ code: 412 });
  });

  it("repeated is answered as the first time", () => {
    const life = Life.working();
    life.ask({ park: true });
    expect(life.ask({ park: true })).toMatchObject({ next: null, events: [], refusal: null });
  });

  it("refuses a second question while one is open", () => {
    const life = Life.working();
    life.ask();
    expect(life.ask({ question: "question-2" }).refusal).toMatchObject({ code: 409, reason: "question_open" });
  });

  it("refuses the id of a question that was asked under another fence", () => {
    const life = Life.working();
    life.ask({ park: true });
    life.answer();
    life.deliver();
    expect(life.ask({ fence: 2 }).refusal).toMatchObject({ code: 409, reason: "question_taken" });
  });

  it("bounds how many questions one handoff may ask", () => {
    const life = Life.working();
    const limits = { ...coreLimits, max_questions: 1 };
    life.ask();
    life.answer();
    const ask = {
      type: "ask",
      agent: "bob",
      fence: 1,
      question: "q2",
      to: null,
      answer_ms: null,
      park: false,
    } as const;
    expect(life.do(ask, { limits }).refusal).toMatchObject({ code: 429 });
  });

  it("never waits past the deadline", () => {
    const life = Life.working({ terms: { deadline_ms: 60_000 } });
    life.ask({ answer_ms: 120_000 });
    expect(life.handoff.questions[0]?.answer_by).toBe(start + 60_000);
    const open = Life.working();
    open.ask({ answer_ms: null });
    expect(open.handoff.questions[0]?.answer_by).toBe(open.handoff.accepted.deadline_at);
  });

  it("under an unacknowledged lease acknowledges it on the way", () => {
    const life = Life.delivered();
    life.ask();
    expect(life.eventTypes.slice(-2)).toEqual(["acknowledged", "asked"]);
  });
});

describe("answer", () => {
  it("resumes the worker that kept its lease, under the same fence", () => {
    const life = Life.working();
    life.ask();
    expect(life.answer().events).toMatchObject([{ type: "answered", by: "alice", question: "question-1" }]);
    expect(life.state).toBe("working");
    expect(life.lease.fence).toBe(1);
  });

  it("to a parked question queues the handoff, the same agent preferred, no attempt counted", () => {
    const life = Life.working();
    life.ask({ park: true });
    life.answer();
    expect(life.eventTypes.slice(-2)).toEqual(["answered", "requeued"]);
    expect(life.handoff.prefer).toEqual({ agent: "bob", until: start + coreLimits.preference_ms });
    life.deliver();
    life.ack();
    expect(life.handoff.attempts).toBe(1);
    expect(life.lease).toMatchObject({ fence: 2, continued: true });
  });

  it("is idempotent by the question's id: the same again is answered as the first time", () => {
    const life = Life.working();
    life.ask();
    life.answer();
    expect(life.answer()).toMatchObject({ next: null, events: [], refusal: null });
  });

  it("another answer to the same question is 409", () => {
    const life = Life.working();
    life.ask();
    life.answer();
    expect(life.answer({ content: digestOf("other") }).refusal).toMatchObject({ code: 409 });
  });

  it("repeated after the end is answered as the first time", () => {
    const life = Life.working();
    life.ask();
    life.answer();
    life.complete();
    expect(life.answer()).toMatchObject({ next: null, refusal: null });
  });

  it("to an unknown question is 404", () => {
    expect(Life.working().answer().refusal).toMatchObject({ code: 404, reason: "unknown_question" });
  });

  it("is the sender's, where the question went to the sender", () => {
    const life = Life.working();
    life.ask();
    expect(life.answer({ actor: stranger }).refusal).toMatchObject({ code: 403, reason: "not_asked" });
    expect(life.state).toBe("waiting");
  });

  it("comes from whoever offers the capability that was asked, not from the sender", () => {
    const life = Life.working();
    life.ask({ to: "human_desk" });
    expect(life.answer().refusal).toMatchObject({ code: 403 });
    expect(life.answer({ actor: desk, offers: ["human_desk"] }).refusal).toBeNull();
    expect(life.handoff.questions[0]?.resolution).toMatchObject({ kind: "answered", by: "dora" });
  });

  it("may always come from an operator", () => {
    const life = Life.working();
    life.ask();
    life.answer({ actor: operator });
    expect(life.handoff.questions[0]?.resolution).toMatchObject({ by: "operator:olga" });
  });

  it("after a cancel is 410", () => {
    const life = Life.working();
    life.ask();
    life.cancel();
    expect(life.answer().refusal).toMatchObject({ code: 410, reason: "question_closed" });
  });

  it("to a question whose worker gave up meanwhile is 408", () => {
    const life = Life.working();
    life.ask();
    life.fail();
    expect(life.handoff.questions[0]?.resolution).toMatchObject({ kind: "unanswered" });
    expect(life.answer().refusal).toMatchObject({ code: 408, reason: "question_closed" });
  });
});

describe("an unanswered question", () => {
  it("is told to the worker that kept its lease, which goes on", () => {
    const life = Life.working();
    life.ask({ answer_ms: 20_000 });
    life.keepBeating(20_000);
    expect(life.state).toBe("working");
    expect(life.eventTypes.at(-1)).toBe("unanswered");
    expect(life.handoff.questions[0]?.resolution).toMatchObject({ kind: "unanswered" });
  });

  it("parked, ends the handoff as failed", () => {
    const life = Life.working();
    life.ask({ answer_ms: 20_000, park: true });
    life.pass(20_000);
    expect(life.ended).toMatchObject({ state: "failed", outcome: { code: 408, evidence: "relay" } });
    expect(life.eventTypes.slice(-2)).toEqual(["unanswered", "failed"]);
  });

  it("does not stop the deadline", () => {
    const life = Life.working({ terms: { deadline_ms: 30_000 } });
    life.ask({ answer_ms: null, park: true });
    life.pass(30_000);
    expect(life.ended).toMatchObject({ state: "expired", outcome: { code: 408 } });
  });

  it("whose worker was lost only afterwards costs that worker its attempt, however late the timer", () => {
    const life = Life.working();
    life.ask({ answer_ms: 20_000 });
    life.pass(60_000);
    expect(life.eventTypes.slice(-2)).toEqual(["unanswered", "requeued"]);
    expect(life.handoff.failures).toMatchObject([{ code: 521 }]);
  });

  it("whose worker was lost first is parked first, however late the timer", () => {
    const life = Life.working();
    life.ask({ answer_ms: 40_000 });
    life.pass(60_000);
    expect(life.eventTypes.slice(-3)).toEqual(["parked", "unanswered", "failed"]);
    expect(life.ended.outcome.code).toBe(408);
  });
});

describe("a worker lost while waiting", () => {
  it("leaves the question open for whoever goes on after the answer", () => {
    const life = Life.working();
    life.ask({ answer_ms: null });
    life.pass(30_000);
    expect(life.handoff.status).toEqual({ state: "waiting", question: "question-1", lease: null });
    life.answer();
    expect(life.state).toBe("queued");
    expect(life.handoff.attempts).toBe(1);
  });

  it("is a dead letter where a second attempt is forbidden", () => {
    const life = Life.working({ terms: { retry: "until_ack" } });
    life.ask({ answer_ms: null });
    life.pass(30_000);
    expect(life.ended).toMatchObject({ state: "failed", outcome: { code: 521 }, dead_letter: { status: "open" } });
  });
});
