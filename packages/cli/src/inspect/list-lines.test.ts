import { expect, test } from "vitest";
import { handoffListLines, howItGoes } from "./list-lines.ts";
import { endedView, heldView, noon, plainLook, sampleView } from "./testing/sample.ts";

test("a list has titles and a line for each handoff", () => {
  const failed = endedView("failed", 500, { reason: "boom", message: "the disk is full" });
  expect(handoffListLines([sampleView(), failed], plainLook)).toEqual([
    "id        state   code  target  from   age             how it goes",
    "0000abcd  queued  202   upper   alice  5 s ago",
    "0000abcd  failed  500   upper   alice  1 min 30 s ago  the disk is full",
  ]);
});

test("how it goes: progress, attempts, a question, the last failure, the output", () => {
  const progress = { fraction: 0.4, note: "reading", at: noon };
  expect(howItGoes(heldView({ progress, attempts: 2 }))).toBe("attempt 2 of 3 40 % reading");
  const question = { id: "x:y", fence: 1, asked_at: noon, answer_by: noon, to: null, parked: false };
  expect(howItGoes(heldView({ question, progress }))).toBe("asks the sender");
  const error = { reason: "retry", message: "overloaded" };
  const failures = [{ fence: 1, agent: "a", worker: "w", at: noon, code: 500, name: "agent_failed", error }];
  expect(howItGoes(sampleView({ failures, attempts: 1 }))).toBe("after: overloaded");
  const { outcome } = endedView("completed", 200, null);
  expect(howItGoes(endedView("completed", 200, null, { outcome: outcome && { ...outcome, output: [1] } }))).toBe("[1]");
});
