/** Waits for handoffs: until they have ended, one asks something, or the time is over. No wait cancels anything. */

import type { Client, Handle } from "@handfast/client";
import { hasEnded, openQuestion, type Told, told } from "../told.ts";

export interface Wait {
  readonly wait_ms: number;
  /** Enough when one has ended. */
  readonly any?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onNews?: ((news: Told) => void) | undefined;
}

/** How each stands when the wait is over, in the order of the handles. */
export async function waitFor(client: Client, handles: readonly Handle[], wait: Wait): Promise<readonly Told[]> {
  const over = new AbortController();
  const stop = () => over.abort();
  const timer = setTimeout(stop, wait.wait_ms);
  wait.signal?.addEventListener("abort", stop, { once: true });
  try {
    const ended = handles.map((handle) => follow(client, handle, over.signal, wait.onNews, stop));
    if (wait.any === true) await Promise.race([...ended, aborted(over.signal)]);
    else await Promise.all(ended);
  } finally {
    clearTimeout(timer);
    wait.signal?.removeEventListener("abort", stop);
    stop();
  }
  return Promise.all(handles.map((handle) => look(client, handle)));
}

export async function look(client: Client, handle: Handle): Promise<Told> {
  const view = await handle.status();
  return told(view, await openQuestion(client, view));
}

/** Resolves at the end of the handoff or of the wait, whichever comes first; a question ends the wait. */
async function follow(
  client: Client,
  handle: Handle,
  over: AbortSignal,
  onNews: Wait["onNews"],
  stop: () => void,
): Promise<void> {
  try {
    for await (const event of handle.events({ signal: over })) {
      if (event.type === "asked" && (await isAsked(client, handle))) return stop();
      if (event.type === "acknowledged" || event.type === "progress") onNews?.(await look(client, handle));
    }
  } catch (error) {
    if (!over.aborted) throw error;
  }
}

/** The stream begins with what was long ago: a question may have its answer. */
async function isAsked(client: Client, handle: Handle): Promise<boolean> {
  const view = await handle.status();
  return !hasEnded(view) && (await openQuestion(client, view)) !== null;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
