import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operator_token, type TestAgent, TestRelay } from "../testing/test-relay.ts";

let relay: TestRelay;
let sender: TestAgent;
let worker: TestAgent;
beforeAll(async () => {
  relay = await TestRelay.start();
  sender = await relay.agent("sender");
  worker = await relay.agent("worker", "work");
});
afterAll(() => relay.stop());

interface Line {
  readonly pos: number;
  readonly cursor: string;
  readonly event: { readonly type: string; readonly handoff: string; readonly seq: number };
  readonly payload?: unknown;
}
const lines = (text: string): Line[] =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

describe("the log", () => {
  it("tells everything in order, digests only unless asked, and goes on from any line's cursor", async () => {
    const id = await sender.submit({ capability: "work", input: "in", correlation_id: "c1" });
    const { fence } = await worker.claim();
    await worker.act(id, "ask", { fence, question: "which?", question_id: "q" });
    await sender.post(`/v1/questions/${id}:q/answer`, { answer: "this" });
    await worker.act(id, "complete", { fence, output: "out" });
    const all = await relay.get("/v1/log?correlation_id=c1", operator_token);
    expect(all.headers.get("content-type")).toBe("application/jsonl");
    expect(all.text).not.toContain('"in"');
    const types = ["accepted", "delivered", "acknowledged", "asked", "answered", "completed"];
    expect(lines(all.text).map(({ event }) => event.type)).toEqual(types);
    const inline = lines((await sender.get("/v1/log?correlation_id=c1&payloads=inline")).text);
    expect(inline.map(({ payload }) => payload).filter((payload) => payload !== undefined)).toEqual([
      { input: "in" },
      { input: { question: "which?" } },
      { input: "this" },
      { input: "out" },
    ]);
    const third = lines(all.text)[2]?.cursor;
    const rest = lines((await relay.get(`/v1/log?correlation_id=c1&cursor=${third}`, operator_token)).text);
    expect(rest.map(({ event }) => event.type)).toEqual(types.slice(3));
  });

  it("is read page by page, whatever its length, by agent and time", async () => {
    const many = await relay.agent("many");
    const handoffs = Array.from({ length: 700 }, (_, input) => ({ capability: "work", input }));
    await many.post("/v1/handoffs/batch", { handoffs });
    await many.post("/v1/handoffs/batch", { handoffs });
    const own = lines((await many.get("/v1/log")).text);
    expect(own).toHaveLength(1_400);
    expect(own.map(({ pos }) => pos)).toEqual(own.map(({ pos }) => pos).toSorted((a, b) => a - b));
    expect(lines((await relay.get("/v1/log?agent=many", operator_token)).text)).toHaveLength(1_400);
    expect((await many.get(`/v1/log?from=${Date.now() + 1_000_000}`)).text).toBe("");
  });
});
