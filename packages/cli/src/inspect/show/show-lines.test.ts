import { expect, test } from "vitest";
import {
  endedView,
  heldView,
  noon,
  otherId,
  plainLook,
  sampleAgent,
  sampleEvent,
  sampleFacts,
  sampleId,
  sampleQuestion,
} from "../testing/sample.ts";
import { showLines } from "./show-lines.ts";

const start = noon - 90_000;

function twoAttempts() {
  const first = { agent: "upper-1", worker: "w-1", fence: 1 };
  const second = { agent: "upper-1", worker: "w-2", fence: 2 };
  return [
    sampleEvent("accepted", { at: start, from: "alice", evidence: "signed" }),
    sampleEvent("delivered", { at: start + 3, ...first }),
    sampleEvent("acknowledged", { at: start + 9, attempt: 1, evidence: "signed", ...first }),
    sampleEvent("checkpointed", { at: start + 500, number: 1, ...first }),
    sampleEvent("requeued", {
      at: start + 2_009,
      why: "failed",
      code: 500,
      ready_at: start + 3_009,
      error: { reason: "boom", message: "the disk is full" },
      ...first,
    }),
    sampleEvent("delivered", { at: start + 3_010, ...second }),
    sampleEvent("acknowledged", { at: start + 3_012, attempt: 2, evidence: "attested", ...second }),
    sampleEvent("completed", { at: start + 30_000, code: 200, evidence: "attested", ...second }),
    sampleEvent("taken", { at: start + 30_500, by: "alice" }),
  ];
}

test("a handoff that failed once and was completed by another worker", () => {
  const ended = endedView("completed", 200, null, { name: "completed", input: { query: "fsync" }, attempts: 2 });
  const { outcome } = ended;
  const payload = { media_type: "text/plain", size: 5, salt: "", sha256: "" };
  const view = { ...ended, outcome: outcome === null ? null : { ...outcome, text: "HELLO", payload } };
  const facts = sampleFacts({ events: twoAttempts(), agents: [sampleAgent()] });
  expect(showLines({ view, facts, questions: [], checked: null }, plainLook).join("\n")).toBe(
    `
handoff ${sampleId}  completed 200 completed
  from    alice to capability upper · 1 min 30 s ago
  input   {"query":"fsync"} (application/json, 17 bytes)
  output  "HELLO" (text/plain, 5 bytes)

timeline
  +0 ms    accepted      by the relay from alice, signed
  +3 ms    delivered     to worker w-1 of agent upper-1 under fence 1
  +9 ms    acknowledged  by worker w-1 of agent upper-1, attempt 1, fence 1, signed
  +500 ms  checkpointed  number 1 by agent upper-1, fence 1
  +2 s     requeued      failed 500 by worker w-1 of agent upper-1: the disk is full, again in 1 s
  +3 s     delivered     to worker w-2 of agent upper-1 under fence 2
  +3 s     acknowledged  by worker w-2 of agent upper-1, attempt 2, fence 2, attested
  +30 s    completed     200 by worker w-2 of agent upper-1, fence 2, attested
  +31 s    taken         by alice

attempts
  attempt 1  fence 1  worker w-1 of agent upper-1  2 s   failed 500, 1 checkpoint: the disk is full
  attempt 2  fence 2  worker w-2 of agent upper-1  27 s  completed 200

clocks
  queue     ░░░░░░░░░░  1 ms of 15 min
  ack       ░░░░░░░░░░  2 ms of 10 s
  lease     ░░░░░░░░░░  30 s, not running
  attempt   █░░░░░░░░░  27 s of 5 min
  deadline  ██████████  30 s of 30 s
  attempts 2 of 3 · unacknowledged deliveries 0 of 10

receipts
  accepted      +0 ms  from alice                                signed by its author
  delivered     +3 ms  to worker w-1 of agent upper-1            proves no receipt: only the ack does
  acknowledged  +9 ms  by worker w-1 of agent upper-1            signed by its author
  delivered     +3 s   to worker w-2 of agent upper-1            proves no receipt: only the ack does
  acknowledged  +3 s   by worker w-2 of agent upper-1            attested: the relay saw an authenticated call
  outcome       +30 s  completed by worker w-2 of agent upper-1  attested: the relay saw an authenticated call`.trim(),
  );
});

test("a running handoff shows its lease and what is left of each clock", () => {
  const events = [sampleEvent("acknowledged", { at: noon - 3_000, agent: "upper-1", worker: "w-1", fence: 1 })];
  const view = heldView({ progress: { fraction: 0.4, note: "reading", at: noon - 1_000 } });
  const lines = showLines({ view, facts: sampleFacts({ events }), questions: [], checked: null }, plainLook);
  expect(lines).toContain("  progress  ████░░░░░░ 40 % reading (1 s ago)");
  expect(lines).toContain("  lease     █░░░░░░░░░  2 s of 30 s, 28 s left");
  expect(lines).toContain("  attempt   ░░░░░░░░░░  3 s of 5 min, 4 min 57 s left");
});

test("checked signatures stand beside their receipts, and what does not hold is shouted", () => {
  const facts = sampleFacts({ events: twoAttempts().slice(0, 3) });
  const text = (fault: string | null) =>
    showLines({ view: heldView(), facts, questions: [], checked: { fault } }, plainLook).join("\n");
  expect(text(null).match(/signed by its author, signature verified/g)).toHaveLength(2);
  expect(text("The ack (1) is malformed")).toContain("NOT PROVEN: The ack (1) is malformed");
  expect(text("The ack (1) is malformed")).not.toContain("signature verified");
});

test("questions, late outcomes, children and the dead letter have their place", () => {
  const view = endedView("failed", 500, { reason: "boom", message: "no" });
  const outcome = view.outcome;
  const late =
    outcome === null ? [] : [{ at: noon - 1_000, state: "completed", outcome: { ...outcome, text: "late" } }];
  const facts = sampleFacts({ children: [heldView({ id: otherId })] });
  const questions = [sampleQuestion({ open: false, resolution: "answered", answer: "red", by: "alice" })];
  const lines = showLines({ view: { ...view, late }, facts, questions, checked: null }, plainLook);
  expect(lines).toContain("  dead letter  open");
  expect(lines).toContain("  error        no (boom)");
  expect(lines).toContain(`  ${sampleId}:colour  from upper-1 to the sender alice, 2 s ago`);
  expect(lines).toContain('    answer   "red" by alice');
  expect(lines).toContain('  fence 1  completed 500  worker w-1 of agent upper-1  1 s ago  "late"');
  expect(lines).toContain(`  ${otherId}  upper  working 211  5 s ago`);
});

test("in full, payloads are whole and times exact", () => {
  const view = heldView({ input: { query: "x".repeat(200) } });
  const facts = sampleFacts({ events: [sampleEvent("accepted", { at: start })] });
  const text = (full: boolean) =>
    showLines({ view, facts, questions: [], checked: null }, { ...plainLook, full }).join("\n");
  expect(text(false)).not.toContain("x".repeat(200));
  expect(text(true)).toContain("x".repeat(200));
  expect(text(true)).toContain("2026-11-15 11:58:30.000Z  accepted");
});

test("what others wrote cannot steer the terminal", () => {
  const view = heldView({ input: "a\u001b[2Jb", progress: { fraction: null, note: "\u001b]0;x\u0007n", at: noon } });
  const text = showLines({ view, facts: sampleFacts(), questions: [], checked: null }, plainLook).join("\n");
  expect(text).not.toContain("\u001b");
});
