import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestAgent, TestRelay } from "../testing/test-relay.ts";

let relay: TestRelay;
let sender: TestAgent;
let worker: TestAgent;
beforeAll(async () => {
  relay = await TestRelay.start();
  sender = await relay.agent("sender");
  worker = await relay.agent("worker", "work");
});
afterAll(() => relay.stop());

interface SseEvent {
  readonly event: string;
  readonly id?: string;
  readonly data: Record<string, unknown>;
}

const stream = (path: string, headers: Record<string, string> = {}, agent = sender) =>
  agent.get(path, { accept: "text/event-stream", ...headers }).then(({ text }) => read(text));

function read(text: string): SseEvent[] {
  return text
    .split("\n\n")
    .map((block) => new Map(block.split("\n").map((line) => line.split(/: (.*)/s, 2) as [string, string])))
    .filter((fields) => fields.has("data"))
    .map((fields) => {
      const id = fields.get("id");
      return {
        event: fields.get("event") ?? "",
        ...(id === undefined ? {} : { id }),
        data: JSON.parse(fields.get("data") ?? ""),
      };
    });
}

describe("events of a handoff", () => {
  it("stream from the beginning to the end, with progress on the way that moves no cursor", async () => {
    const id = await sender.submit({ capability: "work", input: 1 });
    const response = await fetch(`${relay.url}/v1/handoffs/${id}/events`, {
      headers: { accept: "text/event-stream", authorization: `Bearer ${sender.token}` },
    });
    const { fence } = await worker.claim();
    await worker.act(id, "ack", { fence });
    await worker.act(id, "heartbeat", { fence, progress: { fraction: 0.25 } });
    let text = "";
    let ended: Promise<unknown> | null = null;
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      // Progress is conflated and an end makes it moot: the end comes only once the stream has told it.
      if (text.includes("event: progress")) ended ??= worker.act(id, "complete", { fence, output: 1 });
    }
    await ended;
    const events = read(text);
    const logged = events.filter(({ id: cursor }) => cursor !== undefined);
    expect(logged.map(({ event }) => event)).toEqual(["accepted", "delivered", "acknowledged", "completed"]);
    expect(logged.map(({ data }) => data["seq"])).toEqual([1, 2, 3, 4]);
    expect(events.find(({ event }) => event === "progress")).toMatchObject({ data: { handoff: id, fraction: 0.25 } });
    expect(events.at(-1)).toMatchObject({ event: "end", data: { id, state: "completed", code: 200 } });
  });

  it("go on after the last id, and after a cursor", async () => {
    const id = await sender.submit({ capability: "work", input: 1 });
    const { fence } = await worker.claim();
    await worker.act(id, "complete", { fence, output: 1 });
    const all = await stream(`/v1/handoffs/${id}/events`);
    const second = all[1]?.id ?? "";
    const rest = await stream(`/v1/handoffs/${id}/events`, { "last-event-id": second });
    expect(rest.map(({ event }) => event)).toEqual(["acknowledged", "completed", "end"]);
    const page = await sender.get(`/v1/handoffs/${id}/events?limit=2`);
    expect(page.body).toMatchObject({ events: [{ seq: 1 }, { seq: 2 }], cursor: second, ended: false });
    const next = await sender.get(`/v1/handoffs/${id}/events?cursor=${second}`);
    expect(next.body).toMatchObject({ events: [{ seq: 3 }, { seq: 4 }], ended: true });
  });

  it("are waited for", async () => {
    const id = await sender.submit({ capability: "work", input: 1 });
    const { cursor } = (await sender.get(`/v1/handoffs/${id}/events`)).body;
    const waiting = sender.get(`/v1/handoffs/${id}/events?cursor=${cursor}`, { prefer: "wait=20" });
    const { fence } = await worker.claim();
    expect((await waiting).body.events[0]).toMatchObject({ type: "delivered", fence });
    await worker.act(id, "complete", { fence, output: 1 });
  });

  it("answer a cursor that is too old with a snapshot and a fresh one", async () => {
    const id = await sender.submit({ capability: "work", input: 1 });
    const { cursor } = (await sender.get(`/v1/handoffs/${id}/events?limit=1`)).body;
    await worker.claim();
    await relay.pause();
    // As retention leaves it, once everything before has been purged: the store prunes nothing that is still kept.
    const database = new DatabaseSync(join(relay.directory, "handfast.db"));
    database.exec("UPDATE log SET floor = (SELECT max(pos) FROM events); DELETE FROM events");
    database.close();
    await relay.resume();
    const fresh = await sender.submit({ capability: "work", input: 2 });
    const old = await sender.get(`/v1/handoffs/${id}/events?cursor=${cursor}`);
    expect([old.status, old.body.reason]).toEqual([410, "cursor_too_old"]);
    expect(old.body.snapshot).toMatchObject([{ id, state: "delivered" }]);
    const now = await sender.get(`/v1/handoffs/${id}/events?cursor=${old.body.cursor}`);
    expect(now.status).toBe(200);
    for (const each of [id, fresh]) await sender.act(each, "cancel");
  });
});

describe("events of a correlation", () => {
  it("stream until every handoff has ended, those that came later included", async () => {
    const correlation_id = "together";
    const first = await sender.submit({ capability: "work", input: 1, correlation_id });
    const following = stream(`/v1/correlations/${correlation_id}/events`);
    const lease = await worker.claim();
    const second = await sender.submit({ capability: "work", input: 2, correlation_id });
    await worker.act(first, "complete", { fence: lease.fence, output: 1 });
    const { fence } = await worker.claim();
    await worker.act(second, "complete", { fence, output: 2 });
    const events = await following;
    expect(events.filter(({ event }) => event === "completed").map(({ data }) => data["handoff"])).toEqual([
      first,
      second,
    ]);
    expect(events.at(-1)?.event).toBe("end");
  });

  it("show each agent only its own part", async () => {
    const other = await relay.agent("other");
    const correlation_id = "shared";
    const mine = await sender.submit({ capability: "work", input: 1, correlation_id });
    const theirs = await other.submit({ capability: "work", input: 2, correlation_id });
    const seen = (await other.get(`/v1/correlations/${correlation_id}/events`)).body.events;
    expect(new Set(seen.map((event: { handoff: string }) => event.handoff))).toEqual(new Set([theirs]));
    expect((await other.get(`/v1/correlations/${correlation_id}`)).body.summary.total).toBe(1);
    const operator = await relay.get(`/v1/correlations/${correlation_id}`, "operator-token-for-tests-only");
    expect(operator.body.summary.total).toBe(2);
    for (const [agent, id] of [
      [sender, mine],
      [other, theirs],
    ] as const)
      await agent.act(id, "cancel");
  });
});

describe("chunks", () => {
  it("stream until the end and resume by offset", async () => {
    const id = await sender.submit({ capability: "work", input: 1 });
    const { fence } = await worker.claim();
    await worker.act(id, "chunks", { fence, offset: 0, text: "Hello " });
    const following = stream(`/v1/handoffs/${id}/chunks`);
    await expect.poll(() => relay.figure("handfast_streams")).toBe(1);
    await worker.act(id, "chunks", { fence, offset: 6, text: "world" });
    const resumed = await sender.get(`/v1/handoffs/${id}/chunks?offset=6`, { prefer: "wait=10" });
    expect(resumed.body.text).toBe("world");
    await worker.act(id, "complete", { fence, output: "Hello world" });
    const events = await following;
    const text = events.filter(({ event }) => event === "chunk").map(({ data }) => data["text"]);
    expect(text.join("")).toBe("Hello world");
    expect(events.at(-1)?.event).toBe("end");
  });
});
