import { describe, expect, it } from "vitest";
import { waitOf } from "./askers-delay.ts";
import { any_capability, type Price, type UnderContract } from "./handoff.ts";
import { coreLimits } from "./limits.ts";
import { Life, operator, stranger } from "./testing/life.ts";
import { context, type DraftPatch, digestOf, draft, start } from "./testing/sample.ts";

const price: Price = { amount: 100, per: "handoff" };

function under(patch: Partial<UnderContract> = {}, more: DraftPatch = {}): DraftPatch {
  return { to: "bob", contract: { id: "c1", price: null, in_full: true, ...patch }, ...more };
}

/** What the last event says of the contract. */
function verdict(life: Life) {
  const last = life.events.at(-1);
  return last !== undefined && "contract" in last ? last.contract : undefined;
}

const used = (cost: number, tokens = 0) => ({ usage: { cost, tokens } });

describe("a handoff under a contract", () => {
  it("says so when it is accepted, and nothing at all where there is none", () => {
    expect(Life.of(under()).events[0]).toMatchObject({ type: "accepted", contract: "c1" });
    const without = Life.completed();
    expect(without.events.filter((event) => "contract" in event)).toEqual([]);
  });

  it("is refused for the reason that its contract gives, with what belongs to it", () => {
    const refusal = { code: 428, reason: "contract_stale", message: "it changed", extra: { changed: [1] } };
    const decision = new Life().submit(under(), { target: { kind: "out_of_contract", refusal } });
    expect([decision.refusal, decision.next]).toEqual([refusal, null]);
  });

  it("is answered as the first time when it is sent again after the contract has ended", () => {
    const refusal = { code: 428, reason: "contract_ended", message: "it ended" };
    const known = { id: draft().id, content: digestOf("content") };
    expect(new Life().submit(under(), { known, target: { kind: "out_of_contract", refusal } }).refusal).toBeNull();
  });
});

describe("its end", () => {
  it("keeps the contract when it completes in time", () => {
    expect(verdict(Life.completed(under()))).toEqual({ id: "c1", verdict: "fulfilled", why: null });
  });

  it.each<[string, string, (life: Life) => void]>([
    ["fails", "failed", (life) => life.fail({ retryable: false })],
    ["is rejected", "rejected", (life) => life.reject({}, { others: 0 })],
    ["misses its deadline", "late", (life) => life.keepBeating(15 * 60_000).tick()],
  ])("breaks it when the work %s", (_, why, ending) => {
    const life = Life.working(under({}, { terms: { attempt_ms: 60 * 60_000 } }));
    ending(life);
    expect(verdict(life)).toEqual({ id: "c1", verdict: "breach", why });
  });

  it("breaks it when nobody takes it until the queue clock runs out", () => {
    const life = Life.of(under());
    life.pass(15 * 60_000);
    expect(verdict(life)).toEqual({ id: "c1", verdict: "breach", why: "late" });
  });

  it("breaks it when the output never fits", () => {
    const life = Life.working(under());
    const fault = { reason: "output_unfit", message: "no" };
    for (let time = 0; time <= coreLimits.max_unfit_outputs; time++) {
      life.complete({ fault, content: digestOf(`output ${time}`) });
    }
    expect(verdict(life)).toEqual({ id: "c1", verdict: "breach", why: "output_unfit" });
  });

  it("says nothing of it when it is canceled, whoever does that", () => {
    const life = Life.working(under());
    life.cancel({ actor: operator });
    expect(verdict(life)).toEqual({ id: "c1", verdict: "uncounted", why: "canceled" });
  });

  it("does not hold a clock against the provider that was shorter than agreed on", () => {
    const asked = Life.of(under({ in_full: false }));
    asked.pass(15 * 60_000);
    expect(verdict(asked)).toMatchObject({ verdict: "uncounted", why: "less_time" });
    // Cut short by what is left to its parent.
    const parent = Life.working({ terms: { deadline_ms: 60_000 } }).handoff;
    const command = {
      type: "submit",
      draft: draft(under({}, { from: "bob", causation: { id: parent.accepted.id, fence: parent.fence } })),
      queue_if_absent: false,
    } as const;
    const child = new Life();
    child.do(command, { parent });
    child.pass(60_000);
    expect(verdict(child)).toMatchObject({ verdict: "uncounted", why: "less_time" });
  });

  it("counts a failure all the same where less time was asked for", () => {
    expect(verdict(Life.failed(under({ in_full: false })))).toMatchObject({ verdict: "breach", why: "failed" });
  });

  it("says nothing of it when the agent found the input at fault", () => {
    const life = Life.working(under());
    life.fail({ retryable: false, error: { reason: "input_unfit", message: "there is no such city" } });
    expect(verdict(life)).toEqual({ id: "c1", verdict: "uncounted", why: "input_unfit" });
  });

  it("breaks it when the agent calls unfit what fits all that it said of its input", () => {
    const life = Life.working(under({ input_fits: true }));
    life.fail({ retryable: false, error: { reason: "input_unfit", message: "not today" } });
    expect(verdict(life)).toEqual({ id: "c1", verdict: "breach", why: "failed" });
  });

  it("does not hold a failure against the provider that had fewer attempts than agreed on", () => {
    const life = Life.failed(under({ in_full: false, fewer_attempts: true }, { terms: { max_attempts: 1 } }));
    expect(verdict(life)).toEqual({ id: "c1", verdict: "uncounted", why: "fewer_attempts" });
  });

  describe("after questions", () => {
    const quarter = (15 * 60_000) / 4;
    const long = under({}, { terms: { attempt_ms: 60 * 60_000 } });
    /** Until its deadline, which is 15 minutes after it was accepted. */
    const toTheEnd = (life: Life) => life.keepBeating(start + 15 * 60_000 - life.now).tick();

    it("does not hold silence against the provider that lasts for a quarter of the agreed time", () => {
      const life = Life.working(long);
      life.keepBeating(3 * quarter).ask({ answer_ms: null });
      toTheEnd(life);
      expect(verdict(life)).toEqual({ id: "c1", verdict: "uncounted", why: "asker_silent" });
    });

    it("holds it against the provider that it asked only in the last quarter, be it by a moment", () => {
      const life = Life.working(long);
      life.keepBeating(3 * quarter + 1).ask({ answer_ms: null });
      toTheEnd(life);
      expect(verdict(life)).toEqual({ id: "c1", verdict: "breach", why: "late" });
    });

    it("does not hold against the provider what an answer just before the deadline left no time for", () => {
      const life = Life.working(long);
      life.keepBeating(1_000).ask({ answer_ms: null });
      life.keepBeating(15 * 60_000 - 2_000).answer();
      toTheEnd(life);
      expect([life.ended.outcome.code, verdict(life)]).toMatchObject([408, { why: "asker_silent" }]);
    });

    it("adds up what several answers took", () => {
      const ends = [quarter / 2, quarter / 2 - 1].map((each) => {
        const life = Life.working(long);
        for (const question of ["one", "two"]) {
          life.ask({ question, answer_ms: null });
          life.keepBeating(each).answer({ question });
        }
        toTheEnd(life);
        return verdict(life);
      });
      expect(ends).toMatchObject([{ why: "asker_silent" }, { why: "late" }]);
    });

    it("breaks it when the provider parks and gives next to no time to answer", () => {
      const given = [1, quarter - 1, quarter].map((answer_ms) => {
        const life = Life.working(long);
        life.ask({ answer_ms, park: true });
        life.pass(answer_ms);
        expect(life.state).toBe("failed");
        return verdict(life);
      });
      expect(given).toMatchObject([{ why: "late" }, { why: "late" }, { why: "asker_silent" }]);
    });

    describe("which the asker tried to answer", () => {
      const unfit = { fault: { reason: "answer_unfit", message: "the whole value: must be at most 4" } };

      it("is nobody's fault: whether the question or the answer was at fault cannot be told", () => {
        const life = Life.working(long);
        life.ask({ answer_ms: null });
        const { refusal } = life.keepBeating(1_000).answer(unfit);
        expect([refusal?.code, refusal?.reason, life.state]).toEqual([422, "answer_unfit", "waiting"]);
        toTheEnd(life);
        expect(verdict(life)).toEqual({ id: "c1", verdict: "uncounted", why: "answer_refused" });
      });

      it("is the asker's delay where it had been silent for a quarter before", () => {
        const life = Life.working(long);
        life.ask({ answer_ms: null });
        life.keepBeating(quarter).answer(unfit);
        life.keepBeating(1_000).answer(unfit);
        toTheEnd(life);
        expect(verdict(life)).toMatchObject({ verdict: "uncounted", why: "asker_silent" });
      });

      it("breaks it where all of that was less than a quarter", () => {
        const life = Life.working(long);
        life.keepBeating(3 * quarter + 1).ask({ answer_ms: null });
        life.answer(unfit);
        toTheEnd(life);
        expect(verdict(life)).toMatchObject({ verdict: "breach", why: "late" });
      });

      it("is written once, and only of the asker's own tries", () => {
        const life = Life.working(long);
        life.ask({ answer_ms: null });
        expect(life.answer({ ...unfit, actor: operator })).toMatchObject({ next: null, refusal: { code: 422 } });
        expect(life.answer({ ...unfit, actor: stranger })).toMatchObject({ next: null, refusal: { code: 403 } });
        expect(life.answer(unfit).durable).toBe(true);
        expect(life.wait(1).answer(unfit)).toMatchObject({ next: null, refusal: { code: 422 } });
        expect(life.answer().refusal).toBeNull();
        expect(life.state).toBe("working");
        const without = Life.working();
        without.ask({ answer_ms: null });
        expect(without.answer(unfit)).toMatchObject({ next: null, refusal: { code: 422 } });
      });
    });

    it("breaks it when what is asked is beyond the questions that the provider agreed to ask", () => {
      const life = Life.working(long);
      life.ask({ answer_ms: null, beyond_agreed: true });
      toTheEnd(life);
      expect(verdict(life)).toEqual({ id: "c1", verdict: "breach", why: "late" });
    });

    it("breaks it when whom the provider asked besides the asker does not answer", () => {
      const life = Life.working(long);
      life.ask({ to: "desk", answer_ms: null });
      toTheEnd(life);
      expect(verdict(life)).toMatchObject({ verdict: "breach", why: "late" });
    });

    it("breaks it when the worker is lost for good while it waits", () => {
      const life = Life.working(under({}, { terms: { retry: "until_ack" } }));
      life.ask({ answer_ms: null });
      life.pass(10 * 60_000);
      expect([life.ended.outcome.code, verdict(life)]).toMatchObject([521, { verdict: "breach", why: "late" }]);
    });
  });

  describe("beside other work of the same asker", () => {
    const minute = 60_000;
    /** Two at a time for 15 minutes, of which half must have been spent on the asker: 15 minutes in all. */
    const crowded = under({ max_concurrent: 2 }, { terms: { attempt_ms: 5 * minute } });
    const lateAfter = (asker_work: number | null, life = Life.of(crowded), after_ms = 15 * minute) => {
      life.context = context({ asker_work });
      life.wait(start + after_ms - life.now).tick();
      return verdict(life);
    };

    it("does not hold it against the provider whose slots the asker's work filled for half of the time", () => {
      expect(lateAfter(15 * minute)).toEqual({ id: "c1", verdict: "uncounted", why: "crowded" });
    });

    it("breaks it when they were filled for less, and the provider idled or worked for others", () => {
      expect(lateAfter(15 * minute - 1)).toEqual({ id: "c1", verdict: "breach", why: "late" });
      expect(lateAfter(0)).toMatchObject({ verdict: "breach" });
    });

    it("looks at no longer than it waited, however short the queue clock", () => {
      const short = () =>
        Life.of(under({ max_concurrent: 2 }, { terms: { attempt_ms: 5 * minute, queue_ms: minute } }));
      expect(lateAfter(minute, short(), minute)).toMatchObject({ why: "crowded" });
      expect(lateAfter(minute - 1, short(), minute)).toMatchObject({ why: "late" });
    });

    it("looks only at the time since its lane let it through", () => {
      const late = (asker_work: number) => {
        const life = Life.of(under({ max_concurrent: 2 }, { ordering_key: "k", terms: { attempt_ms: minute } }), {
          lane_busy: true,
        });
        life.wait(3 * minute).do({ type: "unblock" });
        expect(waitOf(life.handoff, start + 60 * minute)).toEqual({
          from: start + 3 * minute,
          until: start + 15 * minute,
        });
        return lateAfter(asker_work, life);
      };
      expect(late(12 * minute)).toMatchObject({ why: "crowded" });
      expect(late(12 * minute - 1)).toMatchObject({ why: "late" });
    });

    it("breaks it however much there was, where the provider set no limit", () => {
      expect(lateAfter(1_000 * minute, Life.of(under()))).toMatchObject({ verdict: "breach", why: "late" });
    });

    it("says nothing of it where the relay does not know any more", () => {
      expect(lateAfter(null)).toEqual({ id: "c1", verdict: "uncounted", why: "relay_away" });
    });

    it("does not hold it against the provider that got to it too late to finish", () => {
      const life = Life.of(crowded);
      life.wait(11 * minute).deliver();
      life.ack();
      life.keepBeating(4 * minute - 1);
      expect(waitOf(life.handoff, life.now)).toEqual({ from: start, until: start + 11 * minute });
      expect(lateAfter(11 * minute, life)).toMatchObject({ why: "crowded" });
    });

    it.each<[string, (life: Life) => void]>([
      [
        "got to it in time to finish",
        (life) => {
          life.wait(9 * minute).deliver();
          life.ack();
          life.keepBeating(2 * minute).ask({ to: "desk", answer_ms: null });
          life.keepBeating(4 * minute - 1);
        },
      ],
      [
        "had it in hand before and gave it back",
        (life) => {
          life.deliver();
          life.release();
        },
      ],
      [
        "failed at it before",
        (life) => {
          life.deliver();
          life.fail();
        },
      ],
    ])("breaks it when the provider %s, whatever else it did", (_, before) => {
      const life = Life.of(crowded);
      before(life);
      expect(lateAfter(1_000 * minute, life)).toMatchObject({ verdict: "breach", why: "late" });
    });

    it("breaks it when a handoff with as little time as one attempt hung in hand from the first", () => {
      const life = Life.of(
        under({ max_concurrent: 2 }, { terms: { deadline_ms: 4 * minute, attempt_ms: 5 * minute } }),
      );
      life.wait(5).deliver();
      life.ack();
      life.context = context({ asker_work: 1_000 * minute });
      life.keepBeating(4 * minute).tick();
      expect(verdict(life)).toMatchObject({ verdict: "breach", why: "late" });
    });
  });

  describe("behind earlier work of its asker in the same order", () => {
    const minute = 60_000;
    const ordered = (more: DraftPatch = {}, patch: Partial<UnderContract> = {}) =>
      under(patch, { ordering_key: "k", terms: { attempt_ms: 5 * minute }, ...more });
    /** Behind another for so long; then it is let through, given out at once and in hand until its deadline. */
    const lateAfter = (blocked_ms: number, more: DraftPatch = {}) => {
      const life = Life.of(ordered(more), { lane_busy: true });
      life.wait(blocked_ms).do({ type: "unblock" });
      life.deliver();
      life.ack();
      // What keeps it from being finished is nobody's silence: whoever is asked is not the asker.
      life.ask({ to: "desk", answer_ms: null });
      life.keepBeating(start + 15 * minute - life.now).tick();
      expect(life.ended.outcome.code).toBe(408);
      return verdict(life);
    };

    it("is not held against the provider where it was so to the last", () => {
      const life = Life.of(ordered(), { lane_busy: true });
      life.pass(15 * minute);
      expect(verdict(life)).toMatchObject({ verdict: "uncounted", why: "blocked" });
    });

    it("is not held against the provider where that took a quarter of the agreed time", () => {
      const quarter = (15 * minute) / 4;
      expect(lateAfter(quarter)).toEqual({ id: "c1", verdict: "uncounted", why: "blocked" });
      expect(lateAfter(14 * minute)).toMatchObject({ why: "blocked" });
      expect(lateAfter(quarter - 1)).toEqual({ id: "c1", verdict: "breach", why: "late" });
    });

    it("is not held against the provider that was left less than one attempt takes", () => {
      const terms = { attempt_ms: 14 * minute };
      expect(lateAfter(minute + 1, { terms })).toMatchObject({ why: "blocked" });
      expect(lateAfter(minute, { terms })).toMatchObject({ verdict: "breach", why: "late" });
    });

    it("adds up with what the asker's answers took", () => {
      const eighth = (15 * minute) / 8;
      const ends = [eighth, eighth - 1].map((silent_ms) => {
        const life = Life.of(ordered(), { lane_busy: true });
        life.wait(eighth).do({ type: "unblock" });
        life.deliver();
        life.ack();
        life.ask({ answer_ms: null });
        life.keepBeating(silent_ms).answer();
        life.ask({ question: "question-2", to: "desk", answer_ms: null });
        life.keepBeating(start + 15 * minute - life.now).tick();
        return verdict(life);
      });
      expect(ends).toMatchObject([{ why: "blocked" }, { why: "late" }]);
    });

    it("breaks it all the same when nobody takes it for the whole queue clock, which began afterwards", () => {
      const life = Life.of(ordered({ terms: { queue_ms: 2 * minute } }), { lane_busy: true });
      life.wait(10 * minute).do({ type: "unblock" });
      life.pass(2 * minute);
      expect([life.ended.outcome.code, verdict(life)]).toMatchObject([503, { verdict: "breach", why: "late" }]);
    });
  });

  it("does not hold the relay's own absence against the provider", () => {
    const life = Life.of(under());
    const away = 60 * 60_000;
    life.context = context({ resumed_at: start + away });
    life.pass(away + 1_000);
    expect(verdict(life)).toMatchObject({ verdict: "uncounted", why: "relay_away" });
  });
});

describe("an agreed price", () => {
  it("is all that is charged, here and to every budget above, and more is a breach", () => {
    const root = Life.working({ budget: { cost: 1_000, tokens: null, handoffs: null } });
    const child = Life.of(under({ price }), { budgets: [root.handoff] });
    child.deliver();
    const { follow } = child.complete(used(130, 7));
    expect(child.handoff.spent).toEqual({ cost: 100, tokens: 7, handoffs: 0 });
    expect(follow).toContainEqual(
      expect.objectContaining({
        command: { type: "charge", usage: { cost: 100, tokens: 7 }, handoffs: 0, capability: any_capability },
      }),
    );
    expect(verdict(child)).toEqual({ id: "c1", verdict: "breach", why: "cost_above_price" });
    expect(child.ended.outcome.usage).toEqual({ cost: 130, tokens: 7 });
  });

  it("covers all attempts together", () => {
    const life = Life.working(under({ price }));
    life.fail(used(60));
    life.wait(60_000);
    life.deliver();
    life.complete(used(60));
    expect(life.handoff.spent.cost).toBe(100);
    expect(verdict(life)).toMatchObject({ verdict: "breach", why: "cost_above_price" });
  });

  it("by the thousand tokens grows with the tokens that are reported", () => {
    const life = Life.working(under({ price: { amount: 100, per: "thousand_tokens" } }));
    life.complete(used(151, 1_501));
    expect([life.handoff.spent.cost, verdict(life)]).toMatchObject([151, { verdict: "fulfilled" }]);
    const more = Life.working(under({ price: { amount: 100, per: "thousand_tokens" } }));
    more.complete(used(152, 1_501));
    expect([more.handoff.spent.cost, verdict(more)]).toMatchObject([151, { why: "cost_above_price" }]);
  });

  it("that was kept leaves the contract fulfilled", () => {
    const life = Life.working(under({ price }));
    life.complete(used(100));
    expect([life.handoff.spent.cost, verdict(life)]).toMatchObject([100, { verdict: "fulfilled" }]);
  });

  it("caps what comes late too", () => {
    const life = Life.working(under({ price }));
    life.cancel();
    life.complete(used(500));
    expect(life.handoff.spent.cost).toBe(100);
  });
});
