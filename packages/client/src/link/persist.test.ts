import { describe, expect, test } from "vitest";
import { HandoffError, RelayUnreachable } from "../errors.ts";
import type { Surroundings } from "../surroundings.ts";
import { backoff, ComeBack, isPassing, NotReached, persist } from "./persist.ts";

/** A clock that jumps to whatever is waited for, and tells how long that was. */
function jumping(random = 0.5) {
  let now = 1_000_000;
  const waits: number[] = [];
  const surroundings: Surroundings = {
    now: () => now,
    after: (ms, run) => {
      waits.push(ms);
      now += ms;
      queueMicrotask(run);
      return () => {};
    },
    random: () => random,
    randomBytes: (count) => new Uint8Array(count),
  };
  return { surroundings, waits };
}

const url = "http://relay.example";
const refusal = (code: number, reason: string) => HandoffError.from({ code, reason, detail: reason, retryable: true });

describe("trying again", () => {
  test("goes on while the relay is not reached, with longer and longer pauses up to a bound", async () => {
    const { surroundings, waits } = jumping(0.999);
    let tries = 0;
    const answer = await persist({ url, surroundings, patience_ms: 60_000 }, async () => {
      tries += 1;
      if (tries < 12) throw new NotReached("away");
      return "here";
    });
    expect(answer).toBe("here");
    expect(waits.slice(0, 3).map((ms) => Math.round(ms / 100))).toEqual([2, 4, 8]);
    expect(Math.max(...waits)).toBeLessThanOrEqual(5_000);
  });

  test("ends with RelayUnreachable when patience is over", async () => {
    const { surroundings, waits } = jumping();
    const away = persist({ url, surroundings, patience_ms: 10_000 }, () => Promise.reject(new NotReached("away")));
    await expect(away).rejects.toBeInstanceOf(RelayUnreachable);
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(10_000);
  });

  test("waits as long as the relay asks for", async () => {
    const { surroundings, waits } = jumping(0);
    let tries = 0;
    await persist({ url, surroundings, patience_ms: 30_000 }, async () => {
      tries += 1;
      if (tries === 1) throw new ComeBack(refusal(429, "too_fast"), 7_000);
    });
    expect(waits).toEqual([7_000]);
  });

  test("tells the relay's own refusal, where it asks for more time than there is patience", async () => {
    const { surroundings, waits } = jumping();
    const busy = refusal(429, "too_fast");
    const asked = persist({ url, surroundings, patience_ms: 5_000 }, () => Promise.reject(new ComeBack(busy, 60_000)));
    await expect(asked).rejects.toBe(busy);
    expect(waits).toEqual([]);
  });

  test("is not done for what no retry mends", async () => {
    const { surroundings } = jumping();
    let tries = 0;
    const refused = persist({ url, surroundings, patience_ms: 5_000 }, async () => {
      tries += 1;
      throw refusal(404, "unknown_handoff");
    });
    await expect(refused).rejects.toMatchObject({ code: 404 });
    expect(tries).toBe(1);
  });

  test.each([
    [429, "too_fast", true],
    [503, "stopping", true],
    [500, "internal", true],
    [429, "too_many_questions", false],
    [404, "unknown_handoff", false],
    [507, "out_of_space", false],
  ])("of a call refused with %d %s may help: %s", (code, reason, helps) => {
    expect(isPassing(refusal(code, reason))).toBe(helps);
  });

  test("never pauses for nothing, so that a relay in trouble is not stormed", () => {
    expect(backoff(1, jumping(0).surroundings)).toBeGreaterThan(0);
  });
});
