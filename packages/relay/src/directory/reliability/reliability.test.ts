import { idOf, start } from "@handfast/core/testing";
import { describe, expect, test } from "vitest";
import { Life } from "../../../../core/src/testing/life.ts";
import { capability, measureLives, newReliability, tell } from "./testing/measure.ts";

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;

describe("what was measured", () => {
  test("a claim of 0.95 is verified after 73 successes, and unproven before", () => {
    const reliability = newReliability();
    for (let done = 0; done < 72; done += 1) tell(reliability, "completed");
    expect(reliability.of("bob", capability, start, 0.95)).toMatchObject({ n: 72, status: "unproven" });
    tell(reliability, "completed");
    expect(reliability.of("bob", capability, start, 0.95)).toMatchObject({ n: 73, upper: 1, status: "verified" });
    expect(reliability.of("bob", capability, start)).toMatchObject({ status: "unclaimed" });
  });

  test("one failure in five breaches it", () => {
    const reliability = newReliability();
    for (let done = 0; done < 50; done += 1) tell(reliability, done % 5 === 0 ? "failed" : "completed");
    const measured = reliability.of("bob", capability, start, 0.95);
    expect(measured).toMatchObject({ n: 50, successes: 40, status: "breached" });
    expect(measured.upper).toBeLessThan(0.95);
  });

  test("of nobody nothing is known, and that is said", () => {
    expect(newReliability().of("bob", capability, start, 0.5)).toEqual({
      n: 0,
      successes: 0,
      lower: 0,
      upper: 1,
      p50_ms: null,
      p95_ms: null,
      since: null,
      last_at: null,
      window_ms: day,
      status: "unproven",
    });
  });

  test("what is not heard of any more becomes unproven again", () => {
    const reliability = newReliability();
    for (let done = 0; done < 100; done += 1) tell(reliability, "completed");
    const statusAfter = (ms: number) => reliability.of("bob", capability, start + ms, 0.95).status;
    expect([0, day / 4, day].map(statusAfter)).toEqual(["verified", "verified", "unproven"]);
  });

  test("over a shorter window an agent that mended its ways is trusted sooner", () => {
    const reliability = newReliability();
    for (let done = 0; done < 200; done += 1) tell(reliability, "failed", { at: start });
    for (let done = 0; done < 200; done += 1) tell(reliability, "completed", { at: start + day / 2 });
    const over = (window_ms: number) => reliability.of("bob", capability, start + day / 2, 0.9, window_ms);
    expect([over(day / 24).status, over(day).status]).toEqual(["verified", "breached"]);
    expect(over(day / 20).window_ms).toBe(day / 24);
  });

  test("agents and capabilities are measured apart", () => {
    const reliability = newReliability();
    tell(reliability, "completed", { agent: "bob", capability: "a" });
    tell(reliability, "failed", { agent: "carol", capability: "a" });
    tell(reliability, "failed", { agent: "bob", capability: "b" });
    const successes = (agent: string, name: string) => reliability.of(agent, name, start).successes;
    expect([successes("bob", "a"), successes("carol", "a"), successes("bob", "b")]).toEqual([1, 0, 0]);
    expect(reliability.of("carol", "b", start).n).toBe(0);
  });

  test("latency goes from the ack to the end", () => {
    const life = Life.delivered();
    life.wait(5 * second).ack();
    life.wait(2 * second).complete();
    const { p50_ms, since, last_at } = measureLives(life).of("bob", capability, life.now);
    expect(Math.abs((p50_ms ?? 0) - 2 * second)).toBeLessThan(200);
    expect([since, last_at]).toEqual([life.now, life.now]);
  });

  test("… without the time it waited for an answer", () => {
    const life = Life.working();
    life.wait(2 * second).ask();
    life.keepBeating(50 * second).answer();
    life.wait(second).complete();
    const { p50_ms } = measureLives(life).of("bob", capability, life.now);
    expect(Math.abs((p50_ms ?? 0) - 3 * second)).toBeLessThan(300);
  });

  test("… and from the delivery, where the ack came only with the outcome", () => {
    const life = Life.delivered();
    life.wait(4 * second).complete();
    const { p50_ms } = measureLives(life).of("bob", capability, life.now);
    expect(Math.abs((p50_ms ?? 0) - 4 * second)).toBeLessThan(400);
  });

  test("the name of a forgotten agent does not bring its figures to the next one", () => {
    let known_since: number | undefined = start;
    const reliability = newReliability({}, () => known_since);
    tell(reliability, "failed", { at: start + 1 });
    known_since = undefined;
    tell(reliability, "failed", { at: start + 2 });
    expect(reliability.of("bob", capability, start + 2).n).toBe(0);
    known_since = start + 3;
    // What the old one still held ends under the new one's name.
    tell(reliability, "failed", { at: start + 4, took_ms: 3 });
    expect(reliability.of("bob", capability, start + 4).n).toBe(0);
    tell(reliability, "completed", { at: start + 5 });
    expect(reliability.of("bob", capability, start + 5)).toMatchObject({ n: 1, successes: 1, since: start + 5 });
  });

  test("so many pairs are kept and no more: the longest unheard of go first", () => {
    const reliability = newReliability({ reliability_pairs: 10 });
    for (let nth = 0; nth < 10; nth += 1) tell(reliability, "completed", { agent: `agent-${nth}` });
    tell(reliability, "completed", { agent: "agent-0" });
    for (let nth = 10; nth < 15; nth += 1) tell(reliability, "completed", { agent: `agent-${nth}` });
    const kept = Array.from({ length: 15 }, (_, nth) => nth).filter(
      (nth) => reliability.of(`agent-${nth}`, capability, start).n > 0,
    );
    expect(kept).toEqual([0, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
  });

  test("the busiest are those with the most attempts lately", () => {
    const reliability = newReliability({}, (agent) => (agent === "gone" ? undefined : 0));
    for (let done = 0; done < 9; done += 1) tell(reliability, "completed", { agent: "long-ago", at: start - 9 * day });
    for (let done = 0; done < 3; done += 1) tell(reliability, "completed", { agent: "busy" });
    tell(reliability, "failed", { agent: "idle" });
    const named = reliability.busiest(2, start).map(({ agent, measured }) => [agent, measured.n]);
    expect(named).toEqual([
      ["busy", 3],
      ["idle", 1],
    ]);
  });
});

describe("the standing for routing", () => {
  test("of one that nothing is known of", () => {
    expect(newReliability().standing("bob", capability, start, 1)).toEqual({
      latency_ms: null,
      in_flight: 0,
      n: 0,
      success: 0.5,
      failures_in_a_row: 0,
      ejected_until: null,
    });
  });

  test("counts what is in flight from its delivery to its end", () => {
    const parked = Life.working();
    parked.ask({ park: true });
    const done = Life.completed();
    const reliability = measureLives(Life.delivered({ id: idOf(3) }), Life.working({ id: idOf(4) }), done, parked);
    expect(reliability.standing("bob", capability, done.now, 1).in_flight).toBe(2);
    expect(reliability.standing("bob", "other", done.now, 1).in_flight).toBe(0);
  });

  test("expects success by what was seen, and reckons with the slowest of late", () => {
    const reliability = newReliability();
    for (let done = 0; done < 8; done += 1) tell(reliability, "completed", { took_ms: 100 });
    tell(reliability, "completed", { took_ms: 9_000 });
    tell(reliability, "failed");
    const { n, success, ...standing } = reliability.standing("bob", capability, start, 1);
    expect(standing).toMatchObject({ latency_ms: 9_000, failures_in_a_row: 1 });
    expect(n).toBeCloseTo(10);
    expect(success).toBeCloseTo(10 / 12);
    const later = reliability.standing("bob", capability, start + 20 * minute, 1);
    expect(Math.abs((later.latency_ms ?? 0) - 100)).toBeLessThan(12);
  });

  test("five failures in a row leave one of two out for half a minute, but never the only one", () => {
    const reliability = newReliability();
    for (let done = 0; done < 5; done += 1) tell(reliability, "failed");
    const until = (now: number, agents: number) => reliability.standing("bob", capability, now, agents).ejected_until;
    expect(until(start, 2)).toBe(start + 30 * second);
    expect(until(start, 1)).toBeNull();
    expect(until(start + 30 * second, 2)).toBeNull();
  });

  test("a tenth of the agents is left out at most: those that failed first", () => {
    const reliability = newReliability();
    const names = Array.from({ length: 20 }, (_, nth) => `agent-${nth}`);
    for (const [nth, agent] of names.entries()) {
      for (let done = 0; done < 5; done += 1) tell(reliability, "failed", { agent, at: start + nth });
    }
    const out = (now: number) =>
      names.filter((agent) => reliability.standing(agent, capability, now, 20).ejected_until !== null);
    expect(out(start + 100)).toEqual(["agent-0", "agent-1"]);
    // When their time is over, those after them are left out for what is left of theirs.
    expect(out(start + 30 * second + 1)).toEqual(["agent-2", "agent-3"]);
    expect(out(start + minute)).toEqual([]);
  });
});
