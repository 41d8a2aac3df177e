import { expect, test } from "vitest";
import { noon, plainLook, sampleEvent } from "../testing/sample.ts";
import { StatusLine } from "./status-line.ts";
import { watchLine } from "./watch-line.ts";

const acknowledged = sampleEvent("acknowledged", {
  at: noon + 7,
  agent: "upper-1",
  worker: "w-1",
  fence: 1,
  attempt: 1,
  evidence: "signed",
  capability: "upper",
  to_agent: null,
});

test("one handoff: time, type, words", () => {
  expect(watchLine(acknowledged, false, plainLook)).toBe(
    "12:00:00.007  acknowledged  by worker w-1 of agent upper-1, attempt 1, fence 1, signed",
  );
});

test("many: the line says which handoff it is about", () => {
  expect(watchLine(acknowledged, true, plainLook)).toContain("12:00:00.007  0000abcd  upper  acknowledged");
});

test("the line below follows one handoff with its progress", () => {
  const status = new StatusLine();
  expect(status.text(noon)).toBe("waiting for events …");
  status.event(acknowledged);
  status.progress({ fraction: 0.4, note: "reading" });
  expect(status.text(noon + 3_007)).toBe("working · upper-1 · ████░░░░░░ 40 % · reading · 3 s");
});

test("progress of an attempt that is over is forgotten", () => {
  const status = new StatusLine();
  status.event(acknowledged);
  status.progress({ fraction: 0.4, note: "reading" });
  status.event(sampleEvent("requeued", { at: noon + 8, agent: "upper-1" }));
  expect(status.text(noon + 1_007)).toBe("queued · upper-1 · 1 s");
});

test("of many it counts the states", () => {
  const status = new StatusLine();
  status.event(sampleEvent("accepted", { at: noon, handoff: "a" }));
  status.event(sampleEvent("accepted", { at: noon, handoff: "b" }));
  status.event(sampleEvent("completed", { at: noon, handoff: "b" }));
  expect(status.text(noon + 2_000)).toBe("1 queued, 1 completed · 2 s");
});
