/** What a completed handoff came to: JSON as its value, text as a string, anything else as bytes. */

import type { HandoffView } from "@handfast/protocol/wire";
import { fromBase64 } from "../payload.ts";
import { outputGone } from "./faults.ts";

/** Undefined for a notice, which ends without an output. */
export function outputOf(view: HandoffView): unknown {
  const { outcome } = view;
  if (outcome === null || outcome.payload === null) return undefined;
  if ("output" in outcome) return outcome.output;
  if (outcome.text !== undefined) return outcome.text;
  if (outcome.base64 !== undefined) return fromBase64(outcome.base64);
  throw outputGone(view);
}
