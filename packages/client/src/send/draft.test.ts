import { describe, expect, it } from "vitest";
import { UsageError } from "../errors.ts";
import { draftOf } from "./draft.ts";
import { checkOptionNames, type SendOptions, type Target } from "./options.ts";

const id = "01890000-0000-7000-8000-000000000000";
const draft = (options: SendOptions = {}, target: Target = "upper", input: unknown = 1) =>
  draftOf(id, { kind: "handoff", target, input, options, artifacts: [] }, null);

describe("what a sender writes", () => {
  it("is a document with no more than was said", () => {
    expect(draft()).toEqual({ id, capability: "upper", input: 1 });
    expect(draft({ text: true }, { to: "bob" }, "hi")).toEqual({ id, to: "bob", text: "hi" });
  });

  it("becomes the words and the milliseconds of the wire", () => {
    expect(
      draft({
        ...{ timeout: "60s", queue: "5m", ack: 250, lease: "2s", attempt: "2h", attempts: 5, retry: "until_ack" },
        ...{ idempotencyKey: "k", correlation: "c", conversation: "v", orderingKey: "o", priority: 9 },
        ...{ labels: { a: "b" }, budget: { tokens: 9 }, expects: { type: "object" }, evidence: "signed" },
        ...{ deadLetterTo: "desk", queueIfAbsent: true, ext: { "urn:x": 1 }, version: "^1.2" },
      }),
    ).toEqual({
      ...{ id, capability: "upper", input: 1, idempotency_key: "k", correlation_id: "c", conversation_id: "v" },
      ...{ ordering_key: "o", priority: 9, labels: { a: "b" }, budget: { tokens: 9 }, evidence: "signed" },
      expects: { output_schema: { type: "object" } },
      ...{ dead_letter_to: "desk", queue_if_absent: true, ext: { "urn:x": 1 }, version: "^1.2" },
      limits: {
        ...{ deadline_ms: 60_000, queue_ms: 300_000, ack_ms: 250, lease_ms: 2_000, attempt_ms: 7_200_000 },
        ...{ max_attempts: 5, retry: "until_ack" },
      },
    });
  });
});

const ring: Record<string, unknown> = {};
ring["self"] = ring;

describe("what does not fit is told before anything is sent", () => {
  it.each<[string, () => unknown, RegExp]>([
    ["no target", () => draft({}, {}), /no target/],
    ["a target that is no name", () => draft({}, "web research"), /"web research" is no name/],
    ["no input", () => draftOf(id, { ...said, input: undefined }, null), /has no input/],
    ["an input that is not text", () => draft({ text: true }, "upper", { a: 1 }), /sends a string/],
    ["no duration", () => draft({ timeout: "soon" as "1s" }), /timeout is "soon"/],
    ["a time of nothing", () => draft({ timeout: 0 }), /timeout is 0/],
    ["a lease below two seconds", () => draft({ lease: "1s" }), /lease is "1s"/],
    ["more than 30 days", () => draft({ timeout: "31d" }), /timeout is "31d"/],
    ["a range of no versions", () => draft({ version: "" }), /version is ""/],
    ["a priority of ten", () => draft({ priority: 10 }), /priority is 10/],
    ["no attempts", () => draft({ attempts: 0 }), /attempts is 0/],
    ["an empty key", () => draft({ idempotencyKey: "" }), /idempotencyKey is ""/],
    ["a label with a colon", () => draft({ labels: { "a:b": "c" } }), /label "a:b"/],
    ["labels that are text", () => draft({ labels: "x" as never }), /labels is "x"/],
    ["labels that are null", () => draft({ labels: null as never }), /labels is null/],
    ["labels in an array", () => draft({ labels: ["x"] as never }), /labels is \["x"\]/],
    ["a target of nothing", () => draft({}, null as never), /The target is null/],
    ["a target that is a number", () => draft({}, 5 as never), /The target is 5/],
    ["a target with a word too many", () => draft({}, { to: "bob", too: "x" } as never), /no "too"/],
    ["a name that is a BigInt", () => draft({}, { to: 5n as never }), /5n is no name/],
    ["a name that contains itself", () => draft({}, { to: ring as never }), /object that cannot be shown is no name/],
    ["a duration that is a BigInt", () => draft({ timeout: 5n as never }), /timeout is 5n/],
    ["a key that is a BigInt", () => draft({ idempotencyKey: 5n as never }), /idempotencyKey is 5n/],
    ["a priority that is an object", () => draft({ priority: Object.create(null) }), /priority is {}/],
    ["a budget that contains itself", () => draft({ budget: ring as never }), /at \/budget\/self .* contains itself/],
    ["an extension that is no number", () => draft({ ext: { "urn:x": Number.NaN } }), /at \/ext\/urn:x it has NaN/],
    ["evidence that is a BigInt", () => draft({ evidence: 5n as never }), /at \/evidence it has the BigInt 5/],
    ["a schema that contains itself", () => draft({ expects: ring }), /expects cannot be written as JSON/],
    ["no options", () => checkOptionNames(null as never), /options are null/],
    ["an option that was misspelt", () => checkOptionNames({ timout: "60s" }), /no option "timout"/],
  ])("%s", (_what, act, message) => {
    expect(act).toThrow(UsageError);
    expect(act).toThrow(message);
  });

  const said = { kind: "handoff", target: "upper", options: {}, artifacts: [] } as const;
});
