/** Streams of one handoff: its events, and the text that its worker writes. */

import type { HandoffEvent } from "@handfast/protocol/wire";
import type { Base } from "../base.ts";
import type { ChunkOptions, Chunks, FollowedEvent, ProgressEvent } from "./api.ts";
import { iterable } from "./iterable.ts";
import { sendLimits } from "./limits.ts";
import type { Sender } from "./sender.ts";

/** The handoff lives on where the relay is away: it may be back any time until the deadline. */
function streamPatience({ surroundings }: Base, deadline_at: number | null): number {
  const left_ms = (deadline_at ?? 0) - surroundings.now();
  return Math.max(sendLimits.stream_patience_ms, left_ms + sendLimits.past_deadline_ms);
}

/** From the first event to the handoff's end. */
export async function* followEvents(
  base: Base,
  id: string,
  deadline_at: number | null,
  signal: AbortSignal,
): AsyncGenerator<FollowedEvent, void, undefined> {
  const patience_ms = streamPatience(base, deadline_at);
  const stream = base.link.stream("handoff_events", { params: { id } }, { signal, patience_ms });
  for await (const { event, data } of stream) {
    if (event === "progress") yield { ...(data as ProgressEvent), type: "progress" };
    // A snapshot stands for events that the log no longer has: there is none to tell.
    else if (event !== "snapshot") yield data as HandoffEvent;
  }
}

interface ChunkEvent {
  readonly fence: number;
  readonly offset: number;
  readonly text: string;
}

export class ChunkStream implements Chunks {
  readonly #sender: Sender;
  readonly #id: string;
  readonly #options: ChunkOptions;
  readonly #explain: (error: unknown) => unknown;
  readonly #deadlineAt: () => number | null;

  constructor(
    sender: Sender,
    id: string,
    options: ChunkOptions,
    explain: (error: unknown) => unknown,
    deadlineAt: () => number | null,
  ) {
    this.#sender = sender;
    this.#id = id;
    this.#options = options;
    this.#explain = explain;
    this.#deadlineAt = deadlineAt;
  }

  [Symbol.asyncIterator](): AsyncIterator<string, void, undefined> {
    return this.#pieces(this.#options.onRestart ?? (() => {}))[Symbol.asyncIterator]();
  }

  async text(): Promise<string> {
    let text = "";
    const anew = () => {
      text = "";
    };
    for await (const piece of this.#pieces(anew)) text += piece;
    return text;
  }

  #pieces(onRestart: () => void): AsyncIterable<string> {
    const { base, parent } = this.#sender;
    return iterable((signal) => this.#texts(signal, onRestart), this.#options.signal, parent?.signal, base.closed);
  }

  /** A greater fence is another attempt, which writes its own text from 0 on; what was said is never said again. */
  async *#texts(signal: AbortSignal, onRestart: () => void): AsyncGenerator<string, void, undefined> {
    let fence: number | null = null;
    let next = 0;
    const { base } = this.#sender;
    const patience_ms = streamPatience(base, this.#deadlineAt());
    const stream = base.link.stream("read_chunks", { params: { id: this.#id } }, { signal, patience_ms });
    try {
      for await (const { event, data } of stream) {
        if (event !== "chunk") continue;
        const chunk = data as ChunkEvent;
        if (fence !== null && chunk.fence !== fence) {
          next = 0;
          onRestart();
        }
        ({ fence } = chunk);
        const fresh = chunk.text.slice(Math.max(0, next - chunk.offset));
        next = Math.max(next, chunk.offset + chunk.text.length);
        if (fresh !== "") yield fresh;
      }
    } catch (error) {
      throw this.#explain(error);
    }
  }
}
