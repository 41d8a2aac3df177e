/** What a model reads of an outcome. */

import { expect, test } from "vitest";
import { type FailedOutcome, outcomeText } from "./outcome.ts";

function failed(name: string, reason: string, message: string, retryable: boolean): FailedOutcome {
  return { handoff: null, status: "failed", code: 500, name, error: { reason, message }, retryable };
}

test.each([
  [
    failed("agent_failed", "no_topic", "No such topic.", false),
    "500 agent_failed (no_topic): No such topic. Trying the same again does not help.",
  ],
  [
    failed("agent_lost", "agent_lost", "the worker is gone ", true),
    "500 agent_lost: the worker is gone. Trying again may help.",
  ],
])("it is sentences, and says nothing twice (%#)", (outcome, text) =>
  expect(outcomeText(outcome)).toBe(`The handoff ended as failed: ${text}`),
);
