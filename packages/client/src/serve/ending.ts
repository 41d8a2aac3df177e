/** What a handler's end means for its handoff: an output, a failure with or without another attempt, or a refusal. */

import type { OutcomeError } from "@handfast/protocol";
import { protocolLimits } from "@handfast/protocol/client";
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
  try {
    return endingOfReadable(thrown);
  } catch {
    return failed(outcomeError("handler_error", messageOf(thrown)), true);
  }
}

/** Throws for what cannot even be looked at, such as a proxy that was revoked. */
function endingOfReadable(thrown: unknown): Ending {
  if (thrown instanceof Reject) return { kind: "rejected", error: outcomeError(thrown.reason, messageOf(thrown)) };
  if (thrown instanceof Fail) return failed(outcomeError(thrown.reason, messageOf(thrown), thrown.detail), false);
  if (thrown instanceof Retry) {
    const { after_ms } = thrown;
    const error = outcomeError("retry", messageOf(thrown));
    return {
      kind: "failed",
      failure: { error, retryable: true, ...(after_ms === null ? {} : retryAfter(after_ms)) },
    };
  }
  if (thrown instanceof HandfastError) return failed(outcomeError(thrown.reason, messageOf(thrown)), thrown.retryable);
  return failed(outcomeError("handler_error", messageOf(thrown)), true);
}

/** The longest pause there is stands for every longer one. */
function retryAfter(after_ms: number): { readonly retry_after_ms?: number } {
  return after_ms < 1 ? {} : { retry_after_ms: Math.min(Math.ceil(after_ms), protocolLimits.duration_ms) };
}

/** Whether the handler said what is to become of its handoff. */
export function isVerdict(thrown: unknown): boolean {
  try {
    return [Reject, Fail, Retry].some((verdict) => thrown instanceof verdict);
  } catch {
    return false;
  }
}

/** A failure in the fewest words; null: it has no fewer. `has_more`: something was to be said beside it. */
export function plainest(ending: Ending, has_more: boolean): Ending | null {
  if (ending.kind !== "failed" && ending.kind !== "rejected") return null;
  const { error, retry_after_ms } =
    ending.kind === "failed" ? ending.failure : { ...ending, retry_after_ms: undefined };
  if (!has_more && error.detail === undefined && retry_after_ms === undefined) return null;
  return ending.kind === "failed"
    ? failed(bare(error), ending.failure.retryable)
    : { kind: "rejected", error: bare(error) };
}

function bare({ reason, message }: OutcomeError): OutcomeError {
  return { reason, message };
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
