import { describe, expect, test } from "vitest";
import { Resume } from "./resume.ts";
import { byteLength, keyCount, type WsCall } from "./ws-call.ts";
import { WsOutbox } from "./ws-outbox.ts";
import { StreamFeed } from "./ws-stream.ts";

let last = 0;

function call(more: Partial<WsCall> = {}): WsCall {
  last += 1;
  return {
    n: last,
    is_vital: false,
    is_act: true,
    is_bound: false,
    text: () => "}",
    bytes: 100,
    keys: 1,
    handoff: null,
    documents: [],
    began_at: 0,
    patience_ms: 1,
    reply: () => {},
    event: () => {},
    reject: () => {},
    ...more,
  };
}

function hello(limits: { frame_bytes?: number; frame_calls?: number; calls_in_flight?: number }) {
  return {
    agent: "ann",
    expires_in_ms: null,
    limits: { frame_bytes: 16_000_000, frame_calls: 1_024, calls_in_flight: 4_096, ...limits },
  };
}

function filled(count: number, more: Partial<WsCall> = {}): WsOutbox {
  const outbox = new WsOutbox();
  for (let i = 0; i < count; i++) outbox.add(call(more));
  return outbox;
}

describe("a frame", () => {
  test("holds no more calls than the relay takes, and the rest goes into the next", () => {
    const outbox = filled(25);
    const counts = [1, 2, 3, 4].map(() => outbox.next(hello({ frame_calls: 10 })).calls.length);
    expect(counts).toEqual([10, 10, 5, 0]);
  });

  test("holds no more bytes than the relay takes, but always one call", () => {
    const outbox = filled(10, { bytes: 3_000 });
    expect(outbox.next(hello({ frame_bytes: 8_000 })).calls).toHaveLength(2);
    expect(filled(1, { bytes: 9_000 }).next(hello({ frame_bytes: 8_000 })).calls).toHaveLength(1);
  });

  test("is never larger than is good for what waits behind it, whatever the relay takes", () => {
    expect(filled(10, { bytes: 3_000_000 }).next(hello({ frame_bytes: 100_000_000 })).calls).toHaveLength(2);
  });

  test("holds no more keys than a relay reads", () => {
    expect(filled(8, { keys: 80_000 }).next(hello({})).calls).toHaveLength(2);
  });

  test("holds no more documents than one signature may cover", () => {
    const documents = Array(1_000).fill({ typ: "handoff", document: "{}" });
    expect(filled(10, { documents }).next(hello({})).calls).toHaveLength(4);
  });

  test("brings the acts of a worker first, and they find room where waits have taken all of theirs", () => {
    const outbox = filled(100, { is_act: false });
    const limits = hello({ calls_in_flight: 20 });
    expect(outbox.next(limits).calls).toHaveLength(10);
    expect(outbox.next(limits).calls).toHaveLength(0);
    const vital = call({ is_vital: true });
    outbox.add(vital);
    expect(outbox.next(limits).calls).toEqual([vital]);
  });

  test("tells what is abandoned, where the relay knows of it", () => {
    const outbox = new WsOutbox();
    const [sent, unsent] = [call(), call()];
    outbox.add(sent);
    outbox.next(hello({}));
    outbox.add(unsent);
    outbox.abandon(sent);
    outbox.abandon(unsent);
    expect(outbox.next(hello({}))).toMatchObject({ calls: [], abandoned: [sent.n] });
    expect(outbox.size).toBe(0);
  });
});

test("after a break everything unanswered is sent again, in its order, and nothing else", () => {
  const outbox = new WsOutbox();
  const calls = [call(), call({ is_vital: true }), call(), call()];
  for (const each of calls) outbox.add(each);
  outbox.next(hello({}));
  const [first, vital, answered, abandoned] = calls as [WsCall, WsCall, WsCall, WsCall];
  outbox.done(answered);
  outbox.abandon(abandoned);
  outbox.unsend();
  expect(outbox.next(hello({}))).toMatchObject({ calls: [vital, first], abandoned: [] });
});

test("a stream says when its reader does not keep up", async () => {
  const feed = new StreamFeed(new Resume("handoff_events"));
  const event = (id: number) => ({ event: "progress", id: String(id), data: id });
  const kept = Array.from({ length: 1_000 }, (_, id) => feed.push(event(id)));
  expect(kept.indexOf(false)).toBe(999);
  expect(await feed.next()).toHaveLength(1_000);
  expect(feed.push(event(1_000))).toBe(true);
});

describe("where the relay refused a frame", () => {
  function refusedOnce() {
    const outbox = new WsOutbox();
    const [first, second, vital, unsent] = [call(), call(), call({ is_vital: true }), call()] as const;
    for (const each of [first, second, vital]) outbox.add(each);
    outbox.next(hello({}));
    outbox.add(unsent);
    expect(outbox.refused()).toBeNull();
    outbox.unsend();
    return { outbox, first, second, vital, unsent };
  }

  test("each call of it goes alone, the next when the relay has taken it, and then everything else", () => {
    const { outbox, first, second, vital, unsent } = refusedOnce();
    for (const expected of [vital, first, second]) {
      expect(outbox.next(hello({}))).toMatchObject({ calls: [expected], is_trial: true });
      expect(outbox.next(hello({})).calls).toEqual([]);
      outbox.taken();
    }
    expect(outbox.next(hello({}))).toMatchObject({ calls: [unsent], is_trial: false });
  });

  test("only the call that the relay refuses alone is to blame", () => {
    const { outbox, first, second, vital } = refusedOnce();
    outbox.next(hello({}));
    outbox.taken();
    outbox.next(hello({}));
    expect(outbox.refused()).toBe(first);
    outbox.done(first);
    outbox.unsend();
    // What was taken once is not suspected again.
    expect(outbox.next(hello({})).calls).toEqual([vital]);
    outbox.taken();
    expect(outbox.next(hello({})).calls).toEqual([second]);
  });

  test("the acts of a worker that nobody suspects do not wait for the trial of others", () => {
    const { outbox } = refusedOnce();
    const beats = [call({ is_vital: true }), call({ is_vital: true })];
    for (const each of beats) outbox.add(each);
    expect(outbox.next(hello({})).calls).toEqual(beats);
  });
});

test("a text is never counted shorter than it is on the wire", () => {
  for (const text of ["abc", "漢".repeat(10), "漢".repeat(1_000), "a".repeat(5_000), "🙂".repeat(500), ""]) {
    expect(byteLength(text)).toBeGreaterThanOrEqual(Buffer.byteLength(text));
  }
  expect(byteLength("漢".repeat(1_000))).toBe(3_000);
  expect(keyCount(JSON.stringify({ a: { b: [{ c: 1 }] } }))).toBe(3);
});
