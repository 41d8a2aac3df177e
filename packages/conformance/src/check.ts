/** A check: one test of one promise of the specification, over one transport or both. */

import type { Stage } from "./stage/stage.ts";

export type Transport = "http" | "websocket";

/** What a check needs besides a relay that answers; see docs/conformance.md. */
export type Need =
  /** A credential of the operator. */
  | "operator"
  /** A way to kill the relay and start it again on its data. */
  | "restart"
  /** A second relay that keeps what has ended for seconds only. */
  | "short_lived"
  /** A way to kill that one and start it again. */
  | "short_lived_restart";

export interface Check {
  /** Stable: `FENCE-2`. What stands before the dash is shared by the checks of one section. */
  readonly id: string;
  /** The promise, in one sentence. */
  readonly promise: string;
  /** Where the specification makes it: `ids-and-idempotency.md#fences`. */
  readonly section: string;
  /** Default: both. */
  readonly over?: readonly Transport[];
  readonly needs?: readonly Need[];
  /** Features that the relay must name in `/.well-known/handfast`. */
  readonly features?: readonly string[];
  /** The promise holds in this mode of the relay only. */
  readonly mode?: "development" | "production";
  /** It waits for a clock of the relay: it is begun early, beside many others. */
  readonly waits?: true;
  readonly run: (stage: Stage) => Promise<void>;
}

const transports: readonly Transport[] = ["http", "websocket"];

export function transportsOf({ over = transports }: Check): readonly Transport[] {
  return over;
}

/** `handoffs.md` of `handoffs.md#fences`. */
export function pageOf({ section }: Pick<Check, "section">): string {
  return section.slice(0, section.indexOf("#"));
}
