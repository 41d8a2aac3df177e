import { describe, expect, it } from "vitest";
import type { StreamEvent } from "./link.ts";
import { readServerSentEvents } from "./server-sent-events.ts";

async function read(...pieces: string[]): Promise<readonly StreamEvent[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
  const events: StreamEvent[] = [];
  for await (const event of readServerSentEvents(body, new AbortController())) events.push(event);
  return events;
}

describe("a stream of server-sent events", () => {
  it("is read event by event, whatever pieces it comes in", async () => {
    const text =
      'retry: 1000\n\nevent: accepted\nid: a1\ndata: {"seq":1}\n\n: keep-alive\n\nevent: progress\ndata: {"n":2}\n\n';
    const wanted = [
      { event: "accepted", id: "a1", data: { seq: 1 } },
      { event: "progress", id: null, data: { n: 2 } },
    ];
    expect(await read(text)).toEqual(wanted);
    expect(await read(...text)).toEqual(wanted);
  });

  it("is over after `end`", async () => {
    const told = await read("event: end\ndata: {}\n\nevent: late\ndata: {}\n\n");
    expect(told.map(({ event }) => event)).toEqual(["end"]);
  });

  it("breaks a promise where its data is no JSON", async () => {
    await expect(read("event: odd\ndata: {\n\n")).rejects.toThrow(/data of an event that is JSON/);
  });
});
