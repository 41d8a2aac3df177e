import { describe, expect, it } from "vitest";
import { laneOf } from "./handoff.ts";
import { coreLimits } from "./limits.ts";
import { Life, operator, relay, sender, stranger } from "./testing/life.ts";
import { idOf, start } from "./testing/sample.ts";

describe("cancel", () => {
  it("ends an open handoff and says by whom", () => {
    const life = Life.working();
    const { events, keep } = life.cancel();
    expect(events).toMatchObject([{ type: "canceled", code: 410, by: "alice", agent: "bob", fence: 1 }]);
    expect(life.ended).toMatchObject({ state: "canceled", outcome: { code: 410 }, dead_letter: null });
    expect(keep).toBe(0);
  });

  it("after an end changes nothing: that outcome stands", () => {
    const life = Life.completed();
    expect(life.cancel()).toMatchObject({ next: null, events: [], refusal: null });
    expect(life.state).toBe("completed");
  });

  it("is for the sender, an operator and the relay only", () => {
    const life = Life.working();
    expect(life.cancel({ actor: stranger }).refusal).toMatchObject({ code: 403, reason: "not_yours" });
    expect(life.cancel({ actor: { kind: "agent", agent: "bob" } }).refusal).toMatchObject({ code: 403 });
    expect(Life.working().cancel({ actor: operator }).events).toMatchObject([{ by: "operator:olga" }]);
    expect(Life.working().cancel({ actor: relay }).events).toMatchObject([{ by: "relay" }]);
  });
});

describe("take", () => {
  it("confirms the outcome, once", () => {
    const life = Life.completed();
    expect(life.take().events).toMatchObject([{ type: "taken", by: "alice" }]);
    expect(life.ended.taken_at).toBe(start);
    expect(life.wait(5_000).take()).toMatchObject({ next: null, events: [], refusal: null });
    expect(life.ended.taken_at).toBe(start);
  });

  it("before the end is 409", () => {
    expect(Life.working().take().refusal).toMatchObject({ code: 409, reason: "not_ended" });
  });

  it("by another agent is 403", () => {
    expect(Life.completed().take(stranger).refusal).toMatchObject({ code: 403 });
  });
});

describe("a dead letter", () => {
  it("is redriven once: the second redrive finds the first one's id", () => {
    const life = Life.failed();
    expect(life.redrive(idOf(7)).events).toMatchObject([{ type: "redriven", to: idOf(7), by: "operator:olga" }]);
    expect(life.redrive(idOf(8))).toMatchObject({ next: null, refusal: null });
    expect(life.ended.dead_letter).toMatchObject({ status: "redriven", id: idOf(7) });
  });

  it("may be redriven or discarded by its sender, not by others", () => {
    expect(Life.failed().redrive(idOf(7), sender).refusal).toBeNull();
    expect(Life.failed().redrive(idOf(7), stranger).refusal).toMatchObject({ code: 403 });
    expect(Life.failed().discard(stranger).refusal).toMatchObject({ code: 403 });
  });

  it("is discarded once, and not redriven afterwards", () => {
    const life = Life.failed();
    expect(life.discard().events).toMatchObject([{ type: "discarded" }]);
    expect(life.discard()).toMatchObject({ next: null, refusal: null });
    expect(life.redrive(idOf(7)).refusal).toMatchObject({ code: 409, reason: "discarded" });
  });

  it("that was redriven is not discarded", () => {
    const life = Life.failed();
    life.redrive(idOf(7));
    expect(life.discard().refusal).toMatchObject({ code: 409, reason: "redriven" });
  });

  it("is what failed, was rejected or expired; completed and canceled are none", () => {
    const canceled = Life.working();
    canceled.cancel();
    for (const life of [Life.completed(), canceled, Life.working()]) {
      expect(life.redrive(idOf(7)).refusal).toMatchObject({ code: 409, reason: "not_dead" });
      expect(life.discard().refusal).toMatchObject({ code: 409, reason: "not_dead" });
    }
  });

  it("is routed, once, to the capability its sender named", () => {
    const life = Life.failed({ dead_letter_to: "human_desk" });
    expect(life.ended.chores.route).toBe(true);
    const routed = { type: "routed", id: idOf(7) } as const;
    expect(life.do(routed).events).toMatchObject([{ type: "routed", to: idOf(7) }]);
    expect(life.ended.chores.route).toBe(false);
    expect(life.do(routed)).toMatchObject({ next: null, events: [] });
  });

  it("alone is routed: a completed handoff is not", () => {
    expect(Life.completed({ dead_letter_to: "human_desk" }).ended.chores.route).toBe(false);
  });
});

describe("children", () => {
  it("are left to cancel when the parent ends, until the relay has swept them", () => {
    const life = Life.working();
    life.do({ type: "adopt" });
    life.complete();
    expect(life.ended.chores.children).toBe(true);
    life.do({ type: "swept" });
    expect(life.ended.chores.children).toBe(false);
    expect(life.do({ type: "swept" })).toMatchObject({ next: null });
  });

  it("that arrive while the parent ends are swept, too", () => {
    const life = Life.completed();
    life.do({ type: "adopt" });
    expect(life.ended.chores.children).toBe(true);
  });
});

describe("any end", () => {
  it.each<[string, (life: Life) => unknown]>([
    ["completed", (life) => life.complete()],
    ["failed", (life) => life.fail({ retryable: false })],
    ["rejected", (life) => life.reject({}, { others: 0 })],
    ["canceled", (life) => life.cancel()],
    ["expired", (life) => life.pass(900_000)],
  ])("frees the next of the lane: %s", (state, finish) => {
    const life = Life.working({ ordering_key: "k" });
    finish(life);
    expect(life.state).toBe(state);
    const lane = laneOf(life.handoff.accepted);
    expect(life.steps.at(-1)?.decision.follow).toEqual([{ kind: "free_lane", lane }]);
  });

  it("of a blocked handoff frees the lane as well: nobody else would", () => {
    const life = Life.of({ ordering_key: "k" }, { lane_busy: true });
    expect(life.cancel().follow).toMatchObject([{ kind: "free_lane" }]);
  });
});

describe("retention", () => {
  it("keeps an untaken outcome for its age and then says that it went", () => {
    const life = Life.completed();
    expect(life.pass(coreLimits.keep_untaken_ms - 1).purge).toBe(false);
    const { purge, events } = life.pass(1);
    expect(purge).toBe(true);
    expect(events).toMatchObject([{ type: "purged", digest: life.handoff.accepted.digest }]);
  });

  it("keeps a taken one for a shorter time, counted from the take", () => {
    const life = Life.completed().wait(10 * 86_400_000);
    life.take();
    expect(life.pass(coreLimits.keep_taken_ms - 1).purge).toBe(false);
    expect(life.pass(1).purge).toBe(true);
  });

  it("keeps an open dead letter for its age, also when its outcome was taken", () => {
    const life = Life.failed();
    life.take();
    expect(life.pass(coreLimits.keep_untaken_ms - 1).purge).toBe(false);
    expect(life.pass(1).purge).toBe(true);
  });

  it("never drops an open handoff, nor one with a chore left", () => {
    const life = Life.working();
    life.do({ type: "adopt" });
    life.complete();
    expect(life.pass(2 * coreLimits.keep_untaken_ms).purge).toBe(false);
  });
});

describe("an unknown handoff", () => {
  it("is 404 for every command", () => {
    expect(new Life().tick()).toMatchObject({ next: null, refusal: { code: 404, reason: "unknown_handoff" } });
  });
});
