import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operator_token, type TestAgent, TestRelay } from "../testing/test-relay.ts";

let relay: TestRelay;
let sender: TestAgent;
let worker: TestAgent;
let desk: TestAgent;
beforeAll(async () => {
  relay = await TestRelay.start();
  sender = await relay.agent("sender");
  worker = await relay.agent("worker", "work");
  desk = await relay.agent("desk", "human-desk");
});
afterAll(() => relay.stop());

async function asked(more: Record<string, unknown> = {}) {
  const id = await sender.submit({ capability: "work", input: "private" });
  const { fence } = await worker.claim();
  const got = await worker.act(id, "ask", { fence, question: { text: "May I?" }, ...more });
  expect(got.status).toBe(200);
  return { id, fence, question: got.body.id as string };
}

describe("questions", () => {
  it("go to whoever offers the capability asked, and to nobody else", async () => {
    const waiting = desk.get("/v1/questions", { prefer: "wait=20" });
    const { id, fence, question } = await asked({ to: "human-desk", schema: { type: "boolean" } });
    expect((await waiting).body.questions).toMatchObject([
      { id: question, to: "human-desk", question: { text: "May I?" } },
    ]);
    expect((await sender.get("/v1/questions")).body.questions).toEqual([]);
    expect((await desk.get(`/v1/handoffs/${id}`)).status).toBe(404);
    expect((await sender.post(`/v1/questions/${question}/answer`, { answer: true })).status).toBe(403);
    const stranger = await relay.agent("stranger");
    expect((await stranger.get(`/v1/questions/${question}`)).status).toBe(404);
    expect((await stranger.post(`/v1/questions/${question}/answer`, { answer: true })).status).toBe(404);
    expect((await desk.post(`/v1/questions/${question}/answer`, { answer: true })).body.by).toBe("desk");
    const beat = await worker.act(id, "heartbeat", { fence });
    expect(beat.body.question).toEqual({ id: question, resolution: "answered", answer: true, by: "desk" });
    await worker.act(id, "complete", { fence, output: 1 });
  });

  it("can be answered by an operator, who sees them all", async () => {
    const { id, fence, question } = await asked();
    const open = await relay.get("/v1/questions", operator_token);
    expect(open.body.questions.map((each: { id: string }) => each.id)).toEqual([question]);
    const answered = await relay.post(`/v1/questions/${question}/answer`, { answer: "yes" }, operator_token);
    expect(answered.body.by).toMatch(/^operator:/);
    await worker.act(id, "complete", { fence, output: 1 });
  });

  it("without a name are the same when retried, and the next when asked again", async () => {
    const { id, fence, question } = await asked();
    const again = await worker.act(id, "ask", { fence, question: { text: "May I?" } });
    expect(again.body.id).toBe(question);
    expect((await worker.act(id, "ask", { fence, question: "Another?" })).body.reason).toBe("question_open");
    await sender.post(`/v1/questions/${question}/answer`, { answer: 1 });
    const next = await worker.act(id, "ask", { fence, question: { text: "May I?" } });
    expect(next.body).toMatchObject({ id: `${id}:2`, open: true });
    await sender.act(id, "cancel");
  });

  it("that nobody answers in time are told to the worker", async () => {
    const { id, fence, question } = await asked({ answer_ms: 100 });
    const resolved = await worker.get(`/v1/questions/${question}`, { prefer: "wait=10" });
    expect(resolved.body).toMatchObject({ resolution: "unanswered", state: "working", open: false });
    expect((await sender.post(`/v1/questions/${question}/answer`, { answer: 1 })).body.reason).toBe("question_closed");
    await worker.act(id, "complete", { fence, output: 1 });
  });

  it.each<[string, unknown]>([
    ["nothing at all", { not: {} }],
    ["a range that is none", { type: "integer", minimum: 5, maximum: 4 }],
    [
      "a member that cannot be",
      { type: "object", properties: { yes: { minLength: 2, maxLength: 1, type: "string" } }, required: ["yes"] },
    ],
    ["two types at once", { allOf: [{ type: "string" }, { type: "boolean" }] }],
  ])("that no answer fits are refused: %s", async (_, schema) => {
    const id = await sender.submit({ capability: "work", input: "private" });
    const { fence } = await worker.claim();
    const got = await worker.act(id, "ask", { fence, question: "Well?", schema });
    expect([got.status, got.body.reason, got.body.fields]).toEqual([422, "question_unanswerable", ["/schema"]]);
    expect((await sender.get(`/v1/handoffs/${id}`)).body.state).toBe("delivered");
    await worker.act(id, "complete", { fence, output: 1 });
  });

  it("are listed page by page across both kinds", async () => {
    const both = await relay.agent("both", "both-desk");
    const ids: string[] = [];
    for (let at = 0; at < 4; at++) {
      const id = await (at % 2 === 0 ? both : sender).submit({ capability: "work", input: at });
      const { fence } = await worker.claim();
      await worker.act(id, "ask", {
        fence,
        question: at,
        question_id: "q",
        ...(at % 2 === 0 ? {} : { to: "both-desk" }),
      });
      ids.push(`${id}:q`);
    }
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const got = await both.get(`/v1/questions?limit=1${cursor === null ? "" : `&cursor=${cursor}`}`);
      seen.push(...got.body.questions.map((each: { id: string }) => each.id));
      cursor = got.body.cursor;
    } while (cursor !== null);
    expect(seen.sort()).toEqual(ids.sort());
  });
});
