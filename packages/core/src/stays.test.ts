import { describe, expect, it } from "vitest";
import { findable } from "./findable.ts";
import { coreLimits } from "./limits.ts";
import { areAsking, stays } from "./stays.ts";
import { Life } from "./testing/life.ts";
import { start } from "./testing/sample.ts";

const { stays_ms } = coreLimits;

describe("who asks for work", () => {
  it("is whoever waits for it, however long ago another left", () => {
    expect(areAsking({ are_waiting: true, left_at: null }, start, coreLimits)).toBe(true);
    expect(areAsking({ are_waiting: true, left_at: start - 10 * stays_ms }, start, coreLimits)).toBe(true);
  });

  it("is, for a moment, whoever just left", () => {
    const left = { are_waiting: false, left_at: start };
    expect(areAsking(left, start + stays_ms - 1, coreLimits)).toBe(true);
    expect(areAsking(left, start + stays_ms, coreLimits)).toBe(false);
  });

  it("is nobody where nobody ever did", () => {
    expect(areAsking({ are_waiting: false, left_at: null }, start, coreLimits)).toBe(false);
  });
});

describe("work stays with the node it came to", () => {
  const judge = ({ handoff, context, now }: Life, is_new = true, asked = ["capability:summarize"]) =>
    stays(handoff, findable(handoff, context, now), is_new, (queue) => asked.includes(queue));

  it("where somebody asks for work of its queue", () => {
    expect(judge(Life.of())).toBe(true);
    expect(judge(Life.of(), true, ["capability:translate"])).toBe(false);
  });

  it("only while it is new", () => {
    expect(judge(Life.of(), false)).toBe(false);
  });

  it("unless it is more urgent than its time says", () => {
    expect(judge(Life.of({ priority: 1 }))).toBe(false);
    expect(judge(Life.of({ priority: -1 }))).toBe(true);
  });

  it("only where it can be taken now", () => {
    expect(judge(Life.of({ ordering_key: "k" }, { lane_busy: true }))).toBe(false);
  });
});
