/** What whoever held a handoff before another agent got it is still shown of it, by every way of reading. */

import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type TestAgent, TestRelay } from "../testing/test-relay.ts";

let relay: TestRelay;
let sender: TestAgent;
let rival: TestAgent;
let provider: TestAgent;
beforeAll(async () => {
  relay = await TestRelay.start();
  sender = await relay.agent("sender");
});
afterAll(() => relay.stop());

let made = 0;
/** Nobody else takes their work. */
let capability = "";
beforeEach(async () => {
  made += 1;
  capability = `upper-${made}`;
  rival = await relay.agent(`rival-${made}`, capability);
  provider = await relay.agent(`provider-${made}`, capability);
});

const usage = { cost: 4_242, tokens: 7 };
const output = "the work of another";
const secrets = ["4242", output, "streamed by another"];

async function artifact(by: TestAgent, text: string) {
  const bytes = Buffer.from(text);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const got = await relay.call("PUT", `/v1/artifacts/${sha256}`, { token: by.token, raw: bytes });
  expect(got.status).toBe(201);
  return { name: "file", sha256, size: bytes.length, media_type: "text/plain" };
}

/** The rival had it and gave it back; the provider has it now. */
async function passedOn(how: "reject" | "release", more: Record<string, unknown> = {}) {
  // A conversation would stay with whoever served it, unless that one rejects.
  const talk = how === "reject" ? { conversation_id: `talk-${made}` } : {};
  const id = await sender.submit({ capability, input: "mine to do", ...talk, ...more });
  const first = await rival.claim();
  await rival.act(id, "ack", { fence: first.fence });
  const error = { reason: "no", message: "Not now." };
  await rival.act(id, how, { fence: first.fence, ...(how === "reject" ? { error } : {}) });
  const { fence } = await provider.claim();
  return { id, fence, held: first.fence as number };
}

/** Everything that the rival can read of it, as text. */
async function readBy(agent: TestAgent, id: string): Promise<readonly string[]> {
  const stream = { accept: "text/event-stream" };
  const got = [
    await agent.get(`/v1/handoffs/${id}?input=true&proofs=true`),
    await agent.get(`/v1/handoffs/${id}?until=ended`, { prefer: "wait=20" }),
    await agent.get(`/v1/handoffs/${id}/events`),
    await agent.get(`/v1/handoffs/${id}/events`, stream),
    await agent.get(`/v1/correlations/${id}`),
    await agent.get(`/v1/correlations/${id}/events`),
    await agent.get(`/v1/correlations/${id}/events`, stream),
    await agent.get(`/v1/conversations/talk-${made}`),
    await agent.get(`/v1/handoffs?capability=${capability}`),
    await agent.get(`/v1/handoffs?state=completed`),
    await agent.get(`/v1/handoffs/${id}/chunks`),
    await agent.get(`/v1/handoffs/${id}/chunks`, stream),
    await agent.get("/v1/log?payloads=inline"),
  ];
  return got.map(({ text }) => text);
}

describe.each(["reject", "release"] as const)("whoever held a handoff until it gave it back (%s)", (how) => {
  it("reads nothing of what the next holder does, gives or charges, while it works and after", async () => {
    const { id, fence } = await passedOn(how);
    await provider.act(id, "ack", { fence });
    await provider.act(id, "chunks", { fence, offset: 0, text: "streamed by another" });
    await provider.act(id, "heartbeat", { fence, progress: { note: output } });
    await provider.act(id, "checkpoint", { fence, state: output });
    const asked = (await provider.act(id, "ask", { fence, question: output })).body;
    expect((await rival.get(`/v1/questions/${asked.id}`)).status).toBe(404);
    await sender.post(`/v1/questions/${asked.id}/answer`, { answer: output });
    const working = await readBy(rival, id);
    const made_of_it = await artifact(provider, `made by ${provider.name}`);
    const done = await provider.act(id, "complete", { fence, output, usage, artifacts: [made_of_it] });
    expect(done.status).toBe(200);
    expect((await rival.get(`/v1/artifacts/${made_of_it.sha256}`)).status).toBe(404);
    expect((await sender.get(`/v1/artifacts/${made_of_it.sha256}`)).status).toBe(200);
    for (const text of [...working, ...(await readBy(rival, id))]) {
      for (const secret of [...secrets, provider.name]) expect(text).not.toContain(secret);
    }
    const whole = (await readBy(sender, id)).join();
    for (const secret of [...secrets, provider.name]) expect(whole).toContain(secret);
  });

  it("still reads its own part: the input, its ack, its events, the handoff as it stood then", async () => {
    const given = await artifact(sender, `given to ${rival.name}`);
    const { id, fence, held } = await passedOn(how, { artifacts: [given] });
    await provider.act(id, "complete", { fence, output, usage });
    const { body } = await rival.get(`/v1/handoffs/${id}?input=true&proofs=true`);
    expect(body).toMatchObject({ state: "queued", code: 202, input: "mine to do", fence: held, outcome: null });
    expect(body).toMatchObject({ lease: null, spent: { cost: 0, tokens: 0 }, ended_at: null, dead_letter: null });
    const receipts = body.receipts.map(({ kind, number }: { kind: string; number: number }) => [kind, number]);
    expect(receipts).toEqual([["handoff", 0], ["ack", held], ...(how === "reject" ? [["outcome", held]] : [])]);
    const page = (await rival.get(`/v1/handoffs/${id}/events`)).body;
    const types = page.events.map(({ type }: { type: string }) => type);
    expect([types, page.ended]).toEqual([["accepted", "delivered", "acknowledged", "requeued"], true]);
    expect(body.seq).toBe(page.events.at(-1).seq);
    expect((await rival.get(`/v1/artifacts/${given.sha256}`)).status).toBe(200);
    expect((await rival.get(`/v1/correlations/${id}`)).body.summary).toMatchObject({ total: 1, ended: 0 });
  });

  it("is told the end of its part by a stream that it follows, and by a wait, when another agent gets it", async () => {
    const id = await sender.submit({ capability, input: 1 });
    const { fence } = await rival.claim();
    const follows = [
      rival.get(`/v1/handoffs/${id}/events`, { accept: "text/event-stream" }),
      rival.get(`/v1/correlations/${id}/events`, { accept: "text/event-stream" }),
      rival.get(`/v1/handoffs/${id}/chunks`, { accept: "text/event-stream" }),
      rival.get(`/v1/handoffs/${id}?until=ended`, { prefer: "wait=60" }),
    ];
    const error = { reason: "no", message: "Not now." };
    await rival.act(id, how, { fence, ...(how === "reject" ? { error } : {}) });
    const next = await provider.claim();
    // The provider has not ended it: these are over all the same.
    const told = (await Promise.all(follows)).map(({ text }) => text);
    for (const text of told) expect(text).not.toContain(provider.name);
    expect(told[0]).toContain("event: requeued");
    expect(told[1]).toContain("event: requeued");
    for (const text of told.slice(0, 3)) expect(text).toContain("event: end");
    await provider.act(id, "complete", { fence: next.fence, output: 1 });
  });
});

describe("whoever held a handoff before another", () => {
  it("says what it has to say all the same: its late outcome is kept and shown to it", async () => {
    const { id, fence, held } = await passedOn("release");
    const late = await rival.act(id, "complete", { fence: held, output: "too late", usage: { cost: 11 } });
    expect([late.status, late.body.reason]).toEqual([412, "lease_lost"]);
    await provider.act(id, "complete", { fence, output, usage });
    const { body } = await rival.get(`/v1/handoffs/${id}`);
    expect(body.late).toMatchObject([{ outcome: { output: "too late", usage: { cost: 11 } } }]);
    const { events } = (await rival.get(`/v1/handoffs/${id}/events`)).body;
    expect(events.at(-1)).toMatchObject({ type: "late", agent: rival.name });
  });

  it("sees all up to the end of its part again once it gets it again", async () => {
    const { id, fence } = await passedOn("release");
    await provider.act(id, "release", { fence });
    const again = await rival.claim();
    const { events } = (await rival.get(`/v1/handoffs/${id}/events`)).body;
    expect(events.at(-1)).toMatchObject({ type: "delivered", agent: rival.name });
    expect(events.map(({ seq }: { seq: number }) => seq)).toEqual(events.map((_: unknown, at: number) => at + 1));
    await rival.act(id, "complete", { fence: again.fence, output: "mine", usage: { cost: 5 } });
    const { body } = await rival.get(`/v1/handoffs/${id}`);
    expect(body).toMatchObject({ state: "completed", outcome: { output: "mine" }, spent: { cost: 5 } });
  });
});

describe("whoever holds a handoff after another", () => {
  const error = { reason: "broken", message: "It broke." };

  it("is not told what the one before charged, by what was spent, by its proofs or by what is left for a child", async () => {
    const id = await sender.submit({ capability, input: 1, budget: { cost: 10_000 } });
    const first = await provider.claim();
    await provider.act(id, "reject", { fence: first.fence, error, usage });
    const { fence } = await rival.claim();
    const { body } = await rival.get(`/v1/handoffs/${id}?proofs=true`);
    expect(body).toMatchObject({ spent: { cost: null }, cost_sealed: true });
    expect(JSON.stringify(body)).not.toContain("4242");
    const parent = { id, fence };
    const child = await rival.post("/v1/handoffs", {
      to: rival.name,
      input: 1,
      causation: parent,
      budget: { cost: 9_999 },
    });
    expect([child.status, child.body.handoff.budget.cost]).toEqual([202, null]);
    expect((await sender.get(`/v1/handoffs/${id}`)).body.spent.cost).toBe(4_242);
    await rival.act(id, "complete", { fence, output: 1 });
  });

  it("is not shown what the one before says too late", async () => {
    const id = await sender.submit({ capability, input: 1 });
    const first = await provider.claim();
    await provider.act(id, "release", { fence: first.fence });
    const { fence } = await rival.claim();
    await provider.act(id, "complete", { fence: first.fence, output, usage });
    await rival.act(id, "complete", { fence, output: "mine", usage: { cost: 5 } });
    const texts = await readBy(rival, id);
    for (const text of texts) for (const secret of secrets) expect(text).not.toContain(secret);
    expect(texts.join()).not.toContain('"type":"late"');
    const { body } = await rival.get(`/v1/handoffs/${id}`);
    expect(body).toMatchObject({ late: [], spent: { cost: null }, outcome: { usage: { cost: 5 } } });
    expect((await sender.get(`/v1/handoffs/${id}`)).body).toMatchObject({ late: [{}], spent: { cost: 4_247 } });
  });
});
