/** Events as they come: of one handoff, of a correlation, or of everything that the caller may see. */

import { setTimeout as pause } from "node:timers/promises";
import type { Operations } from "@handfast/protocol/wire";
import { eventOf, type LogLine, readLogLines } from "../log-lines.ts";
import type { Reader } from "../relay-reads.ts";
import type { StoryEvent } from "../story-event.ts";

const wait_ms = 30_000;
const page_size = 500;

/** From its beginning until everything in it has ended. Each page is what came together. */
export async function* correlationPages(
  relay: Reader,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<readonly StoryEvent[]> {
  let cursor: string | undefined;
  for (;;) {
    const query = { limit: page_size, ...(cursor === undefined ? {} : { cursor }) };
    const page = await relay.call("correlation_events", { params: { id }, query }, { wait_ms, signal });
    if (page.events.length > 0) yield page.events;
    if (page.ended) return;
    cursor = page.cursor;
  }
}

/** The log cannot be waited for, so it is asked again this often. */
const poll_ms = 1_000;

/** Everything from now on; never ends by itself. */
export async function* logPages(
  relay: Reader,
  since: number,
  signal: AbortSignal,
): AsyncGenerator<readonly StoryEvent[]> {
  let place: Operations["log"]["query"] = { from: since };
  for (;;) {
    const lines: readonly LogLine[] = readLogLines(await relay.call("log", { query: place }, { signal }));
    const last = lines.at(-1);
    if (last !== undefined) place = { cursor: last.cursor };
    if (lines.length > 0) yield lines.map(eventOf);
    // The signal's own reason is what tells an interrupt from a fault.
    await pause(poll_ms, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}
