/** What the headers of a request say, read strictly: two readers of one request must not understand it differently. */

import type { IncomingMessage } from "node:http";
import { Problem } from "../../problem.ts";

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
