import { describe, expect, it } from "vitest";
import type { Decision } from "./command.ts";
import { coreLimits } from "./limits.ts";
import { Life } from "./testing/life.ts";
import { start } from "./testing/sample.ts";

describe("the queue clock", () => {
  it("ends as expired with 503 what no worker took in time", () => {
    const life = Life.of({ terms: { queue_ms: 5_000 } });
    expect(life.wakeAt).toBe(start + 5_000);
    life.pass(4_999);
    expect(life.state).toBe("queued");
    life.pass(1);
    expect(life.ended).toMatchObject({ state: "expired", outcome: { code: 503 }, dead_letter: { status: "open" } });
  });

  it("starts anew when the handoff is queued again, after the backoff", () => {
    const life = Life.working({ terms: { queue_ms: 5_000 } });
    life.wait(4_000).fail();
    expect(life.handoff.status).toMatchObject({ ready_at: start + 4_750, queue_until: start + 9_750 });
  });
});

describe("the ack clock", () => {
  it("queues again what was not acknowledged in time, rather for another worker", () => {
    const life = Life.delivered();
    expect(life.wakeAt).toBe(start + 10_000);
    life.pass(10_000);
    expect(life.events.at(-1)).toMatchObject({ type: "requeued", why: "unacknowledged", code: 504, fence: 1 });
    expect(life.handoff).toMatchObject({ attempts: 0, deliveries: 1, failures: [{ code: 504 }] });
    expect(life.handoff.avoid).toMatchObject({ agent: "bob", worker: "bob-1" });
  });

  it("ends as failed with 504 what was delivered as often as allowed", () => {
    const life = Life.of();
    for (let n = 1; n <= 10; n++) {
      expect(life.state).toBe("queued");
      life.deliver();
      life.pass(10_000);
    }
    expect(life.handoff).toMatchObject({ deliveries: 10, attempts: 0 });
    expect(life.ended).toMatchObject({ state: "failed", outcome: { code: 504 } });
  });
});

describe("the lease clock", () => {
  it("starts another attempt when a worker is not heard of", () => {
    const life = Life.working();
    expect(life.wakeAt).toBe(start + 30_000);
    life.pass(30_000);
    expect(life.events.at(-1)).toMatchObject({ type: "requeued", why: "lease_lost", code: 521, ready_at: life.now });
    expect(life.handoff.attempts).toBe(1);
  });

  it("ends as failed with 521 when no attempt is left", () => {
    const life = Life.working({ terms: { max_attempts: 1 } });
    life.pass(30_000);
    expect(life.ended).toMatchObject({ state: "failed", outcome: { code: 521 } });
  });

  it("is a dead letter, never a second attempt, once acknowledged under until_ack", () => {
    const life = Life.working({ terms: { retry: "until_ack" } });
    life.pass(30_000);
    expect(life.ended).toMatchObject({ state: "failed", outcome: { code: 521 }, dead_letter: { status: "open" } });
  });

  it("lets until_ack be delivered again before any ack", () => {
    const life = Life.delivered({ terms: { retry: "until_ack" } });
    life.pass(10_000);
    expect(life.state).toBe("queued");
  });
});

describe("the attempt clock", () => {
  it("ends an attempt that beats but hangs", () => {
    const life = Life.working({ terms: { attempt_ms: 60_000 } });
    life.keepBeating(59_999);
    expect(life.state).toBe("working");
    life.pass(1);
    expect(life.events.at(-1)).toMatchObject({ type: "requeued", why: "attempt_timeout", code: 500 });
  });

  it("stops while waiting", () => {
    const life = Life.working({ terms: { attempt_ms: 60_000 } });
    life.keepBeating(40_000).ask({ answer_ms: null });
    life.keepBeating(100_000).answer();
    expect(life.lease.attempt_until).toBe(life.now + 20_000);
    life.keepBeating(19_999);
    expect(life.state).toBe("working");
    life.pass(1);
    expect(life.state).toBe("queued");
  });

  it("goes on with what it had left after a parked question", () => {
    const life = Life.working({ terms: { attempt_ms: 60_000 } });
    life.keepBeating(40_000).ask({ park: true });
    life.answer();
    life.deliver();
    life.ack();
    expect(life.lease.attempt_until).toBe(life.now + 20_000);
  });

  it("decides over the lease clock where it ran out first, however late the timer", () => {
    const life = Life.working({ terms: { attempt_ms: 20_000 } });
    life.pass(60_000);
    expect(life.handoff.failures).toMatchObject([{ code: 500, error: { reason: "attempt_timeout" } }]);
  });

  it("of a new attempt is full again", () => {
    const life = Life.working({ terms: { attempt_ms: 60_000 } });
    life.wait(20_000).fail();
    life.wait(1_000).deliver();
    life.ack();
    expect(life.lease.attempt_until).toBe(life.now + 60_000);
  });
});

describe("the deadline", () => {
  const open: [string, () => Life][] = [
    ["queued", () => Life.of({ terms: { deadline_ms: 8_000 } })],
    ["blocked", () => Life.of({ ordering_key: "k", terms: { deadline_ms: 8_000 } }, { lane_busy: true })],
    ["delivered", () => Life.delivered({ terms: { deadline_ms: 8_000 } })],
    ["working", () => Life.working({ terms: { deadline_ms: 8_000 } })],
    ["waiting", () => asked(false)],
    ["parked", () => asked(true)],
  ];
  function asked(park: boolean): Life {
    const life = Life.working({ terms: { deadline_ms: 8_000 } });
    life.ask({ park });
    return life;
  }

  it.each(open)("ends a handoff that is %s", (_, make) => {
    const life = make();
    expect(life.wakeAt).toBeLessThanOrEqual(start + 8_000);
    life.pass(8_000);
    expect(life.ended).toMatchObject({ state: "expired", outcome: { code: 408 }, dead_letter: { status: "open" } });
  });

  it.each<[string, (life: Life) => Decision]>([
    ["ack", (life) => life.ack()],
    ["beat", (life) => life.beat()],
    ["checkpoint", (life) => life.checkpoint()],
    ["complete", (life) => life.complete()],
    ["cancel", (life) => life.cancel()],
    ["release", (life) => life.release()],
  ])("is checked first by %s: time decides, not the timer", (_, act) => {
    const life = Life.working({ terms: { deadline_ms: 8_000 } }).wait(8_000);
    act(life);
    expect(life.ended).toMatchObject({ state: "expired", ended_at: start + 8_000 });
  });

  it("is not checked a moment too early", () => {
    const life = Life.working({ terms: { deadline_ms: 8_000 } }).wait(7_999);
    expect(life.complete().refusal).toBeNull();
  });
});

describe("after the relay was away", () => {
  const away = 600_000;
  /** The relay stopped, and came back so much later. */
  function back(life: Life): Life {
    life.wait(away);
    life.context = { ...life.context, resumed_at: life.now };
    return life;
  }
  const long = { terms: { deadline_ms: 86_400_000, queue_ms: 86_400_000 } };

  it("a worker reconnects under the same fence and finishes", () => {
    const life = back(Life.working(long)).wait(29_999);
    expect(life.complete({ fence: 1 }).refusal).toBeNull();
  });

  it.each<[string, () => Life]>([
    ["unacknowledged", () => Life.delivered(long)],
    ["working", () => Life.working(long)],
    ["working past the attempt's limit", () => Life.working({ terms: { ...long.terms, attempt_ms: 1_000 } })],
  ])("no lease (%s) is lost before one full lease period", (_, make) => {
    const life = back(make());
    life.pass(29_999);
    expect(life.lease.fence).toBe(1);
    life.pass(1);
    expect(life.state).toBe("queued");
  });

  it("a lease acknowledged only since then is not lost before one full lease period either", () => {
    const life = back(Life.delivered({ terms: { ...long.terms, attempt_ms: 1_000 } }));
    life.ack();
    expect(life.wakeAt).toBe(life.now + 30_000);
  });

  it("a lost delivery counts neither as a delivery nor as an attempt", () => {
    const life = back(Life.delivered(long));
    life.pass(30_000);
    expect(life.handoff).toMatchObject({ deliveries: 0, attempts: 0 });
  });

  it("an attempt whose worker was not heard of since is not counted", () => {
    const life = back(Life.working(long));
    life.pass(30_000);
    expect(life.handoff.attempts).toBe(0);
  });

  it("an attempt whose worker was heard of since is counted", () => {
    const life = back(Life.working(long));
    life.wait(1_000).beat();
    life.pass(30_000);
    expect(life.handoff.attempts).toBe(1);
  });

  it("leases given since then keep their own clocks", () => {
    const life = Life.of({ terms: { attempt_ms: 2_000 } });
    life.context = { ...life.context, resumed_at: start - 1 };
    life.deliver();
    expect(life.wakeAt).toBe(start + 10_000);
    life.ack();
    expect(life.wakeAt).toBe(start + 2_000);
  });

  it("the deadline still holds", () => {
    const life = back(Life.working({ terms: { deadline_ms: away } }));
    life.tick();
    expect(life.state).toBe("expired");
  });
});

describe("the time to wake", () => {
  it("comes when a backoff is over, and when a preference is", () => {
    const life = Life.delivered();
    life.pass(10_000);
    expect(life.wakeAt).toBe(life.now + coreLimits.preference_ms);
    life.pass(coreLimits.preference_ms);
    expect(life.wakeAt).toBe(life.handoff.accepted.deadline_at);
    life.deliver();
    life.fail();
    expect(life.wakeAt).toBe(life.now + 750);
  });

  it("is now while a chore is left, and retention afterwards", () => {
    const life = Life.working();
    life.do({ type: "adopt" });
    life.complete();
    expect(life.wakeAt).toBe(life.now);
    life.do({ type: "swept" });
    expect(life.wakeAt).toBe(life.now + coreLimits.keep_untaken_ms);
  });
});
