/** What a handler's end means for its handoff: an output, a failure with or without another attempt, or a refusal. */

import type { OutcomeError } from "@handfast/protocol";
import type { Failure, Result } from "../acts.ts";
import { Fail, HandfastError, Reject, Retry } from "../errors.ts";
import { checkJson } from "../send/json-input.ts";
import type { Offered } from "./capabilities.ts";
import { messageOf, outcomeError } from "./faults.ts";

export type Ending =
  | { readonly kind: "completed"; readonly result: Result }
  | { readonly kind: "failed"; readonly failure: Failure }
  | { readonly kind: "rejected"; readonly error: OutcomeError }
  /** The worker stops: back to the queue, and no attempt is counted. */
  | { readonly kind: "released" };

export type Failed = Extract<Ending, { kind: "failed" }>;

export function failed(error: OutcomeError, retryable: boolean): Failed {
  return { kind: "failed", failure: { error, retryable } };
}

/** An error that a handler did not mean for us may be an accident: it is tried again. */
export function endingOfThrown(thrown: unknown): Ending {
  if (thrown instanceof Reject) return { kind: "rejected", error: outcomeError(thrown.reason, messageOf(thrown)) };
  if (thrown instanceof Fail) return failed(outcomeError(thrown.reason, messageOf(thrown), thrown.detail), false);
  if (thrown instanceof Retry) {
    const { after_ms } = thrown;
    const error = outcomeError("retry", messageOf(thrown));
    return {
      kind: "failed",
      failure: { error, retryable: true, ...(after_ms === null || after_ms < 1 ? {} : { retry_after_ms: after_ms }) },
    };
  }
  if (thrown instanceof HandfastError) return failed(outcomeError(thrown.reason, messageOf(thrown)), thrown.retryable);
  return failed(outcomeError("handler_error", messageOf(thrown)), true);
}

/** Whether the handler said what is to become of its handoff. */
export function isVerdict(thrown: unknown): boolean {
  return [Reject, Fail, Retry].some((verdict) => thrown instanceof verdict);
}

export async function endingOfReturned({ text, output: schema }: Offered, returned: unknown): Promise<Ending> {
  if (text) return { kind: "completed", result: { text: textOf(returned) } };
  const checked = schema === null ? { value: returned } : await schema.check(returned);
  if ("fault" in checked) return unfit(checked.fault);
  const output = checked.value === undefined ? null : checked.value;
  try {
    checkJson(output, "The output");
  } catch (error) {
    return failed(outcomeError("output_not_json", messageOf(error)), false);
  }
  return { kind: "completed", result: { output } };
}

/** Another attempt may do better: the outputs of models differ from run to run. */
export function unfit(fault: string): Failed {
  return failed(outcomeError("output_unfit", `The output does not fit its schema: ${fault}`), true);
}

/** What a text handler returns besides text is shown as JSON, so that nothing is lost. */
function textOf(returned: unknown): string {
  if (typeof returned === "string") return returned;
  return returned === undefined ? "" : (JSON.stringify(returned) ?? String(returned));
}
