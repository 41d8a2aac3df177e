/** Server-sent events, read from the pieces of a response as they come.. */

import { linkLimits } from "./limits.ts";
import type { StreamEvent } from "./link.ts";

export class SseReader {
  readonly #decoder = new TextDecoder();
  #text = "";
  #event = "message";
  #id: string | undefined;
  #data: string[] = [];

  /** The events that this piece completes. */
  read(piece: Uint8Array): StreamEvent[] {
    this.#text += this.#decoder.decode(piece, { stream: true });
    const lines = this.#text.split("\n");
    this.#text = lines.pop() ?? "";
    if (this.#text.length > linkLimits.event_chars) throw new RangeError("The stream has a line that does not end.");
    return lines.flatMap((line) => this.#line(line.replace(/\r$/, "")));
  }

  #line(line: string): StreamEvent[] {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return [];
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#event = value;
    else if (field === "id") this.#id = value;
    else if (field === "data") this.#data.push(value);
    return [];
  }

  #dispatch(): StreamEvent[] {
    const [event, id, data] = [this.#event, this.#id, this.#data];
    this.#event = "message";
    this.#id = undefined;
    this.#data = [];
    if (data.length === 0) return [];
    const value: unknown = JSON.parse(data.join("\n"));
    return [id === undefined ? { event, data: value } : { event, id, data: value }];
  }
}
