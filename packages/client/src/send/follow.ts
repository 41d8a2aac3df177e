/** Streams of one handoff: its events, and the text that its worker writes. */

import type { HandoffEvent } from "@handfast/protocol/wire";
import type { Base } from "../base.ts";
import type { ChunkOptions, Chunks, FollowedEvent, ProgressEvent } from "./api.ts";
import { iterable } from "./iterable.ts";
import type { Sender } from "./sender.ts";

/** From the first event to the handoff's end. */
export async function* followEvents(
  base: Base,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<FollowedEvent, void, undefined> {
  for await (const { event, data } of base.link.stream("handoff_events", { params: { id } }, { signal })) {
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

  constructor(sender: Sender, id: string, options: ChunkOptions, explain: (error: unknown) => unknown) {
    this.#sender = sender;
    this.#id = id;
    this.#options = options;
    this.#explain = explain;
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
    const stream = this.#sender.base.link.stream("read_chunks", { params: { id: this.#id } }, { signal });
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
