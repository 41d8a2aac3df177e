/** The judge of crash runs: an honest run passes, and each broken promise is found, whichever it is. */

import { describe, expect, test } from "vitest";
import { changed, type ExampleLine, example } from "./example.ts";
import { judge } from "./verdict.ts";

const promisesBroken = (evidence: ReturnType<typeof example>) =>
  new Set(judge(evidence).violations.map((violation) => violation.split(":", 1)[0]));

test("an honest run with a worker that was killed breaks no promise", () => {
  expect(judge(example()).violations).toEqual([]);
});

test("a lease that is lost soon after the relay came back is no broken promise: its worker may not be back yet", () => {
  const lost = example((line) => (line.what === "requeued" ? [changed(line, { worker: "living" })] : [line]));
  expect(judge({ ...lost, relay_back_at: [7_000] }).violations).toEqual([]);
  expect(judge({ ...lost, relay_back_at: [-5_000] }).violations).toHaveLength(1);
});

test("its figures count what happened", () => {
  expect(judge(example()).figures).toMatchObject({
    "handoffs accepted": 2,
    "completed, each once": 2,
    "below another one": 1,
    "leases lost": 1,
    "attempts that began at a checkpoint": 1,
  });
});

describe("is found:", () => {
  const without = (what: string) => (line: ExampleLine) => (line.what === what ? [] : [line]);
  const twice = (what: string) => (line: ExampleLine) => (line.what === what ? [line, line] : [line]);
  const change = (what: string, part: Readonly<Record<string, unknown>>) => (line: ExampleLine) =>
    line.what === what ? [changed(line, part)] : [line];

  test.each<[string, string, (line: ExampleLine) => readonly ExampleLine[]]>([
    ["a handoff that the relay has lost", "nothing accepted is lost", without("accepted")],
    ["one that was accepted under another id", "nothing accepted is lost", change("told accepted", { id: "other" })],
    ["one that nobody sent", "nothing accepted is lost", without("intends")],
    ["an input that was changed", "nothing accepted is lost", change("accepted", { payload: "else" })],
    ["a gap in its events", "events are dense", without("first ack")],
    ["a second end", "there is exactly one end", twice("completed")],
    ["no end at all", "there is exactly one end", without("completed")],
    ["a dead letter in place of an end", "there is exactly one end", change("completed", { type: "failed" })],
    ["an outcome that no worker said", "the outcome is what its worker did", without("did")],
    ["an outcome under another fence", "the outcome is what its worker did", change("did", { fence: 1 })],
    [
      "a sender that was told something else",
      "the outcome is what its worker did",
      change("told outcome", { output: 1 }),
    ],
    ["a sender that never got its outcome", "the outcome is what its worker did", without("told outcome")],
    ["an outcome that was taken twice", "an outcome is taken once", twice("taken")],
    ["one that was never taken", "an outcome is taken once", without("taken")],
    ["a correlation that got lost", "correlation and causation are kept", change("completed", { correlation_id: "x" })],
    [
      "a child without its parent",
      "correlation and causation are kept",
      change("child accepted", { causation_id: null }),
    ],
    ["a fence that comes again", "fences hold", change("second delivery", { fence: 1 })],
    ["an ack of a fence that was never given", "fences hold", change("second ack", { fence: 7 })],
    ["work that began without an ack", "a lease is worked on once", change("first began", { fence: 9 })],
    ["a lease that was worked on twice", "a lease is worked on once", twice("first began")],
    ["a checkpoint that did not reach the next attempt", "checkpoints last", change("second began", { steps: 0 })],
    ["a lease lost without a kill", "work is lost only by kills", change("requeued", { worker: "living" })],
    ["an attempt that failed by itself", "work is lost only by kills", change("requeued", { why: "failed" })],
  ])("%s", (_what, promise, tamper) => {
    expect(promisesBroken(example(tamper))).toContain(promise);
  });

  test("a log out of order", () => {
    const evidence = example();
    expect(judge({ ...evidence, log: evidence.log.toReversed() }).violations.join("\n")).toContain("out of order");
  });

  test("a false dead letter", () => {
    const evidence = example();
    const violations = judge({ ...evidence, dead_letters: evidence.handoffs.slice(0, 1) }).violations;
    expect(violations.join("\n")).toContain("false dead letter");
  });

  test("two handoffs under one key", () => {
    const evidence = example();
    const handoffs = [...evidence.handoffs, ...evidence.handoffs.slice(0, 1)];
    expect(judge({ ...evidence, handoffs }).violations).toContain("one key stands for two handoffs");
  });

  test("a client that warned of something", () => {
    const warned = { said: "warned", reason: "outcome_lost", message: "It is lost." } as const;
    const evidence = example();
    const senders = [...evidence.senders, { name: "shop", lines: [warned] }];
    expect(judge({ ...evidence, senders }).violations).toEqual(["shop was warned: outcome_lost: It is lost."]);
  });
});
