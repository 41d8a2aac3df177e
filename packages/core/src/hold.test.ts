import { describe, expect, it } from "vitest";
import type { Decision } from "./command.ts";
import { Life } from "./testing/life.ts";
import { start } from "./testing/sample.ts";

describe("ack", () => {
  it("moves to working and counts the attempt", () => {
    const life = Life.delivered();
    const { events, keep } = life.ack();
    expect(life.state).toBe("working");
    expect(life.handoff.attempts).toBe(1);
    expect(events).toMatchObject([{ type: "acknowledged", code: 211, fence: 1, attempt: 1, evidence: "signed" }]);
    expect(keep).toBe(1);
  });

  it("repeated is answered as the first time and changes nothing", () => {
    const life = Life.working();
    expect(life.ack()).toMatchObject({ next: null, events: [], refusal: null });
  });

  it("repeated after the outcome is answered as the first time", () => {
    expect(Life.completed().ack()).toMatchObject({ next: null, refusal: null });
  });

  it("that comes too late gets 412, and the handoff is queued again", () => {
    const life = Life.delivered().wait(10_000);
    expect(life.ack().refusal).toMatchObject({ code: 412, reason: "lease_lost" });
    expect(life.state).toBe("queued");
    expect(life.handoff).toMatchObject({ attempts: 0, deliveries: 1 });
  });

  it("of another agent gets 403", () => {
    expect(Life.delivered().ack({ agent: "carol" }).refusal).toMatchObject({ code: 403, reason: "foreign_lease" });
  });

  it("only attested gets 401 where the sender demands a signature", () => {
    const life = Life.delivered({ demands: "signed" });
    expect(life.ack({ evidence: "attested" }).refusal).toMatchObject({ code: 401 });
    expect(life.state).toBe("delivered");
    expect(life.ack({ evidence: "signed" }).refusal).toBeNull();
  });

  it("after a cancel gets 410", () => {
    const life = Life.delivered();
    life.cancel();
    expect(life.ack().refusal).toMatchObject({ code: 410 });
  });
});

describe("a notice", () => {
  it("ends as completed when acknowledged", () => {
    const life = Life.delivered({ kind: "notice" });
    life.ack();
    expect(life.ended).toMatchObject({ state: "completed", outcome: { code: 200, fence: 1, evidence: "signed" } });
    expect(life.eventTypes).toEqual(["accepted", "delivered", "acknowledged", "completed"]);
  });

  it("answers the repeated ack as the first time", () => {
    const life = Life.working({ kind: "notice" });
    expect(life.ack()).toMatchObject({ next: null, refusal: null });
  });

  it.each<[string, (life: Life) => Decision]>([
    ["checkpoint", (life) => life.checkpoint()],
    ["question", (life) => life.ask()],
  ])("takes no %s: there is no work on it", (_, act) => {
    const life = Life.delivered({ kind: "notice" });
    expect(act(life).refusal).toMatchObject({ code: 409, reason: "notice" });
    expect(life.state).toBe("delivered");
  });

  it("is completed by its ack also after output that did not fit", () => {
    const life = Life.delivered({ kind: "notice" });
    life.complete({ fault: { reason: "type", message: "/ must be an object" } });
    life.ack();
    expect(life.state).toBe("completed");
  });
});

describe("an attested ack of a notice", () => {
  it("gets 401 where the sender demands a signature, also after output that did not fit", () => {
    const life = Life.delivered({ kind: "notice", demands: "signed" });
    life.complete({ fault: { reason: "type", message: "/ must be an object" } });
    expect(life.ack({ evidence: "attested" }).refusal).toMatchObject({ code: 401 });
    expect(life.state).toBe("working");
  });
});

describe("beat", () => {
  it("extends the lease, without an event and without an fsync", () => {
    const life = Life.working();
    const before = life.handoff;
    const decision = life.wait(20_000).beat();
    expect(decision).toMatchObject({ events: [], durable: false, refusal: null });
    expect(decision.next?.version).toBe(before.version);
    life.pass(29_999);
    expect(life.state).toBe("working");
    life.pass(1);
    expect(life.state).toBe("queued");
  });

  it("carries progress as whole state: the newest replaces the one before", () => {
    const life = Life.working();
    life.beat({ progress: { fraction: 0.2, note: "reading" } });
    life.wait(1_000).beat({ progress: { fraction: 0.5, note: null } });
    expect(life.handoff.progress).toEqual({ fraction: 0.5, note: null, at: start + 1_000 });
    life.beat();
    expect(life.handoff.progress?.fraction).toBe(0.5);
  });

  it("does not replace the ack", () => {
    const life = Life.delivered().wait(9_000);
    life.beat();
    life.pass(1_000);
    expect(life.state).toBe("queued");
  });

  it("learns of a cancellation from its answer", () => {
    const life = Life.working();
    life.cancel();
    expect(life.beat().refusal).toMatchObject({ code: 410, reason: "canceled" });
  });

  it("learns that the deadline passed", () => {
    const life = Life.working({ terms: { deadline_ms: 20_000 } }).wait(20_000);
    expect(life.beat().refusal).toMatchObject({ code: 408 });
    expect(life.state).toBe("expired");
  });

  it("under a stale fence gets 412 and changes nothing", () => {
    const life = Life.working();
    life.release();
    life.deliver({ agent: "carol" });
    expect(life.beat({ fence: 1 })).toMatchObject({ next: null, refusal: { code: 412 } });
  });
});

describe("checkpoint", () => {
  it("is durable and numbered over all attempts", () => {
    const life = Life.working();
    expect(life.checkpoint()).toMatchObject({ durable: true, keep: 1, events: [{ type: "checkpointed", number: 1 }] });
    life.fail();
    life.wait(1_000).deliver();
    life.ack();
    expect(life.checkpoint().keep).toBe(2);
    expect(life.handoff.checkpoint).toEqual({ fence: 2, number: 2 });
  });

  it("reaches the next attempt together with the earlier failures", () => {
    const life = Life.working();
    life.checkpoint();
    life.pass(30_000);
    life.deliver({ agent: "carol" });
    expect(life.handoff.checkpoint).toEqual({ fence: 1, number: 1 });
    expect(life.handoff.failures).toMatchObject([{ fence: 1, agent: "bob", code: 521 }]);
  });

  it("under an unacknowledged lease acknowledges it on the way", () => {
    const life = Life.delivered();
    life.checkpoint();
    expect(life.eventTypes.slice(-2)).toEqual(["acknowledged", "checkpointed"]);
    expect(life.handoff.attempts).toBe(1);
  });

  it("under a stale fence gets 412 and keeps nothing", () => {
    const life = Life.working();
    life.release();
    expect(life.checkpoint()).toMatchObject({ next: null, keep: null, refusal: { code: 412 } });
  });
});

describe("release", () => {
  it("gives work back at once, no attempt counted", () => {
    const life = Life.working();
    expect(life.release().events).toMatchObject([{ type: "requeued", why: "released", fence: 1 }]);
    expect(life.handoff).toMatchObject({ attempts: 0, deliveries: 0, failures: [] });
    expect(life.deliver().refusal).toBeNull();
  });

  it("before the ack counts neither as an attempt nor as a delivery", () => {
    const life = Life.delivered();
    life.release();
    expect(life.handoff).toMatchObject({ attempts: 0, deliveries: 0 });
  });

  it("of an attempt that went on after an answer gives that attempt back", () => {
    const life = Life.working({ terms: { max_attempts: 1 } });
    life.ask({ park: true });
    life.answer();
    life.deliver();
    life.ack();
    expect(life.handoff.attempts).toBe(1);
    life.release();
    expect(life.handoff.attempts).toBe(0);
    life.deliver();
    life.ack();
    expect(life.handoff.attempts).toBe(1);
  });

  it("while waiting leaves the question open and parks", () => {
    const life = Life.working();
    life.ask();
    expect(life.release().events).toMatchObject([{ type: "parked", question: "question-1" }]);
    expect(life.handoff.status).toEqual({ state: "waiting", question: "question-1", lease: null });
    expect(life.handoff.attempts).toBe(1);
  });

  it("keeps the head of a lane at the head", () => {
    const life = Life.working({ ordering_key: "k" });
    life.release();
    expect(life.handoff.status).toMatchObject({ state: "queued", blocked: false });
  });
});
