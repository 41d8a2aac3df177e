/** From accepted to the end: how it goes on stderr, streamed text and the output on stdout. */

import { setTimeout as pause } from "node:timers/promises";
import type { Client, Handle } from "@handfast/client";
import type { HandoffView } from "@handfast/protocol/wire";
import type { Terminal } from "../terminal.ts";
import { News } from "./news.ts";
import type { Timeline } from "./timeline.ts";

export interface Following {
  readonly client: Client;
  readonly handle: Handle;
  readonly timeline: Timeline;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** Streamed text is written as it comes. */
  readonly streams: boolean;
}

/** The events end with the handoff; should they be late, the outcome does not wait for them longer than this. */
const news_late_ms = 1_000;

export async function follow(following: Following): Promise<HandoffView> {
  const { handle, timeline, terminal, signal } = following;
  const over = new AbortController();
  const news = new News(following, AbortSignal.any([signal, over.signal]));
  const told = news.follow();
  const streamed = following.streams ? showChunks(following) : Promise.resolve(null);
  // Told by the outcome too; it is awaited below.
  streamed.catch(() => undefined);
  try {
    const view = await handle.outcome({ signal });
    const at = performance.now();
    await Promise.race([told, pause(news_late_ms, undefined, { signal: over.signal }).catch(() => undefined)]);
    const text = await streamed;
    news.end(view);
    timeline.mark(view.state, at);
    if (view.attempts > 1) timeline.add(`${view.attempts} attempts`);
    if (text !== null && !text.endsWith("\n") && timeline.isInText) terminal.raw("\n");
    timeline.end();
    printOutput(terminal, view, text);
    return view;
  } finally {
    over.abort();
    await told;
  }
}

/** What was written; null: nothing. */
async function showChunks({ handle, timeline, terminal, signal }: Following): Promise<string | null> {
  let text: string | null = null;
  const onRestart = () => {
    if (text !== null) timeline.tell("Another attempt began; its text follows.");
    text = null;
  };
  for await (const chunk of handle.chunks({ signal, onRestart })) {
    text = (text ?? "") + chunk;
    timeline.streamed(text);
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
