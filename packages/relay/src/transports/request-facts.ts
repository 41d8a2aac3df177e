/** What a request says of itself besides its parts, in a header or beside them in a frame: read by the same rules. */

import { fields } from "@handfast/protocol";
import { Problem } from "../problem.ts";
import { fitter } from "../schemas/fit.ts";

const fitKey = fitter(fields.text_id, "body");

export function idempotencyKeyOf(said: unknown): string | null {
  if (said === undefined) return null;
  try {
    fitKey(said);
  } catch {
    const detail = "The Idempotency-Key must have 1 to 256 characters, none of them a control character.";
    throw new Problem(400, "idempotency_key", detail, { fields: ["Idempotency-Key"] });
  }
  return String(said);
}

const shape = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** One that is malformed is no fault of the call: W3C Trace Context has it ignored. */
export function traceparentOf(said: unknown): string | null {
  return typeof said === "string" && shape.test(said) ? said : null;
}
