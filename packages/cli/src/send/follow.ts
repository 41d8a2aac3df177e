/** From accepted to the end: the line on stderr, streamed text and the output on stdout. */

import type { Handle } from "@handfast/client";
import type { HandoffView } from "@handfast/protocol/wire";
import type { Terminal } from "../terminal.ts";
import type { Timeline } from "./timeline.ts";

export interface Following {
  readonly handle: Handle;
  readonly timeline: Timeline;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** Streamed text is written as it comes. */
  readonly streams: boolean;
}

export async function follow(following: Following): Promise<HandoffView> {
  const { handle, timeline, terminal, signal } = following;
  const over = new AbortController();
  const both = AbortSignal.any([signal, over.signal]);
  const acknowledged = handle.acknowledged({ signal: both }).then(
    (view) => timeline.mark(`acknowledged by ${view.lease?.agent ?? view.outcome?.agent ?? "an agent"}`),
    // That it ended before is told by the outcome.
    () => undefined,
  );
  const progress = showProgress(following, both);
  const streamed = following.streams ? showChunks(following) : Promise.resolve(null);
  // Told by the outcome too; it is awaited below.
  streamed.catch(() => undefined);
  try {
    const view = await handle.outcome({ signal });
    const at = performance.now();
    await acknowledged;
    const text = await streamed;
    timeline.mark(view.state, at);
    if (text !== null && !text.endsWith("\n")) terminal.raw("\n");
    timeline.end();
    printOutput(terminal, view, text);
    return view;
  } finally {
    over.abort();
    await progress;
  }
}

/** Progress is a courtesy: without it the outcome comes all the same. */
async function showProgress({ handle, timeline }: Following, signal: AbortSignal): Promise<void> {
  try {
    for await (const event of handle.events({ signal })) {
      if (event.type === "progress" && "fraction" in event) timeline.progress(event.fraction, event.note);
    }
  } catch {
    // The signal, or a relay that is away: the wait for the outcome tells.
  }
}

/** What was written; null: nothing. */
async function showChunks({ handle, timeline, terminal, signal }: Following): Promise<string | null> {
  let text: string | null = null;
  const onRestart = () => {
    if (text !== null) terminal.note("\nAnother attempt began; its text follows.");
    text = null;
  };
  for await (const chunk of handle.chunks({ signal, onRestart })) {
    if (text === null) timeline.pause();
    text = (text ?? "") + chunk;
    terminal.raw(chunk);
  }
  return text;
}

/** Not a second time what was streamed already. */
function printOutput(terminal: Terminal, view: HandoffView, streamed: string | null): void {
  if (terminal.json || view.state !== "completed" || view.outcome === null) return;
  const { output, text, base64, payload } = view.outcome;
  if (base64 !== undefined) return printBytes(terminal, Buffer.from(base64, "base64"), payload?.media_type ?? "bytes");
  if (text === undefined && output === undefined) return;
  const shown = text ?? (terminal.outIsTty ? JSON.stringify(output, null, 2) : JSON.stringify(output));
  if (shown === "" || shown.trimEnd() === streamed?.trimEnd()) return;
  terminal.raw(shown.endsWith("\n") ? shown : `${shown}\n`);
}

function printBytes(terminal: Terminal, bytes: Uint8Array, media_type: string): void {
  if (!terminal.outIsTty) return terminal.bytes(bytes);
  terminal.note(`The output is ${bytes.length} bytes of ${media_type}; send stdout into a file to have them.`);
}
