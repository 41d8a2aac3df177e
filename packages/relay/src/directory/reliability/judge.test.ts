/** What counts and what never does, by events that core really told. */

import { describe, expect, test } from "vitest";
import { Life } from "../../../../core/src/testing/life.ts";
import { capability, measureLives } from "./testing/measure.ts";

const second = 1_000;
const minute = 60 * second;

function counts(life: Life): { n: number; successes: number } {
  const { n, successes } = measureLives(life).of("bob", capability, life.now);
  return { n: Math.round(n), successes: Math.round(successes) };
}

const success = { n: 1, successes: 1 };
const failure = { n: 1, successes: 0 };
const nothing = { n: 0, successes: 0 };

/** The relay was away and has just come back. */
function resumed(life: Life): Life {
  life.context = { ...life.context, resumed_at: life.now };
  return life;
}

type Lived = (life: Life) => void;
const unfit = { reason: "output_unfit", message: "/summary is missing" };
const inputUnfit = { reason: "input_unfit", message: "The input does not fit: /depth" };

describe("counts as a success", () => {
  test.each<[string, Lived]>([
    ["completed", (life) => life.complete()],
    [
      "completed after output that did not fit at first",
      (life) => {
        life.complete({ fault: unfit, content: "first" });
        life.complete();
      },
    ],
    ["completed after the relay was away", (life) => resumed(life.wait(minute)).complete()],
    [
      "completed after an answer",
      (life) => {
        life.ask();
        life.answer();
        life.complete();
      },
    ],
    [
      "completed after an answer to a parked question, as one attempt",
      (life) => {
        life.ask({ park: true });
        life.answer();
        life.deliver();
        life.ack();
        life.complete();
      },
    ],
  ])("%s", (_, live) => {
    const life = Life.working();
    live(life);
    expect(counts(life)).toEqual(success);
  });

  test("a notice that was acknowledged, though it tells no latency", () => {
    const life = Life.working({ kind: "notice" });
    expect(counts(life)).toEqual(success);
    expect(measureLives(life).of("bob", capability, life.now).p50_ms).toBeNull();
  });
});

describe("counts as a failure", () => {
  test.each<[string, Lived]>([
    ["failed, to be tried again", (life) => life.fail()],
    ["failed for good", (life) => life.fail({ retryable: false })],
    ["a lost lease", (life) => life.pass(30 * second)],
    ["a lost lease after the last attempt", (life) => life.pass(14 * minute + 59 * second)],
    ["an attempt that ran past its time", (life) => life.keepBeating(5 * minute)],
    ["a deadline that passed while it worked", (life) => life.keepBeating(4 * minute).pass(11 * minute)],
    [
      "output that never fitted",
      (life) => {
        for (const content of ["1", "2", "3", "4"]) life.complete({ fault: unfit, content });
      },
    ],
    ["failed by its own word, though the relay was away meanwhile", (life) => resumed(life.wait(minute)).fail()],
    [
      "the late outcome of a lost lease counts no second time",
      (life) => {
        life.pass(30 * second);
        life.complete({ fence: 1 });
      },
    ],
  ])("%s", (_, live) => {
    const life = Life.working();
    live(life);
    expect(counts(life)).toEqual(failure);
  });

  test("a delivery that was not acknowledged, each time, also the last", () => {
    const life = Life.delivered({ terms: { max_deliveries: 2 } });
    life.pass(10 * second);
    expect(counts(life)).toEqual(failure);
    life.deliver();
    life.pass(10 * second);
    expect(life.state).toBe("failed");
    expect(counts(life)).toEqual({ n: 2, successes: 0 });
  });

  test("what must not be tried again and was lost", () => {
    const life = Life.working({ terms: { retry: "until_ack" } });
    life.pass(30 * second);
    expect(life.state).toBe("failed");
    expect(counts(life)).toEqual(failure);
  });

  test("each attempt of its own", () => {
    const life = Life.working();
    life.fail();
    life.wait(minute).deliver();
    life.ack();
    life.complete();
    expect(counts(life)).toEqual({ n: 2, successes: 1 });
  });
});

describe("never counts", () => {
  test.each<[string, Lived]>([
    ["rejected", (life) => life.reject()],
    ["rejected by the last one who could", (life) => life.reject({}, { others: 0 })],
    ["released", (life) => life.release()],
    ["canceled while it worked", (life) => life.cancel()],
    [
      "completed after the cancel",
      (life) => {
        life.cancel();
        life.complete();
      },
    ],
    ["parked with a question", (life) => life.ask({ park: true })],
    [
      "a parked question that nobody answered",
      (life) => {
        life.ask({ park: true });
        life.pass(minute);
      },
    ],
    [
      "a deadline that passed while it waited for an answer",
      (life) => {
        life.ask({ answer_ms: null });
        for (; life.state === "waiting"; life.keepBeating(10 * second));
      },
    ],
    [
      "the holder lost or gone while it waited: events do not tell which",
      (life) => {
        life.ask();
        life.pass(31 * second);
      },
    ],
    ["input that its own check found unfit", (life) => life.fail({ error: inputUnfit, retryable: false })],
    ["… also where it is to be tried again", (life) => life.fail({ error: inputUnfit })],
  ])("%s", (_, live) => {
    const life = Life.working();
    live(life);
    expect(counts(life)).toEqual(nothing);
  });

  test("an expiry in the queue, and a cancel there", () => {
    const expired = Life.of();
    expired.pass(15 * minute);
    expect(expired.state).toBe("expired");
    const canceled = Life.of();
    canceled.cancel();
    expect([counts(expired), counts(canceled)]).toEqual([nothing, nothing]);
  });

  test("a deadline that passed before the ack was due", () => {
    const life = Life.delivered({ terms: { deadline_ms: 5 * second } });
    life.pass(5 * second);
    expect(life.state).toBe("expired");
    expect(counts(life)).toEqual(nothing);
  });

  test("an exclusion by a new manifest", () => {
    const life = Life.of();
    life.exclude("bob", { others: 0 });
    expect(life.state).toBe("rejected");
    expect(counts(life)).toEqual(nothing);
  });

  test.each<[string, Life, number]>([
    ["a delivery", Life.delivered(), 30 * second],
    ["a lease", Life.working(), 30 * second],
    ["an attempt's time", Life.working({ terms: { attempt_ms: minute, lease_ms: 10 * minute } }), 11 * minute],
    ["a deadline", Life.working({ terms: { deadline_ms: minute } }), minute],
  ])("%s that ran out although the relay was away since it was delivered", (_, life, ms) => {
    resumed(life.wait(5 * second)).pass(ms);
    expect(life.events.at(-1)?.type).toMatch(/requeued|expired/);
    expect(counts(life)).toEqual(nothing);
  });

  describe("a clock of the sender's that is shorter than what the agent promised, or than the default", () => {
    test.each<[string, Life, number]>([
      ["the ack", Life.delivered({ terms: { ack_ms: 9_999 } }), 10 * second],
      ["the lease", Life.working({ terms: { lease_ms: 1 } }), 1],
      ["the lease, after the last attempt", Life.working({ terms: { lease_ms: 1, max_attempts: 1 } }), 1],
      ["the attempt", Life.working({ terms: { attempt_ms: 29 * second } }), 29 * second],
      ["the deadline", Life.working({ terms: { deadline_ms: minute } }), minute],
    ])("%s", (_, life, ms) => {
      life.pass(ms);
      expect(life.events.at(-1)).toMatchObject({
        type: expect.stringMatching(/requeued|expired|failed/),
        excuse: "hurried",
      });
      expect(counts(life)).toEqual(nothing);
    });

    test("though not where the agent itself promised no more", () => {
      const life = Life.of({ terms: { attempt_ms: 20 * second } });
      life.deliver({ attempt_ms: 20 * second });
      life.ack();
      life.keepBeating(20 * second).tick();
      expect(counts(life)).toEqual(failure);
    });

    test("a deadline of which the queue took all but a moment", () => {
      const life = Life.of();
      life.wait(15 * minute - second).deliver({ attempt_ms: 2 * second });
      life.ack();
      life.pass(second);
      expect(life.state).toBe("expired");
      expect(counts(life)).toEqual(nothing);
    });

    test("an attempt of which another agent had left but a moment", () => {
      const life = Life.of();
      life.deliver({ agent: "carol" });
      life.ack();
      life.keepBeating(5 * minute - second).ask({ park: true });
      life.answer();
      life.wait(minute).deliver({ agent: "bob" });
      life.ack();
      life.pass(second);
      expect(life.events.at(-1)).toMatchObject({ type: "requeued", why: "attempt_timeout" });
      expect(counts(life)).toEqual(nothing);
    });
  });

  const beyond = (life: Life, content: string) => life.complete({ fault: unfit, content, beyond_offer: true });

  test("output that is what the agent offers, and not what the sender expects", () => {
    const life = Life.working();
    for (const content of ["1", "2", "3", "4"]) beyond(life, content);
    expect(life.ended.outcome.code).toBe(502);
    expect(life.events.at(-1)).toMatchObject({ excuse: "beyond_offer" });
    expect(counts(life)).toEqual(nothing);
  });

  test("… also where the agent says so itself, but not what else it fails at, nor output that is not what it offers", () => {
    const says = (error: typeof unfit, retryable: boolean) => {
      const life = Life.working();
      beyond(life, "1");
      life.fail({ error, retryable });
      return counts(life);
    };
    expect([says(unfit, true), says(unfit, false)]).toEqual([nothing, nothing]);
    expect(says({ reason: "trouble", message: "it went wrong" }, true)).toEqual(failure);
    const life = Life.working();
    beyond(life, "1");
    life.complete({ fault: unfit, content: "2" });
    life.fail({ error: unfit });
    expect(counts(life)).toEqual(failure);
  });

  test("what an agent handed to itself, done well or not", () => {
    const completed = Life.completed({ from: "bob" });
    const failed = Life.failed({ from: "bob" });
    expect([counts(completed), counts(failed)]).toEqual([nothing, nothing]);
  });

  test("a handoff that names no capability", () => {
    const life = Life.working({ to: "bob" });
    life.complete();
    const reliability = measureLives(life);
    expect(reliability.pairs.size).toBe(0);
  });
});
