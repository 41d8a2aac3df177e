/** Long waits: a relay waits for a minute at most, so it is asked anew until there is an answer or the wait is over. */

import type { OperationName, Operations } from "@handfast/protocol/wire";
import type { Surroundings } from "../surroundings.ts";
import { linkLimits } from "./limits.ts";
import type { Call } from "./link.ts";
import { backoff, pause } from "./persist.ts";
import { isReady } from "./ready.ts";

export async function waitFor<Name extends OperationName>(
  name: Name,
  call: Call<Name>,
  whole_wait_ms: number,
  surroundings: Surroundings,
  signal: AbortSignal,
  ask: (wait_ms: number) => Promise<Operations[Name]["reply"]>,
): Promise<Operations[Name]["reply"]> {
  const until = surroundings.now() + whole_wait_ms;
  for (;;) {
    const asked_at = surroundings.now();
    const wait_ms = Math.min(Math.max(0, until - asked_at), linkLimits.wait_most_ms);
    const reply = await ask(wait_ms);
    const now = surroundings.now();
    if (now >= until || isReady(name, call, reply)) return reply;
    // A relay that stops answers its waits early: come back in a moment, not at once.
    if (now - asked_at < wait_ms) await pause(surroundings, backoff(1, surroundings), signal);
  }
}
