/** What came of a check over one transport, and of all of them. */

import type { AboutRelay } from "@handfast/protocol/wire";
import type { Check, Transport } from "../check.ts";
import type { Exchange } from "../stage/journal.ts";

/** What the specification says, what came instead, and what was said before that. */
export interface Failure {
  readonly expected: string;
  readonly got: string;
  readonly exchanges: readonly Exchange[];
}

/** What is expected of a check itself: where it comes to grief, the relay is not to blame. */
export const mistake = "a check that runs to its end";

export type Verdict =
  /** More than one try: the relay stood still during those before. */
  | { readonly outcome: "kept"; readonly took_ms: number; readonly tries: number }
  | { readonly outcome: "broken"; readonly took_ms: number; readonly failure: Failure }
  /** The relay does not offer what the promise is about. */
  | { readonly outcome: "skipped"; readonly reason: string }
  /** The suite was not given what it needs for it, or could not go on. */
  | { readonly outcome: "not_tried"; readonly reason: string };

export interface Tried {
  readonly check: Check;
  readonly transport: Transport;
  readonly verdict: Verdict;
}

export interface ConformanceReport {
  readonly url: string;
  readonly about: AboutRelay;
  readonly took_ms: number;
  readonly tried: readonly Tried[];
  /** Why something was not tried that should have been: the relay went away, a restart failed. Null: all of it was. */
  readonly cut_short: string | null;
}

/** Of a promise over all transports: broken by one, it is broken. */
export function outcomeOf(verdicts: readonly Verdict[]): Verdict["outcome"] {
  const order = ["broken", "kept", "not_tried", "skipped"] as const;
  return order.find((outcome) => verdicts.some((verdict) => verdict.outcome === outcome)) ?? "skipped";
}
