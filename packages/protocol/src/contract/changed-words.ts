/** What of a capability is not as it was agreed on, as the relay's refusals and the command line say it. */

import type { ContractView } from "../wire/contracts.ts";

/** Values longer than this say less in a sentence than their name alone. */
const shown_chars = 60;

/** "timeout_seconds 10 -> 20, output_schema". */
export function changedWords(changed: readonly ContractView["changed"][number][]): string {
  const words = changed.map(({ field, from, to }) => {
    const [before, after] = [valueWords(from), valueWords(to)];
    return before.length + after.length > shown_chars ? field : `${field} ${before} -> ${after}`;
  });
  return words.join(", ");
}

function valueWords(value: unknown): string {
  return value === undefined ? "none" : JSON.stringify(value);
}
