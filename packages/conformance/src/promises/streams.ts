/** events.md, "Server-sent events"; a WebSocket streams the same, without the text around it. */

import { HttpLink } from "../caller/http-link.ts";
import type { EventStream, StreamEvent } from "../caller/link.ts";
import type { Check } from "../check.ts";
import { completed, sent, working } from "../stage/scenes.ts";
import type { Stage } from "../stage/stage.ts";

const section = "events.md#server-sent-events";
const features = ["sse"];

/** Everything up to the end, or up to an event of this type. */
async function read(stream: EventStream, upTo = "end"): Promise<readonly StreamEvent[]> {
  const events: StreamEvent[] = [];
  for await (const event of stream) {
    events.push(event);
    if (event.event === upTo) break;
  }
  stream.close();
  return events;
}

const withoutProgress = (events: readonly StreamEvent[]) => events.filter(({ event }) => event !== "progress");
const typesOf = (events: readonly StreamEvent[]) => withoutProgress(events).map(({ event }) => event);

/** The text of a stream as it comes over HTTP, up to what is looked for. */
async function rawText(t: Stage, agent: { readonly link: unknown }, id: string, until: RegExp, within_ms: number) {
  if (!(agent.link instanceof HttpLink)) throw new Error("only over HTTP is there a text");
  const ended = new AbortController();
  const timer = setTimeout(() => ended.abort(), within_ms);
  let text = "";
  try {
    const parts = { params: { id }, signal: ended.signal };
    const response = await agent.link.fetch("handoff_events", parts, { accept: "text/event-stream" });
    const type = response.headers.get("content-type") ?? "";
    t.that(type.startsWith("text/event-stream"), "text/event-stream", type);
    const decoder = new TextDecoder();
    for await (const piece of response.body ?? []) {
      text += decoder.decode(piece, { stream: true });
      if (until.test(text)) break;
    }
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    ended.abort();
  }
  return text;
}

export const streams: readonly Check[] = [
  {
    id: "STREAM-1",
    promise: "A stream tells every event of a handoff in order, and `end` last, after everything was told.",
    section,
    features,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await sent(pair);
      const stream = await pair.sender.stream("handoff_events", { params: { id } });
      const reading = read(stream);
      const lease = await pair.worker.lease();
      await pair.worker.act("ack", lease);
      await pair.worker.act("complete", lease, { output: 1 });
      const told = await reading;
      t.equal(typesOf(told), ["accepted", "delivered", "acknowledged", "completed", "end"], "what the stream told");
      t.equal(told.at(-1)?.data, { id, state: "completed", code: 200 }, "the data of `end`");
      const logged = await pair.sender.events(id);
      t.equal(
        withoutProgress(told)
          .slice(0, -1)
          .map(({ data }) => data),
        logged,
        "the data of the events",
      );
    },
  },
  {
    id: "STREAM-2",
    promise: "Whoever comes back with the last id goes on without a gap and without a repeat.",
    section,
    features,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await completed(pair);
      const all = await read(await pair.sender.stream("handoff_events", { params: { id } }));
      for (const [index, { id: last_event_id, event }] of all.entries()) {
        if (last_event_id === null) continue;
        const rest = await read(await pair.sender.stream("handoff_events", { params: { id }, last_event_id }));
        t.equal(typesOf(rest), typesOf(all.slice(index + 1)), `what follows ${event}`);
      }
    },
  },
  {
    id: "STREAM-3",
    promise: "What has no cursor has no id: progress and `end` never move the reader's place.",
    section,
    features,
    run: async (t) => {
      const pair = await t.pair();
      const lease = await working(pair);
      const told: StreamEvent[] = [];
      for await (const event of await pair.sender.stream("handoff_events", { params: { id: lease.id } })) {
        told.push(event);
        const progress = { fraction: 0.4, note: "reading" };
        if (event.event === "acknowledged") await pair.worker.act("heartbeat", lease, { progress });
        if (event.event === "progress") await pair.worker.act("complete", lease, { output: 1 });
      }
      const progress = told.find(({ event }) => event === "progress");
      t.that(progress !== undefined, "progress in the stream", typesOf(told));
      const { handoff, code, fraction, note }: Record<string, unknown> = Object(progress?.data);
      t.equal(
        { handoff, code, fraction, note },
        { handoff: lease.id, code: 212, fraction: 0.4, note: "reading" },
        "the progress",
      );
      const named = told.filter(({ id }) => id !== null).map(({ event }) => event);
      t.equal(named, ["accepted", "delivered", "acknowledged", "completed"], "what has an id");
    },
  },
  {
    id: "STREAM-4",
    promise: "A stream of a correlation goes on until every handoff of it has ended.",
    section,
    features,
    run: async (t) => {
      const pair = await t.pair();
      const correlation_id = t.name("group");
      await sent(pair, { correlation_id });
      await sent(pair, { correlation_id, input: { n: 2 } });
      const stream = await pair.sender.stream("correlation_events", { params: { id: correlation_id } });
      const reading = read(stream);
      const [one, two] = [await pair.worker.lease(), await pair.worker.lease()];
      await pair.worker.act("complete", one, { output: 1 });
      await t.pause(500);
      await pair.worker.act("complete", two, { output: 2 });
      const told = await reading;
      t.equal(typesOf(told).filter((type) => type === "completed").length, 2, "the ends in the stream");
      t.equal(told.at(-1)?.event, "end", "the last of the stream");
    },
  },
  {
    id: "STREAM-5",
    promise: "Each event has its type in `event:`, the cursor after it in `id:`, and itself on one line of `data:`.",
    section,
    features,
    over: ["http"],
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await completed(pair);
      const text = await rawText(t, pair.sender, id, /event: end\n[\s\S]*\n\n/, 10_000);
      const blocks = text.split(/\r?\n\r?\n/).filter((block) => /^event:/m.test(block));
      t.equal(blocks.length, 5, "how many events there are");
      for (const block of blocks) {
        t.equal(block.split("\n").filter((line) => line.startsWith("data:")).length, 1, `lines of data in ${block}`);
        t.equal(/^id: ?\S+$/m.test(block), !/^event: ?end$/m.test(block), `an id in ${block}`);
      }
    },
  },
  {
    id: "STREAM-6",
    promise: "While nothing happens, comments are sent at least every 15 seconds.",
    section,
    features,
    over: ["http"],
    waits: true,
    run: async (t) => {
      const pair = await t.pair();
      const { id } = await sent(pair);
      const text = await rawText(t, pair.sender, id, /(^|\n):/, 20_000);
      t.that(/(^|\n):/.test(text), "a comment within 15 s, with some seconds of grace", text);
    },
  },
];
