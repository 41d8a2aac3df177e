/** The engine could not carry a call out; the handoff itself said nothing. */

import type { Duration } from "@handfast/core";

export class EngineFault extends Error {
  readonly code: 429 | 500 | 507;
  readonly reason: string;
  readonly retry_after_ms: Duration;

  constructor(code: 429 | 500 | 507, reason: string, message: string, retry_after_ms: Duration = 1_000) {
    super(message);
    this.name = "EngineFault";
    this.code = code;
    this.reason = reason;
    this.retry_after_ms = retry_after_ms;
  }
}

export const outOfSpace = () =>
  new EngineFault(507, "out_of_space", "the relay's disk is nearly full; open handoffs can still end", 30_000);

export const stopped = () => new EngineFault(429, "stopping", "the relay is stopping; try again in a moment");

export const commitUnknown = () =>
  new EngineFault(500, "commit_unknown", "the relay could not confirm this on disk; ask again with the same id");
