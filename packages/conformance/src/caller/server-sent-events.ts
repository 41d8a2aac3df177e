/** A stream of server-sent events, read as the specification of the format has it. */

import { parseJson, Unreached } from "../broken.ts";
import type { EventStream, StreamEvent } from "./link.ts";

/** `ended` aborts the request behind it. */
export function readServerSentEvents(body: ReadableStream<Uint8Array>, ended: AbortController): EventStream {
  return {
    close: () => ended.abort(),
    async *[Symbol.asyncIterator]() {
      for await (const block of blocks(body, ended.signal)) {
        const event = readBlock(block);
        if (event === null) continue;
        yield event;
        if (event.event === "end") return ended.abort();
      }
    },
  };
}

/** What stands between two empty lines. */
async function* blocks(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const piece of body) {
      rest += decoder.decode(piece, { stream: true });
      const parts = rest.split(/\r?\n\r?\n/);
      rest = parts.pop() ?? "";
      yield* parts;
    }
  } catch (error) {
    if (!signal.aborted) throw new Unreached(`the stream broke off: ${error instanceof Error ? error.message : error}`);
  }
}

/** Null: it was a comment, or says only when to come back. */
function readBlock(block: string): StreamEvent | null {
  const fields = new Map<string, string[]>();
  for (const line of block.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    fields.set(name, [...(fields.get(name) ?? []), value]);
  }
  const data = fields.get("data");
  if (data === undefined) return null;
  return {
    event: fields.get("event")?.at(-1) ?? "message",
    id: fields.get("id")?.at(-1) ?? null,
    data: parseJson(data.join("\n"), "the data of an event"),
  };
}
