import { describe, expect, it } from "vitest";
import type { Decision } from "./command.ts";
import { coreLimits } from "./limits.ts";
import { Life } from "./testing/life.ts";
import { digestOf, start } from "./testing/sample.ts";

const fault = { reason: "type", message: "/summary must be a string" };
const usage = { cost: 2, tokens: 50 };

describe("complete", () => {
  it("ends the handoff with the worker's outcome", () => {
    const life = Life.working();
    const { events, keep } = life.complete();
    expect(life.ended).toMatchObject({ state: "completed", taken_at: null, dead_letter: null });
    expect(events).toMatchObject([{ type: "completed", code: 200, agent: "bob", fence: 1, evidence: "signed" }]);
    expect(keep).toBe(1);
  });

  it("under an unacknowledged live lease is ack and outcome in one", () => {
    const life = Life.delivered();
    life.complete();
    expect(life.eventTypes.slice(-2)).toEqual(["acknowledged", "completed"]);
    expect(life.handoff.attempts).toBe(1);
  });

  it("closes a question that was still open", () => {
    const life = Life.working();
    life.ask();
    life.complete();
    expect(life.state).toBe("completed");
    expect(life.handoff.questions[0]?.resolution).toMatchObject({ kind: "unanswered" });
  });

  it("of another agent gets 403 and nothing is kept", () => {
    const life = Life.working();
    expect(life.complete({ agent: "carol" })).toMatchObject({ next: null, keep: null, refusal: { code: 403 } });
  });

  it("only attested gets 401 where the sender demands a signature", () => {
    const life = Life.working({ demands: "signed" });
    expect(life.complete({ evidence: "attested" })).toMatchObject({ next: null, refusal: { code: 401 } });
  });
});

describe("output that does not fit", () => {
  it("is answered with path and reason, the lease kept, three times; then the handoff fails with 502", () => {
    const life = Life.working();
    for (let time = 1; time <= coreLimits.max_unfit_outputs; time++) {
      expect(life.complete({ fault, content: `try ${time}` }).refusal).toEqual({ code: 502, ...fault });
      expect(life.state).toBe("working");
      expect(life.lease).toMatchObject({ fence: 1, unfit: time });
    }
    expect(life.complete({ fault, content: "last try" }).refusal).toMatchObject({ code: 502 });
    expect(life.ended).toMatchObject({ state: "failed", outcome: { code: 502, error: fault, evidence: "relay" } });
  });

  it("is not counted again when the same comes twice: an honest retry", () => {
    const life = Life.working();
    for (let time = 1; time <= 10; time++) expect(life.complete({ fault }).refusal).toEqual({ code: 502, ...fault });
    expect(life.lease).toMatchObject({ unfit: 1 });
  });

  it("may be mended under the same lease", () => {
    const life = Life.working();
    life.complete({ fault });
    expect(life.complete().refusal).toBeNull();
    expect(life.state).toBe("completed");
  });

  it("that comes late is kept as what it is, not as a completed one", () => {
    const life = Life.working();
    life.release();
    life.complete({ fence: 1, fault });
    expect(life.handoff.late).toMatchObject([{ state: "failed", outcome: { code: 502, error: fault } }]);
  });
});

describe("fail", () => {
  it("that a retry can help queues the handoff again, after a backoff", () => {
    const life = Life.working();
    const { events } = life.fail();
    expect(events).toMatchObject([{ type: "requeued", why: "failed", code: 500, ready_at: start + 750 }]);
    expect(life.handoff).toMatchObject({ attempts: 1, failures: [{ fence: 1, code: 500 }] });
  });

  it("waits at least as long as the worker says", () => {
    const life = Life.working();
    life.fail({ retry_after_ms: 20_000 });
    expect(life.handoff.status).toMatchObject({ ready_at: start + 20_000 });
  });

  it("doubles the backoff with each attempt, up to the limit, with jitter", () => {
    const delay = (attempts: number, random: number) => {
      const life = Life.of({ terms: { max_attempts: 20, deadline_ms: 86_400_000, queue_ms: 86_400_000 } });
      life.context = { ...life.context, random };
      for (let n = 0; n < attempts; n++) {
        life.wait(coreLimits.backoff_most_ms).deliver();
        life.fail();
      }
      const { status } = life.handoff;
      return status.state === "queued" ? status.ready_at - life.now : null;
    };
    expect([1, 2, 3, 4].map((n) => delay(n, 0))).toEqual([500, 1_000, 2_000, 4_000]);
    expect(delay(1, 0.999_999)).toBe(1_000);
    expect(delay(12, 0.999_999)).toBe(coreLimits.backoff_most_ms);
  });

  it("for good ends the handoff at once as a dead letter", () => {
    const life = Life.working();
    life.fail({ retryable: false });
    expect(life.ended).toMatchObject({ state: "failed", outcome: { code: 500 }, dead_letter: { status: "open" } });
  });

  it("of the last attempt ends the handoff", () => {
    const life = Life.of({ terms: { max_attempts: 2 } });
    for (let n = 1; n <= 2; n++) {
      life.wait(1_000).deliver();
      life.fail();
    }
    expect(life.ended).toMatchObject({ state: "failed", outcome: { fence: 2, evidence: "signed" } });
    expect(life.handoff.failures).toHaveLength(2);
  });

  it("whose retry could not start before the deadline ends now", () => {
    const life = Life.working({ terms: { deadline_ms: 60_000 } });
    life.fail({ retry_after_ms: 60_000 });
    expect(life.ended).toMatchObject({ state: "failed", ended_at: start });
    const justInTime = Life.working({ terms: { deadline_ms: 60_000 } });
    justInTime.fail({ retry_after_ms: 59_999 });
    expect(justInTime.state).toBe("queued");
  });

  it.each([
    ["retry is until_ack", "until_ack", true],
    ["the manifest is not idempotent", "attempts", false],
  ] as const)("is final once acknowledged where %s", (_, retry, idempotent) => {
    const life = Life.of({ terms: { retry } });
    life.deliver({ idempotent });
    life.ack();
    life.fail();
    expect(life.ended).toMatchObject({ state: "failed", outcome: { code: 500 } });
  });

  it("charges what the attempt used, also when another one follows", () => {
    const life = Life.working();
    life.fail({ usage });
    expect(life.handoff.spent).toMatchObject(usage);
  });
});

describe("reject", () => {
  it("excludes this agent from this handoff, no attempt counted", () => {
    const life = Life.working();
    expect(life.reject().events).toMatchObject([{ type: "requeued", why: "rejected", code: 501 }]);
    expect(life.handoff).toMatchObject({ attempts: 0, excluded: ["bob"] });
    expect(life.deliver({ agent: "bob", worker: "bob-2" }).refusal).toMatchObject({ code: 403 });
    expect(life.deliver({ agent: "carol" }).refusal).toBeNull();
  });

  it("does not acknowledge", () => {
    const life = Life.delivered();
    life.reject();
    expect(life.eventTypes).not.toContain("acknowledged");
  });

  it("with nobody left ends as rejected", () => {
    const life = Life.working();
    life.reject({}, { others: 0 });
    expect(life.ended).toMatchObject({ state: "rejected", outcome: { code: 501 }, dead_letter: { status: "open" } });
  });

  it("by the only agent it was for ends as rejected", () => {
    const life = Life.delivered({ to: "bob" });
    life.reject();
    expect(life.state).toBe("rejected");
  });

  it("of an attempt that was to go on lets the next agent begin one of its own", () => {
    const life = Life.working({ terms: { max_attempts: 1, attempt_ms: 60_000 } });
    life.keepBeating(20_000).ask({ park: true });
    life.answer();
    life.deliver();
    life.reject();
    life.deliver({ agent: "carol" });
    expect(life.lease).toMatchObject({ continued: false, attempt_left_ms: 60_000 });
    life.ack();
    expect(life.handoff.attempts).toBe(1);
  });
});

describe("repeats", () => {
  it.each<[string, (life: Life) => Decision]>([
    ["complete", (life) => life.complete()],
    ["final fail", (life) => life.fail({ retryable: false })],
    ["fail with a retry left", (life) => life.fail({ fence: 1 })],
    ["reject", (life) => life.reject({ fence: 1 })],
  ])("of the winning %s are answered as the first time and change nothing", (_, say) => {
    const life = Life.working();
    say(life);
    expect(say(life.wait(60_000))).toMatchObject({ next: null, events: [], refusal: null, keep: null });
  });

  it("are answered as the first time also while the next attempt runs", () => {
    const life = Life.working();
    life.fail();
    life.wait(1_000).deliver({ agent: "carol" });
    expect(life.fail({ fence: 1 })).toMatchObject({ next: null, refusal: null });
  });

  it("with another digest are 409, and nothing is kept", () => {
    const life = Life.completed();
    const decision = life.complete({ content: digestOf("other") });
    expect(decision).toMatchObject({ next: null, keep: null, refusal: { code: 409, reason: "outcome_conflict" } });
  });
});

describe("a late outcome", () => {
  it("under a stale fence gets 412, changes no state, is kept, and the sender is told", () => {
    const life = Life.working();
    life.pass(30_000);
    life.deliver({ agent: "carol" });
    const before = life.handoff;
    const decision = life.complete({ fence: 1 });
    expect(decision).toMatchObject({ refusal: { code: 412, reason: "lease_lost" }, keep: 1, durable: true });
    expect(decision.events).toMatchObject([{ type: "late", state: "completed", code: 200, agent: "bob", fence: 1 }]);
    expect(life.handoff.status).toEqual(before.status);
    expect(life.handoff.late).toMatchObject([{ state: "completed", outcome: { fence: 1 } }]);
  });

  it("is kept once per fence", () => {
    const life = Life.working();
    life.release();
    life.complete({ fence: 1 });
    expect(life.complete({ fence: 1 })).toMatchObject({ next: null, keep: null, refusal: { code: 412 } });
    expect(life.fail({ fence: 1, content: digestOf("x") })).toMatchObject({ next: null, refusal: { code: 412 } });
    expect(life.handoff.late).toHaveLength(1);
  });

  it("is kept from each holder of a fence", () => {
    const life = Life.working();
    life.pass(30_000);
    life.deliver({ agent: "carol" });
    life.pass(10_000);
    life.complete({ fence: 1 });
    life.reject({ fence: 2 });
    expect(life.handoff.late.map(({ state }) => state)).toEqual(["completed", "rejected"]);
  });

  it("after a cancel gets 410 and is kept", () => {
    const life = Life.working();
    life.cancel();
    expect(life.complete()).toMatchObject({ refusal: { code: 410 }, events: [{ type: "late" }], keep: 1 });
    expect(life.state).toBe("canceled");
  });

  it("after the deadline gets 408 and is kept", () => {
    const life = Life.working({ terms: { deadline_ms: 20_000 } }).wait(20_000);
    const decision = life.complete();
    expect(decision.refusal).toMatchObject({ code: 408 });
    expect(decision.events.map(({ type }) => type)).toEqual(["expired", "late"]);
  });

  it("after somebody else completed it is kept", () => {
    const life = Life.working();
    life.pass(30_000);
    life.deliver({ agent: "carol" });
    life.complete();
    life.complete({ fence: 1, content: digestOf("old") });
    expect(life.ended.outcome.agent).toBe("carol");
    expect(life.handoff.late).toHaveLength(1);
  });

  it("of one who never held the fence is not kept", () => {
    const life = Life.working();
    life.release();
    expect(life.complete({ fence: 1, agent: "mallory" })).toMatchObject({ next: null, refusal: { code: 403 } });
    expect(life.complete({ fence: 7 })).toMatchObject({ next: null, refusal: { code: 412 } });
  });

  it("is charged for what it used", () => {
    const life = Life.working();
    life.release();
    life.complete({ fence: 1, usage });
    expect(life.handoff.spent).toMatchObject(usage);
  });
});

describe("usage", () => {
  it("adds up to no number that JSON does not hold exactly", () => {
    const most = Number.MAX_SAFE_INTEGER;
    const life = Life.working();
    life.fail({ usage: { cost: most, tokens: 1 } });
    life.do({ type: "charge", usage: { cost: most, tokens: most }, handoffs: 1 });
    expect(life.handoff.spent).toEqual({ cost: most, tokens: most, handoffs: 1 });
  });

  it("is charged to the handoff and to every budget above it", () => {
    const root = Life.working({ budget: { cost: 10, tokens: null, handoffs: null } });
    const child = Life.of({}, { budgets: [root.handoff] });
    child.deliver();
    const { follow } = child.complete({ usage });
    expect(child.handoff.spent).toEqual({ ...usage, handoffs: 0 });
    const charge = { type: "charge", usage, handoffs: 0, capability: "summarize" };
    expect(follow).toEqual([{ kind: "command", id: root.handoff.accepted.id, command: charge }]);
  });
});
