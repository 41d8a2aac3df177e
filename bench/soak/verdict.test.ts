/** What a soak is judged by. */

import { describe, expect, test } from "vitest";
import { parseMetrics } from "./metrics.ts";
import type { RelayState } from "./relay-state.ts";
import { slopeOf } from "./slope.ts";
import { parseTimes } from "./stolen.ts";
import { judge, type Soaked } from "./verdict.ts";

describe("the soak's verdict", () => {
  const state: RelayState = {
    heap_mb: 50,
    rss_mb: 150,
    resources: { Timeout: 3, TCPServerWrap: 1 },
    files: 30,
    connections: 0,
    streams: 0,
    pending_jobs: 0,
    waiting_claims: 0,
    waiters: 0,
    open_handoffs: 0,
    kept_handoffs: 0,
  };
  const sample = (minute: number, heap_mb: number) => {
    const speed = { per_second: 1_000, p50_ms: 3, p99_ms: 9 };
    const relay = { heap_mb, rss_mb: 150, loop_p99_ms: 12, wal_mb: 16, kept_handoffs: 0 };
    return { at_s: minute * 60, ...speed, ...relay, stolen_percent: 0 };
  };
  const soaked = (heap: (minute: number) => number, rest: Partial<Soaked> = {}): Soaked => ({
    rate: 1_000,
    seconds: 1_800,
    samples: Array.from({ length: 30 }, (_, minute) => sample(minute + 1, heap(minute))),
    loop_p99_ms: 12,
    behind: 0,
    before: state,
    after: state,
    ...rest,
  });
  const broken = (verdict: ReturnType<typeof judge>) => verdict.filter(({ holds }) => !holds).map(({ name }) => name);

  test("holds where memory is flat and nothing is left", () => {
    expect(broken(judge(soaked((minute) => 50 + (minute % 3))))).toEqual([]);
  });

  test("breaks for a heap that grows, a slow event loop, and each thing left behind", () => {
    expect(broken(judge(soaked((minute) => 50 + minute)))).toEqual(["heap after collection grew by"]);
    expect(broken(judge(soaked(() => 50, { loop_p99_ms: 51 })))).toEqual(["event loop's delay, p99"]);
    expect(broken(judge(soaked(() => 50, { behind: 1 })))).toEqual(["samples behind the rate"]);
    const after = { ...state, waiters: 1, resources: { ...state.resources, Timeout: 4 } };
    expect(broken(judge(soaked(() => 50, { after })))).toEqual(["waiters left", "Timeouts"]);
  });

  test("reads the relay's figures by name and label", () => {
    const text =
      '# HELP x y\nnodejs_eventloop_lag_p99_seconds 0.012\nengine{what="waiters"} 3\nengine{what="jobs"} 4\n';
    const metrics = parseMetrics(text);
    expect(metrics.sum("nodejs_eventloop_lag_p99_seconds")).toBe(0.012);
    expect(metrics.sum("engine")).toBe(7);
    expect(metrics.sum("engine", 'what="waiters"')).toBe(3);
  });

  test("tells the host's time from the machine's own", () => {
    expect(parseTimes("cpu  40 1 30 900 9 0 5 15 7 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n")).toEqual({ all: 1_000, stolen: 15 });
  });

  test("finds the slope of a straight line", () => {
    expect(slopeOf([1, 2, 3, 4].map((at_s) => ({ at_s, value: 7 - 2 * at_s })))).toBeCloseTo(-2);
  });
});
