import { expect, test } from "vitest";
import { type Clock, fiveClocks } from "./clocks.ts";
import { endedView, heldView, noon, sampleEvent, sampleView } from "./testing/sample.ts";

const facts = { events: [], timeout_ms: null, now: noon };

function clock(name: Clock["name"], clocks: readonly Clock[]): Clock | undefined {
  return clocks.find((each) => each.name === name);
}

test("while queued, the queue clock and the deadline run", () => {
  const clocks = fiveClocks(sampleView(), facts);
  expect(clocks.map(({ name, state }) => `${name} ${state}`)).toEqual([
    "queue running",
    "ack idle",
    "lease idle",
    "attempt idle",
    "deadline running",
  ]);
  expect(clock("queue", clocks)).toMatchObject({ used_ms: 5_000, limit_ms: 900_000, until: noon + 895_000 });
});

test("the queue clock does not run while the handoff is blocked or backs off", () => {
  expect(clock("queue", fiveClocks(sampleView({ blocked: true }), facts))?.state).toBe("idle");
  const backing = sampleView({ ready_at: noon + 1_000 });
  expect(clock("queue", fiveClocks(backing, facts))?.state).toBe("idle");
});

test("the ack clock runs from the delivery to the ack", () => {
  const delivered = sampleEvent("delivered", { at: noon - 4_000 });
  const events = [delivered, sampleEvent("acknowledged", { at: noon - 3_000 })];
  expect(clock("ack", fiveClocks(heldView({ state: "delivered" }), facts))).toMatchObject({
    used_ms: 4_000,
    state: "running",
  });
  expect(clock("ack", fiveClocks(heldView(), { ...facts, events }))).toMatchObject({
    used_ms: 1_000,
    state: "stopped",
  });
});

test("the lease clock begins anew with every beat", () => {
  expect(clock("lease", fiveClocks(heldView(), facts))).toMatchObject({ used_ms: 2_000, until: noon + 28_000 });
});

test("the attempt clock stands still while a question is open and goes on with what it had left", () => {
  const events = [sampleEvent("acknowledged", { at: noon - 60_000 }), sampleEvent("asked", { at: noon - 50_000 })];
  expect(clock("attempt", fiveClocks(heldView({ state: "waiting" }), { ...facts, events }))).toMatchObject({
    used_ms: 10_000,
    state: "stopped",
  });
  const answered = [...events, sampleEvent("answered", { at: noon - 20_000 })];
  expect(clock("attempt", fiveClocks(heldView(), { ...facts, events: answered }))).toMatchObject({
    used_ms: 30_000,
    state: "running",
    until: noon + 297_000,
  });
});

test("an attempt that goes on after a parked question keeps what it had used, a new one begins at zero", () => {
  const story = (why: string) => [
    sampleEvent("acknowledged", { at: noon - 60_000 }),
    sampleEvent("asked", { at: noon - 50_000, parked: true }),
    sampleEvent("answered", { at: noon - 40_000 }),
    sampleEvent("requeued", { at: noon - 40_000, why }),
    sampleEvent("acknowledged", { at: noon - 5_000 }),
  ];
  const used = (why: string) => clock("attempt", fiveClocks(heldView(), { ...facts, events: story(why) }))?.used_ms;
  expect(used("answered")).toBe(15_000);
  expect(used("failed")).toBe(5_000);
});

test("the handoff's own limit for an attempt goes before the manifest's", () => {
  const limits = { ...sampleView().limits, attempt_ms: 1_000 };
  const limit = (view = heldView()) => clock("attempt", fiveClocks(view, { ...facts, timeout_ms: 60_000 }))?.limit_ms;
  expect(limit()).toBe(60_000);
  expect(limit(heldView({ limits }))).toBe(1_000);
});

test("after the end nothing runs", () => {
  const clocks = fiveClocks(endedView("completed", 200, null), facts);
  expect(clocks.filter(({ state }) => state === "running")).toEqual([]);
  expect(clock("deadline", clocks)).toMatchObject({ used_ms: 30_000, limit_ms: 30_000 });
});
