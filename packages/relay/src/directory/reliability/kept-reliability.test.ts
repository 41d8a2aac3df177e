/** The figures of a relay that died any number of times are those of one that never did. */

import type { Handoff, Time } from "@handfast/core";
import { start } from "@handfast/core/testing";
import { type Arbitrary, array, assert, asyncProperty, constantFrom, nat, oneof, record } from "fast-check";
import { describe, expect, test } from "vitest";
import { limits } from "../../limits.ts";
import type { Reliability } from "./reliability.ts";
import { record_kind } from "./snapshot.ts";
import { Lives, type LivesOptions, type Mishap, saying } from "./testing/lives.ts";
import { newReliability, tell } from "./testing/measure.ts";

const second = 1_000;
const minute = 60 * second;
const agents = ["bob", "carol"] as const;
const capabilities = ["summarize", "translate", "draw"] as const;

type Step =
  | { readonly kind: "accept"; readonly capability: string; readonly deadline_ms: number }
  | { readonly kind: "claim"; readonly agent: string; readonly capability: string }
  | { readonly kind: "say"; readonly what: string; readonly lease: number }
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "mishap"; readonly what: Mishap }
  | { readonly kind: "die" | "stop" | "stall" | "note" };

const say = (...what: readonly string[]): Arbitrary<Step> =>
  record({ kind: constantFrom("say" as const), what: constantFrom(...what), lease: nat({ max: 3 }) });

const step: Arbitrary<Step> = oneof(
  {
    weight: 6,
    arbitrary: record({
      kind: constantFrom("accept" as const),
      capability: constantFrom(...capabilities),
      deadline_ms: constantFrom(20 * second, 15 * minute),
    }),
  },
  {
    weight: 8,
    arbitrary: record({
      kind: constantFrom("claim" as const),
      agent: constantFrom(...agents),
      capability: constantFrom(...capabilities),
    }),
  },
  { weight: 6, arbitrary: say("ack") },
  { weight: 6, arbitrary: say("complete", "complete", "fail", "fail for good") },
  { weight: 5, arbitrary: say("beat", "unfit", "reject", "release", "ask", "park", "answer", "cancel", "take") },
  {
    weight: 6,
    arbitrary: record({
      kind: constantFrom("pass" as const),
      ms: constantFrom(1, 700, 3 * second, 11 * second, 31 * second, 6 * minute),
    }),
  },
  {
    weight: 2,
    arbitrary: record({
      kind: constantFrom("mishap" as const),
      what: constantFrom<Mishap>("fails before", "fails after", "dies before", "dies untold"),
    }),
  },
  { weight: 2, arbitrary: record({ kind: constantFrom("die" as const, "stop" as const, "stall" as const) }) },
  { weight: 2, arbitrary: record({ kind: constantFrom("note" as const) }) },
);

async function take(lives: Lives, leases: Handoff[], step: Step): Promise<void> {
  switch (step.kind) {
    case "accept":
      return lives.accept({ capability: step.capability, terms: { deadline_ms: step.deadline_ms, max_deliveries: 2 } });
    case "claim": {
      const leased = await lives.claim(step.agent, step.capability);
      if (leased !== undefined) leases.unshift(leased);
      return;
    }
    case "say": {
      const leased = leases[step.lease];
      return leased === undefined ? undefined : lives.act(leased, saying(leased, step.what));
    }
    case "pass":
      return lives.pass(step.ms);
    case "mishap":
      return lives.mishap(step.what);
    case "die":
      return lives.die();
    case "stop":
      return lives.stop();
    case "note":
      return lives.note();
    case "stall":
      return lives.surroundings.stall(5 * second);
    default:
      throw new Error(`unreachable step ${JSON.stringify(step satisfies never)}`);
  }
}

/** Whatever can be known of the figures, to the last bit. */
function known(figures: Reliability, now: Time): unknown {
  const stored = Array.from(figures.pairs.all(), (pair) => pair.stored());
  return {
    pairs: stored.sort((a, b) => a.heard - b.heard),
    standings: agents.flatMap((agent) => capabilities.map((capability) => figures.standing(agent, capability, now, 2))),
  };
}

async function compare(lives: Lives): Promise<void> {
  if (!lives.isAlive) await lives.begin();
  const now = lives.now();
  expect(known(lives.figures, now)).toEqual(known(await lives.expected(), now));
}

async function liveThrough(steps: readonly Step[], options: LivesOptions): Promise<void> {
  const lives = await Lives.begin(options);
  const leases: Handoff[] = [];
  for (const step of steps) {
    await take(lives, leases, step);
    if (!lives.isAlive) await compare(lives);
  }
  await compare(lives);
  lives.die();
  await compare(lives);
  expect(lives.bugs).toEqual([]);
  await lives.stop();
  await lives.store.close();
}

describe("after any number of deaths the figures are those of a relay that never died", () => {
  test.each<[string, LivesOptions]>([
    ["with everything kept", { limits: { ejection_failures: 2 } }],
    ["with pairs dropped for others", { limits: { reliability_pairs: 3 } }],
    [
      "with chunks of a single pair, written at once",
      { limits: { reliability_chunk_pairs: 1, reliability_write_ms: 1, ejection_failures: 1 } },
    ],
    [
      "with retention that drops the log as soon as it may",
      {
        engine: {
          limits: { keep_events_ms: 2 * minute, prune_every_ms: 1 },
          coreLimits: { keep_taken_ms: 1, keep_untaken_ms: minute },
        },
      },
    ],
  ])("%s", async (_, options) => {
    await assert(
      asyncProperty(array(step, { minLength: 20, maxLength: 120 }), (steps) => liveThrough(steps, options)),
      { numRuns: 25 },
    );
  });
});

/** So many attempts of this agent, one after the other. */
async function work(lives: Lives, agent: string, capability: string, ...outcomes: readonly string[]): Promise<void> {
  for (const outcome of outcomes) {
    await lives.accept({ capability });
    const leased = await lives.claim(agent, capability);
    if (leased === undefined) throw new Error("nothing was leased");
    await lives.act(leased, saying(leased, "ack"));
    await lives.act(leased, saying(leased, outcome));
  }
}

async function stored(
  lives: Lives,
): Promise<Readonly<Record<string, { readonly version: number; readonly value: unknown }>>> {
  const records = await lives.store.records("default", record_kind);
  return Object.fromEntries(records.map(({ key, version, value }) => [key, { version, value }]));
}

const done = "complete";
const failed = "fail for good";
const single = { limits: { reliability_chunk_pairs: 1 } };

describe("what is written", () => {
  test("only chunks that changed, a few seconds after the change, and nothing when nothing happened", async () => {
    const lives = await Lives.begin(single);
    await work(lives, "bob", "draw", done);
    await work(lives, "carol", "draw", done);
    expect(await stored(lives)).toEqual({});
    await lives.pass(6 * second);
    const both = await stored(lives);
    expect(Object.keys(both).sort()).toEqual(["chunk-0", "chunk-1", "head"]);
    await work(lives, "carol", "draw", done);
    await lives.pass(6 * second);
    const one = await stored(lives);
    expect(one["chunk-0"]).toEqual(both["chunk-0"]);
    expect(one["chunk-1"]?.version).toBe(2);
    await lives.pass(10 * minute);
    expect(await stored(lives)).toEqual(one);
  });

  test("what could not be written is written with the next", async () => {
    const lives = await Lives.begin(single);
    await work(lives, "bob", "draw", done);
    lives.mishap("fails before");
    await lives.pass(20 * second);
    const { head, ...chunks } = await stored(lives);
    expect(head?.version).toBe(1);
    expect(Object.values(chunks).map(({ value }) => value)).toEqual([lives.figures.pairs.chunk(0)]);
  });

  test("nothing while the disk has no room to spare, and nothing is lost by it", async () => {
    const lives = await Lives.begin({ hasRoom: false });
    await work(lives, "bob", "draw", done, failed);
    await lives.pass(minute);
    expect(await stored(lives)).toEqual({});
    lives.die();
    await compare(lives);
  });

  test("on stop, at once", async () => {
    const lives = await Lives.begin(single);
    await work(lives, "bob", "draw", done);
    await lives.stop();
    expect(Object.keys(await stored(lives)).sort()).toEqual(["chunk-0", "head"]);
  });

  test("no record is larger than 64 kB, whatever names and latencies there are", () => {
    const reliability = newReliability();
    const long = (nth: number) => `${"x".repeat(126)}${String(nth).padStart(2, "0")}`;
    for (let pair = 0; pair < limits.reliability_chunk_pairs; pair += 1) {
      for (let took_ms = 1; took_ms < 100_000; took_ms = Math.ceil(took_ms * 1.2)) {
        const at = start + took_ms * 7_919 + pair;
        tell(reliability, "completed", { agent: long(pair), capability: long(pair), at, took_ms });
      }
    }
    expect(JSON.stringify(reliability.pairs.chunk(0)).length).toBeGreaterThan(20_000);
    expect(JSON.stringify(reliability.pairs.chunk(0)).length).toBeLessThan(64_000);
  });

  test("chunks of pairs that were dropped go", async () => {
    const lives = await Lives.begin({ limits: { reliability_chunk_pairs: 1, reliability_pairs: 2 } });
    for (const capability of ["a", "b"]) await work(lives, "bob", capability, done);
    await lives.pass(6 * second);
    for (const capability of ["c", "d", "e"]) await work(lives, "bob", capability, done);
    await lives.pass(6 * second);
    expect(Object.keys(await stored(lives)).sort()).toEqual(["chunk-0", "chunk-1", "head"]);
    lives.die();
    await compare(lives);
  });
});

describe("a relay that starts", () => {
  test("goes on leaving out whom it left out, within the same share", async () => {
    const lives = await Lives.begin({ limits: { ejection_failures: 2 } });
    await work(lives, "bob", "draw", failed, failed);
    await lives.pass(second);
    await work(lives, "carol", "draw", failed, failed);
    const out = () =>
      agents.map((agent) => lives.figures.standing(agent, "draw", lives.now(), 2).ejected_until !== null);
    expect(out()).toEqual([true, false]);
    lives.die();
    await lives.begin();
    expect(out()).toEqual([true, false]);
    await lives.pass(29.5 * second);
    expect(out()).toEqual([false, true]);
  });

  test("measures a log that was never measured, from its newest part", async () => {
    const whole = await Lives.begin();
    await work(whole, "bob", "draw", done, done, failed, done);
    whole.die();
    await compare(whole);
    const part = await Lives.begin({ limits: { reliability_first_events: 5 } });
    await work(part, "bob", "draw", done, done, failed, done);
    part.die();
    await part.begin();
    expect(part.figures.of("bob", "draw", part.now())).toMatchObject({ n: 2, successes: 1 });
  });

  test("measures anew what was kept in another form, and leaves nothing of that", async () => {
    const lives = await Lives.begin(single);
    await work(lives, "bob", "draw", done, failed);
    await lives.stop();
    const old = Object.entries(await stored(lives)).map(([key, { version }]) => {
      const value = key === "head" ? { format: 0 } : [{ old: "figures" }];
      return { namespace: "default", kind: record_kind, key, expected_version: version, value };
    });
    const more = { ...old[0], key: "chunk-7", expected_version: 0, value: [] };
    await lives.store.commit([{ writes: [], records: [...old, more as (typeof old)[0]] }]);
    await lives.begin();
    await compare(lives);
    await lives.stop();
    expect(Object.keys(await stored(lives)).sort()).toEqual(["chunk-0", "head"]);
  });
});
