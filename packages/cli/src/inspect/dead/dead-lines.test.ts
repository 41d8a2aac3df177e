import { expect, test } from "vitest";
import { endedView, plainLook, sampleEvent, sampleId } from "../testing/sample.ts";
import { deadLines, deadListLines } from "./dead-lines.ts";

const view = endedView("expired", 408, { reason: "deadline_passed", message: "the deadline passed" });

test("the list has a head and a line for each", () => {
  expect(deadListLines([view], plainLook)).toEqual([
    "id                                    target  from   ended        status  age        reason",
    `${sampleId}  upper   alice  expired 408  open    1 min ago  the deadline passed`,
  ]);
});

test("an empty list prints nothing", () => {
  expect(deadListLines([], plainLook)).toEqual([]);
});

test("one shows reason, input, failures and timeline", () => {
  const failures = [
    { fence: 1, agent: "upper-1", worker: "w-1", at: 0, code: 500, name: "", error: { reason: "boom", message: "no" } },
  ];
  const letter = {
    handoff: { ...view, failures },
    reason: { code: 408, name: "deadline_passed", reason: "deadline_passed", message: "the deadline passed" },
    input: { query: "fsync" },
    questions: [],
    events: [sampleEvent("accepted", { at: view.accepted_at, from: "alice", evidence: "signed" })],
    events_cursor: null,
  };
  expect(deadLines(letter, plainLook)).toEqual([
    `dead letter ${sampleId}  open`,
    "  expired 408 deadline_passed: the deadline passed (deadline_passed)",
    "  from alice to capability upper, ended 1 min ago",
    '  input {"query":"fsync"}',
    "",
    "failures",
    "  fence 1  upper-1/w-1  500  no",
    "",
    "timeline",
    "  +0 ms  accepted  by the relay from alice, signed",
  ]);
});
