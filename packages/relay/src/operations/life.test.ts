import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestRelay } from "../testing/test-relay.ts";

let relay: TestRelay;
beforeAll(async () => {
  relay = await TestRelay.start();
});
afterAll(() => relay.stop());

describe("the life of a handoff", () => {
  it("is submitted, claimed, acknowledged, beaten, completed, read and taken", async () => {
    const alice = await relay.agent("alice");
    const bob = await relay.agent("bob", "upper");
    const id = await alice.submit({ capability: "upper", text: "hello", labels: { job: "7" } });
    const lease = await bob.claim();
    expect(lease).toMatchObject({ id, fence: 1, from: "alice", text: "hello", attempt: 1, checkpoint: null });
    expect((await bob.act(id, "ack", { fence: 1 })).body.state).toBe("working");
    const beat = await bob.act(id, "heartbeat", { fence: 1, progress: { fraction: 0.5, note: "half" } });
    expect(beat.body).toMatchObject({ state: "working", lease_ms: 30_000 });
    expect((await alice.get(`/v1/handoffs/${id}`)).body).toMatchObject({
      code: 212,
      lease: { agent: "bob", worker: "bob-1", fence: 1 },
      progress: { fraction: 0.5, note: "half" },
    });
    expect((await bob.act(id, "complete", { fence: 1, text: "HELLO", usage: { tokens: 3 } })).body.code).toBe(200);
    const read = await alice.get(`/v1/handoffs/${id}`);
    expect(read.body).toMatchObject({
      state: "completed",
      code: 200,
      outcome: { text: "HELLO", evidence: "attested" },
    });
    expect((await alice.get("/v1/outcomes")).body.handoffs.map((each: { id: string }) => each.id)).toContain(id);
    expect((await alice.act(id, "take")).body.taken_at).toEqual(expect.any(Number));
    expect((await alice.get("/v1/outcomes")).body.handoffs).toEqual([]);
    const listed = await alice.get("/v1/handoffs?label=job:7&state=completed");
    expect(listed.body.handoffs).toHaveLength(1);
  });

  it("says no more than it must to a sender that prefers so", async () => {
    const sender = await relay.agent("brief-sender");
    const worker = await relay.agent("brief-worker", "brief");
    const prefer = { prefer: "return=minimal" };
    const receipt = await sender.post("/v1/handoffs", { capability: "brief", input: 1 }, prefer);
    expect(receipt.body).toMatchObject({ state: "queued", digest: expect.any(String), handoff: null });
    expect(receipt.headers.get("preference-applied")).toBe("return=minimal");
    const batch = await sender.post("/v1/handoffs/batch", { handoffs: [{ capability: "brief", input: 2 }] }, prefer);
    expect(batch.body.receipts).toMatchObject([{ handoff: null }]);
    const { id, fence } = await worker.claim();
    await worker.act(id, "complete", { fence, output: 3 });
    const taken = await sender.post(`/v1/handoffs/${id}/take`, {}, prefer);
    expect([taken.status, taken.text]).toEqual([204, ""]);
    expect((await sender.get(`/v1/handoffs/${id}`, prefer)).body.taken_at).toEqual(expect.any(Number));
  });

  it("answers a retry as the first time, whatever the order of keys, and other content with a conflict", async () => {
    const sender = await relay.agent("retry-sender");
    await relay.agent("retry-worker", "retried");
    const first = await sender.post("/v1/handoffs", {
      capability: "retried",
      input: { a: 1, b: 2 },
      idempotency_key: "k",
    });
    const again = await sender.post(
      "/v1/handoffs",
      { input: { b: 2, a: 1 }, capability: "retried" },
      { "idempotency-key": "k" },
    );
    expect(again.body).toMatchObject({ id: first.body.id, repeated: true, digest: first.body.digest });
    const other = await sender.post("/v1/handoffs", { capability: "retried", input: { a: 2 }, idempotency_key: "k" });
    expect([other.status, other.body.reason]).toEqual([409, "key_conflict"]);
  });

  it("waits for the end on submit and for the ack on get", async () => {
    const sender = await relay.agent("waiting-sender");
    const worker = await relay.agent("waiting-worker", "awaited");
    const submitted = sender.post("/v1/handoffs", { capability: "awaited", input: 1 }, { prefer: "wait=20" });
    const { id, fence } = await worker.claim();
    const acknowledged = sender.get(`/v1/handoffs/${id}?until=acknowledged`, { prefer: "wait=20" });
    await worker.act(id, "ack", { fence });
    expect((await acknowledged).body.state).toBe("working");
    expect((await acknowledged).headers.get("preference-applied")).toBe("wait=20");
    await worker.act(id, "complete", { fence, output: { ok: true } });
    const got = await submitted;
    expect([got.status, got.body.handoff.outcome.output]).toEqual([200, { ok: true }]);
  });

  it("accepts a batch whole or not at all, and says which part was refused", async () => {
    const sender = await relay.agent("batch-sender");
    await relay.agent("batch-worker", "batched");
    const part = (input: number) => ({ capability: "batched", input, correlation_id: "batch-1" });
    const both = await sender.post("/v1/handoffs/batch", { handoffs: [part(1), part(2)] });
    expect([both.status, both.body.receipts.length]).toEqual([202, 2]);
    const none = await sender.post("/v1/handoffs/batch", {
      handoffs: [part(3), { capability: "nobody-has-this", input: 4, correlation_id: "batch-1" }],
    });
    expect([none.status, none.body.refusals]).toMatchObject([406, [{ index: 1, code: 406 }]]);
    const odd = await sender.post("/v1/handoffs/batch", { handoffs: [part(5), { ...part(6), colour: "red" }] });
    expect([odd.status, odd.body.fields]).toEqual([400, ["/handoffs/1/colour"]]);
    expect((await sender.get("/v1/correlations/batch-1")).body.summary).toMatchObject({ total: 2, open: 2 });
  });

  it("gives the same leases to a claim repeated with its request id", async () => {
    const sender = await relay.agent("claim-sender");
    const worker = await relay.agent("claim-worker", "claimed");
    for (const input of [1, 2, 3]) await sender.submit({ capability: "claimed", input });
    const ask = () => worker.post("/v1/claims", { worker: "w", request_id: "r1", slots: 2 });
    const ids = async () => (await ask()).body.leases.map((lease: { id: string }) => lease.id).sort();
    const first = await ids();
    expect(first).toHaveLength(2);
    expect(await ids()).toEqual(first);
  });

  it("brings checkpoint, failures and conversation to the next attempt", async () => {
    const sender = await relay.agent("attempt-sender");
    const worker = await relay.agent("attempt-worker", "attempted");
    const id = await sender.submit({ capability: "attempted", input: 1 });
    const first = await worker.claim();
    await worker.act(id, "checkpoint", { fence: first.fence, state: { page: 4 } });
    const asked = await worker.act(id, "ask", {
      fence: first.fence,
      question: { go: "on?" },
      question_id: "q",
      park: true,
    });
    expect(asked.body).toMatchObject({ id: `${id}:q`, open: true, state: "waiting" });
    const waiting = worker.get(`/v1/questions/${id}:q`, { prefer: "wait=20" });
    expect((await sender.get("/v1/questions")).body.questions).toMatchObject([
      { id: `${id}:q`, question: { go: "on?" } },
    ]);
    await sender.post(`/v1/questions/${id}:q/answer`, { answer: "yes" });
    expect((await waiting).body).toMatchObject({ resolution: "answered", answer: "yes", by: "attempt-sender" });
    const second = await worker.claim();
    expect(second).toMatchObject({
      fence: 2,
      attempt: 1,
      checkpoint: { state: { page: 4 } },
      questions: [{ id: `${id}:q`, question: { go: "on?" }, answer: "yes" }],
    });
    await worker.act(id, "fail", { fence: 2, error: { reason: "tired", message: "later" }, retryable: true });
    const view = (await sender.get(`/v1/handoffs/${id}`)).body;
    expect(view).toMatchObject({ state: "queued", attempts: 1, failures: [{ code: 500, error: { reason: "tired" } }] });
    const stale = await worker.act(id, "complete", { fence: 1, output: 1 });
    expect([stale.status, stale.body.code]).toEqual([412, 412]);
    const canceled = await sender.act(id, "cancel", { reason: "enough" });
    expect(canceled.body).toMatchObject({ state: "canceled", code: 410, late: [{ state: "completed" }] });
  });

  it("tells a worker of a cancellation, an end and a lost lease", async () => {
    const sender = await relay.agent("cancel-sender");
    const worker = await relay.agent("cancel-worker", "canceled");
    const id = await sender.submit({ capability: "canceled", input: 1 });
    const { fence } = await worker.claim();
    await worker.act(id, "ack", { fence });
    await sender.act(id, "cancel", {});
    const beat = await worker.act(id, "heartbeat", { fence });
    expect([beat.status, beat.body.name, beat.body.state]).toEqual([410, "canceled", "canceled"]);
    const short = await sender.submit({ capability: "canceled", input: 1, limits: { deadline_ms: 300 } });
    const lease = await worker.claim();
    const ended = await sender.get(`/v1/handoffs/${short}`, { prefer: "wait=10" });
    expect(ended.status).toBe(200);
    expect(ended.body).toMatchObject({ state: "expired", code: 408, dead_letter: { status: "open" } });
    expect((await worker.act(short, "heartbeat", { fence: lease.fence })).status).toBe(408);
  });

  it("answers unfit output with the path, keeps the lease, and takes the fitting one", async () => {
    const sender = await relay.agent("unfit-sender");
    const output_schema = { type: "object", required: ["n"], properties: { n: { type: "integer" } } };
    const worker = await relay.agent("unfit-worker", { name: "unfit", output_schema });
    const id = await sender.submit({ capability: "unfit", input: 1 });
    const { fence } = await worker.claim();
    const unfit = await worker.act(id, "complete", { fence, output: { n: "one" } });
    expect([unfit.status, unfit.body.code]).toEqual([422, 502]);
    expect(unfit.body.detail).toContain("/n");
    expect((await worker.act(id, "complete", { fence, output: { n: 1 } })).status).toBe(200);
    expect((await worker.act(id, "complete", { fence, output: { n: 1 } })).status).toBe(200);
    expect((await worker.act(id, "complete", { fence, output: { n: 2 } })).body.reason).toBe("outcome_conflict");
  });

  it("shows a correlation as a tree and ends open children with their parent", async () => {
    const sender = await relay.agent("tree-sender", "leaf");
    const worker = await relay.agent("tree-worker", "root");
    const id = await sender.submit({ capability: "root", input: 1 });
    const { fence } = await worker.claim();
    const child = await worker.submit({ capability: "leaf", input: 2, causation: { id, fence } });
    const tree = (await worker.get(`/v1/correlations/${id}`)).body;
    expect(tree.tree).toMatchObject([{ handoff: { id }, children: [{ handoff: { id: child }, children: [] }] }]);
    await worker.act(id, "complete", { fence, output: 1 });
    const ended = await worker.get(`/v1/handoffs/${child}`, { prefer: "wait=10" });
    expect(ended.body.state).toBe("canceled");
  });

  it("streams chunks in order and resumes them by offset", async () => {
    const sender = await relay.agent("chunk-sender");
    const worker = await relay.agent("chunk-worker", "chunked");
    const id = await sender.submit({ capability: "chunked", input: 1 });
    const { fence } = await worker.claim();
    await worker.act(id, "ack", { fence });
    const waiting = sender.get(`/v1/handoffs/${id}/chunks`, { prefer: "wait=20" });
    expect((await worker.act(id, "chunks", { fence, offset: 0, text: "hel" })).body.offset).toBe(3);
    expect((await waiting).body).toMatchObject({ text: "hel", next: 3, fence });
    expect((await worker.act(id, "chunks", { fence, offset: 9, text: "lo" })).body.reason).toBe("chunk_gap");
    await worker.act(id, "chunks", { fence, offset: 3, text: "lo" });
    expect((await sender.get(`/v1/handoffs/${id}/chunks?offset=3`)).body.text).toBe("lo");
  });

  it("gives back a lease when the worker is gone before the answer", async () => {
    const sender = await relay.agent("gone-sender");
    const worker = await relay.agent("gone-worker", "gone");
    const leaving = new AbortController();
    const lost = relay.call("POST", "/v1/claims", {
      token: worker.token,
      body: { worker: "w1" },
      headers: { prefer: "wait=30" },
      signal: leaving.signal,
    });
    await expect.poll(() => relay.figure('handfast_engine{what="waiting_claims"}')).toBeGreaterThan(0);
    leaving.abort();
    await expect(lost).rejects.toThrow();
    await sender.submit({ capability: "gone", input: 1 });
    expect(await worker.claim({ worker: "w2" })).toMatchObject({ input: 1 });
  });

  it("goes to a worker that began to wait before its agent offered this, and no more once it does not", async () => {
    const sender = await relay.agent("early-sender");
    const worker = await relay.agent("early-worker", "earlier");
    const waitsFor = (wait_s: number) =>
      worker.post("/v1/claims", { worker: "w1" }, { prefer: `wait=${wait_s}` }).then(({ body }) => body.leases);
    const offers = (name: string) =>
      relay.call("PUT", "/v1/agents/early-worker/capabilities", {
        token: worker.token,
        body: { capabilities: [{ name }] },
      });
    const waiting = () => expect.poll(() => relay.figure('handfast_engine{what="waiting_claims"}')).toBe(1);
    const first = waitsFor(30);
    await waiting();
    expect((await offers("later")).status).toBe(200);
    const id = await sender.submit({ capability: "later", input: 1 });
    expect(await first).toMatchObject([{ id, fence: 1 }]);

    const queued = await sender.submit({ capability: "waited_for", input: 2, queue_if_absent: true });
    const second = waitsFor(30);
    await waiting();
    // What lay there before anybody offered it is found too.
    expect((await offers("waited_for")).status).toBe(200);
    expect(await second).toMatchObject([{ id: queued, fence: 1 }]);

    const third = waitsFor(2);
    await waiting();
    expect((await offers("something_else")).status).toBe(200);
    const left = await sender.submit({ capability: "waited_for", input: 3, queue_if_absent: true });
    expect(await third).toEqual([]);
    expect((await sender.get(`/v1/handoffs/${left}`)).body).toMatchObject({ state: "queued", fence: 0 });
  });

  it("ends a notice with its ack", async () => {
    const sender = await relay.agent("notice-sender");
    const worker = await relay.agent("notice-worker", "noticed");
    const id = await sender.submit({ capability: "noticed", text: "by the way", kind: "notice" });
    const { fence, kind } = await worker.claim();
    expect(kind).toBe("notice");
    expect((await worker.act(id, "ack", { fence })).body.state).toBe("completed");
    expect((await sender.get(`/v1/handoffs/${id}`)).body).toMatchObject({ state: "completed", code: 200 });
  });

  it("goes to another agent when one rejects it, and back to the queue when one releases it", async () => {
    const sender = await relay.agent("reject-sender");
    const picky = await relay.agent("reject-picky", "rejected");
    const easy = await relay.agent("reject-easy", "rejected");
    const id = await sender.submit({ capability: "rejected", input: 1 });
    const first = await picky.claim();
    const rejected = await picky.act(id, "reject", {
      fence: first.fence,
      error: { reason: "not_mine", message: "no" },
    });
    expect(rejected.body).toMatchObject({ state: "queued", code: 202 });
    expect((await picky.post("/v1/claims", { worker: "w" })).body.leases).toEqual([]);
    const second = await easy.claim();
    expect((await easy.act(id, "release", { fence: second.fence })).body.state).toBe("queued");
    const third = await easy.claim();
    expect(third).toMatchObject({ id, fence: 3, attempt: 1 });
    const last = await easy.act(id, "reject", { fence: 3, error: { reason: "not_mine", message: "no" } });
    expect(last.body).toMatchObject({ state: "rejected", code: 501 });
  });

  it("takes the idempotency key from the header, but not two different ones", async () => {
    const sender = await relay.agent("header-sender");
    await relay.agent("header-worker", "headed");
    const submit = (body: object, key: string) =>
      sender.post("/v1/handoffs", { capability: "headed", input: 1, ...body }, { "idempotency-key": key });
    const first = await submit({}, "h1");
    expect(first.body.handoff.idempotency_key).toBe("h1");
    expect((await submit({}, "h1")).body).toMatchObject({ id: first.body.id, repeated: true });
    expect((await submit({ idempotency_key: "h2" }, "h1")).body.reason).toBe("keys_differ");
  });

  it("is refused early when space runs low, while open handoffs still end", async () => {
    const small = await TestRelay.start();
    const sender = await small.agent("space-sender");
    const worker = await small.agent("space-worker", "space");
    const id = await sender.submit({ capability: "space", input: 1 });
    const { fence } = await worker.claim();
    await small.pause();
    await small.resume("--reserve", "100000GB");
    const refused = await sender.post("/v1/handoffs", { capability: "space", input: 2 });
    expect([refused.status, refused.body.reason, refused.headers.get("retry-after")]).toEqual([
      507,
      "out_of_space",
      "30",
    ]);
    expect((await worker.act(id, "complete", { fence, output: 1 })).status).toBe(200);
    expect((await sender.act(id, "take")).status).toBe(200);
    await small.stop();
  });
});
