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

/** It was not even begun, since there is no store to take it to. */
export const storeAway = () =>
  new EngineFault(500, "store_away", "the relay cannot reach its database; it tries again by itself", 2_000);

/** Whether a store says that it cannot be reached now, or must be recovered first: time may mend it, and it was nobody's mistake. */
export function isAway(error: unknown): error is Error {
  return error instanceof Error && "is_away" in error && error.is_away === true;
}

/** Whether a store says that this is not done through the relay, but by tools of its own. */
export function isElsewhere(error: unknown): error is Error {
  return error instanceof Error && "is_elsewhere" in error && error.is_elsewhere === true;
}

/** False: what it was about was changed by somebody else each time. */
export async function unlessConflict(asked: Promise<boolean>): Promise<boolean> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof EngineFault && error.reason === "conflict") return false;
    throw error;
  }
}

export const commitUnknown = () =>
  new EngineFault(500, "commit_unknown", "the relay could not confirm this on disk; ask again with the same id");
