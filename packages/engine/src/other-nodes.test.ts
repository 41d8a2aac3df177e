/** How often a node looks at the log for what others wrote: at once after a quiet time, and the less often the more it finds. */

import { afterEach, beforeEach, expect, test } from "vitest";
import { engineLimits } from "./limits.ts";
import { accept, sampleHandoff, unit } from "./store.samples.ts";
import { SharedBench } from "./testing/shared-bench.ts";

const { least_ms, most_ms, per_event_ms } = engineLimits.follow_gap;
/** A signal of the simulated disk takes so long. */
const signal_ms = 1;

interface Look {
  readonly at: number;
  readonly found: number;
}

let bench: SharedBench;
let looks: Look[];
let written: number;
beforeEach(async () => {
  // It looks because of signals only.
  bench = await SharedBench.open({ limits: { follow_every_ms: 86_400_000 } });
  looks = [];
  written = 0;
  const { sharing } = bench.own;
  if (sharing === undefined) throw new Error("the store is not shared");
  const follow = sharing.follow.bind(sharing);
  const noted: typeof follow = async (...asked) => {
    const at = bench.timeline.now;
    const events = await follow(...asked);
    looks.push({ at, found: events.length });
    return events;
  };
  Object.assign(sharing, { follow: noted });
  await bench.advance(1_000);
});
afterEach(async () => {
  await bench.close();
  expect(bench.bugs).toEqual([]);
});

/** Another node commits so many at once, each with one event. */
async function write(count: number): Promise<void> {
  const units = Array.from({ length: count }, () => {
    written += 1;
    return unit(accept(sampleHandoff(`handoff ${written}`, { accepted_at: bench.timeline.now })));
  });
  await bench.answered(bench.other.commit(units));
}

/** Another node commits one each millisecond, so that there is always a signal to follow. */
async function trickle(duration_ms: number): Promise<void> {
  for (let passed = 0; passed < duration_ms; passed += 1) {
    await write(1);
    await bench.advance(1);
  }
}

/** From each look to the next one. */
function gaps(): readonly number[] {
  return looks.slice(1).map(({ at }, nth) => at - (looks[nth]?.at ?? 0));
}

test("the first signal after a quiet time is followed at once", async () => {
  const { now } = bench.timeline;
  await write(1);
  await bench.advance(100);
  expect(looks).toEqual([{ at: now + signal_ms, found: 1 }]);
});

test("however many signals come, between two looks lies the least gap", async () => {
  await trickle(50);
  expect(new Set(gaps())).toEqual(new Set([least_ms]));
});

test("the more a look finds the longer it is until the next, and with less to find the gap narrows again", async () => {
  const many = (4 * least_ms) / per_event_ms;
  await trickle(20);
  const before = looks.length;
  await write(many);
  await trickle(150);
  const wide = gaps()[before] ?? 0;
  expect(looks[before]?.found).toBeGreaterThanOrEqual(many);
  expect(wide).toBeGreaterThanOrEqual(many * per_event_ms);
  expect(wide).toBeLessThan(most_ms);
  const after = gaps().slice(before);
  expect(after).toEqual(after.toSorted((a, b) => b - a));
  expect(after.at(-1)).toBe(least_ms);
});

test("however much a look finds, the next one comes after the longest gap", async () => {
  await write((10 * most_ms) / per_event_ms);
  await trickle(60);
  expect(gaps()[0]).toBe(most_ms);
});
