import { describe, expect, test } from "vitest";
import type { StreamEvent } from "./link.ts";
import { Resume } from "./resume.ts";
import { SseReader } from "./sse.ts";

const chunk = (fence: number, offset: number, text: string): StreamEvent => ({
  event: "chunk",
  id: String(offset + text.length),
  data: { fence, offset, text },
});
const textOf = (event: StreamEvent | null) => (event === null ? null : (event.data as { text: string }).text);

describe("a stream of events that breaks", () => {
  test("goes on after the last id; what has none does not move it", () => {
    const resume = new Resume("handoff_events");
    expect(resume.last_event_id).toBeUndefined();
    resume.take({ event: "accepted", id: "a", data: {} });
    resume.take({ event: "progress", data: {} });
    expect(resume.last_event_id).toBe("a");
  });

  test("whose place in the log is gone goes on from the snapshot", () => {
    const resume = new Resume("handoff_events");
    const problem = { code: 410, reason: "cursor_too_old", detail: "", cursor: "z", snapshot: [{ id: "x" }] };
    expect(resume.jump(problem)).toEqual({ event: "snapshot", id: "z", data: [{ id: "x" }] });
    expect(resume.last_event_id).toBe("z");
  });
});

describe("a stream of chunks that breaks", () => {
  test("is asked for from its start, and what was seen is left out", () => {
    const resume = new Resume("read_chunks");
    expect(resume.query({ offset: 3 })).toEqual({ offset: 3 });
    expect(textOf(resume.take(chunk(1, 0, "hello")))).toBe("hello");
    expect(resume.query({ offset: 3 })).toEqual({ offset: 0 });
    expect(textOf(resume.take(chunk(1, 0, "hello wor")))).toBe(" wor");
    expect(resume.take(chunk(1, 0, "hello"))).toBeNull();
    expect(textOf(resume.take(chunk(1, 9, "ld")))).toBe("ld");
  });

  test("tells another attempt's text whole, though it is shorter than what was seen", () => {
    const resume = new Resume("read_chunks");
    resume.take(chunk(1, 0, "a long text of the first attempt"));
    expect(textOf(resume.take(chunk(2, 0, "short")))).toBe("short");
    expect(textOf(resume.take(chunk(2, 5, " and more")))).toBe(" and more");
  });
});

describe("server-sent events", () => {
  test("are read whatever the pieces are they come in", () => {
    const text = 'retry: 1000\n\n: keep-alive\n\nevent: accepted\nid: ZTE\ndata: {"a":"ü"}\n\nevent: end\ndata: {}\n\n';
    const bytes = new TextEncoder().encode(text);
    for (const size of [1, 2, 7, bytes.length]) {
      const reader = new SseReader();
      const events: StreamEvent[] = [];
      for (let at = 0; at < bytes.length; at += size) events.push(...reader.read(bytes.subarray(at, at + size)));
      expect(events).toEqual([
        { event: "accepted", id: "ZTE", data: { a: "ü" } },
        { event: "end", data: {} },
      ]);
    }
  });
});
