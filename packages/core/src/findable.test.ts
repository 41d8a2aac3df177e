import { describe, expect, it } from "vitest";
import { findable } from "./findable.ts";
import { coreLimits } from "./limits.ts";
import { Life } from "./testing/life.ts";
import { start } from "./testing/sample.ts";

const find = (life: Life) => findable(life.handoff, life.context, life.now);

describe("findable", () => {
  it("ranks by accept time less a bonus for priority, so that nothing starves", () => {
    const urgent = find(Life.of({ priority: 9 })).rank;
    expect(urgent).toBe(start - 9 * coreLimits.priority_bonus_ms);
    expect(find(Life.of()).rank).toBe(start);
    const waited = new Life().wait(-9 * coreLimits.priority_bonus_ms - 1);
    waited.submit();
    expect(find(waited).rank).toBeLessThan(urgent);
  });

  it("keeps its rank through retries", () => {
    const life = Life.working();
    life.fail();
    expect(find(life).rank).toBe(start);
  });

  it("is in a queue only while it can be taken now", () => {
    const life = Life.of();
    expect(find(life).queue).toBe("capability:summarize");
    life.deliver();
    expect(find(life).queue).toBeNull();
    life.fail();
    expect(find(life).queue).toBeNull();
    expect(find(life.wait(750)).queue).toBe("capability:summarize");
    expect(find(Life.of({ ordering_key: "k" }, { lane_busy: true })).queue).toBeNull();
    expect(find(Life.of({ to: "bob" })).queue).toBe("agent:bob");
  });

  it("is in its lane until it has ended", () => {
    const life = Life.working({ ordering_key: "k" });
    expect(find(life).lane).toBe('["alice",null,"summarize","k"]');
    life.complete();
    expect(find(life).lane).toBeNull();
  });

  it("has a holder while a lease lives, and remembers who had it last", () => {
    const life = Life.working();
    expect(find(life)).toMatchObject({ holder: { agent: "bob", worker: "bob-1" }, last_agent: "bob" });
    life.release();
    expect(find(life)).toMatchObject({ holder: null, last_agent: "bob" });
  });

  it("is untaken from its end until it is taken", () => {
    const life = Life.completed();
    expect(find(life)).toMatchObject({ open: false, untaken: true, dead_letter: null });
    life.take();
    expect(find(life).untaken).toBe(false);
    expect(find(Life.failed())).toMatchObject({ dead_letter: "open" });
  });

  it("says to whom its open question goes", () => {
    const life = Life.working();
    expect(find(life).question_to).toBeNull();
    life.ask();
    expect(find(life).question_to).toBe("");
    life.answer();
    life.ask({ question: "question-2", to: "human_desk" });
    expect(find(life).question_to).toBe("human_desk");
  });
});
