/** What the headers of a request say, read strictly: two readers of one request must not understand it differently. */

import type { IncomingMessage } from "node:http";
import { fields } from "@handfast/protocol";
import { Problem } from "../../problem.ts";
import { fitter } from "../../schemas/fit.ts";

/** Of two of these Node takes the first, or joins both; a proxy before it may have taken the other. */
const single: ReadonlySet<string> = new Set([
  "host",
  "authorization",
  "content-type",
  "idempotency-key",
  "last-event-id",
  "traceparent",
]);

export function checkSingleHeaders({ rawHeaders }: Pick<IncomingMessage, "rawHeaders">): void {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? "";
    if (!single.has(name)) continue;
    if (seen.has(name)) {
      throw new Problem(400, "repeated_header", `The header ${name} came more than once.`, { fields: [name] });
    }
    seen.add(name);
  }
}

const fitKey = fitter(fields.text_id, "body");

export function idempotencyKeyOf(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  try {
    fitKey(header);
  } catch {
    const detail = "The header Idempotency-Key must have 1 to 256 characters, none of them a control character.";
    throw new Problem(400, "idempotency_key", detail, { fields: ["Idempotency-Key"] });
  }
  return String(header);
}

const shape = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** One that is malformed is no fault of the call: W3C Trace Context has it ignored. */
export function traceparentOf(header: string | string[] | undefined): string | null {
  return typeof header === "string" && shape.test(header) ? header : null;
}
