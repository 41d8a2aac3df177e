import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operator_token, type TestAgent, TestRelay } from "../testing/test-relay.ts";

let relay: TestRelay;
let sender: TestAgent;
let worker: TestAgent;
beforeAll(async () => {
  relay = await TestRelay.start();
  sender = await relay.agent("sender");
  worker = await relay.agent("worker", "work", "other");
});
afterAll(() => relay.stop());

async function deadLetter(body: Record<string, unknown> = {}): Promise<string> {
  const id = await sender.submit({ capability: "work", input: { n: 1 }, ...body });
  const { fence } = await worker.claim();
  await worker.act(id, "fail", { fence, error: { reason: "broken", message: "cannot" } });
  return id;
}

const asOperator = (path: string, body: unknown) => relay.post(path, body, operator_token);

describe("a dead letter", () => {
  it("is shown with its input, every attempt, the reason, late outcomes and its history", async () => {
    const id = await sender.submit({ capability: "work", input: { n: 7 }, limits: { ack_ms: 2_000, max_attempts: 1 } });
    const first = await worker.claim();
    const second = await worker.claim({ worker: "second" });
    expect((await worker.act(id, "complete", { fence: first.fence, output: "too late" })).status).toBe(412);
    await worker.act(id, "fail", { fence: second.fence, error: { reason: "broken", message: "cannot" } });
    const { body } = await sender.get(`/v1/dead-letters/${id}`);
    expect(body).toMatchObject({
      input: { n: 7 },
      reason: { code: 500, reason: "broken" },
      handoff: {
        dead_letter: { status: "open" },
        failures: [{ code: 504 }, { code: 500 }],
        late: [{ state: "completed", outcome: { output: "too late" } }],
      },
    });
    expect(body.events.map((event: { type: string }) => event.type)).toContain("late");
  });

  it("is listed by code, capability and status, to its sender and to operators only", async () => {
    const id = await deadLetter();
    const ids = async (path: string, token: string) =>
      (await relay.get(path, token)).body.dead_letters.map((letter: { id: string }) => letter.id);
    expect(await ids("/v1/dead-letters?code=500&capability=work", sender.token)).toContain(id);
    expect(await ids("/v1/dead-letters?code=408", sender.token)).not.toContain(id);
    expect(await ids("/v1/dead-letters", worker.token)).toEqual([]);
    expect(await ids("/v1/dead-letters?from=sender", operator_token)).toContain(id);
    expect((await worker.get("/v1/dead-letters?from=sender")).status).toBe(403);
    expect((await worker.get(`/v1/dead-letters/${id}`)).status).toBe(404);
  });

  it("lives on unedited with the sender's own bytes, once", async () => {
    const id = await deadLetter({ labels: { a: "b" } });
    const first = await asOperator(`/v1/dead-letters/${id}/redrive`, {});
    expect(first.status).toBe(202);
    const again = await sender.post(`/v1/dead-letters/${id}/redrive`, {});
    expect(again.body).toMatchObject({ redriven_as: first.body.redriven_as, repeated: true });
    const lease = await worker.claim({ proofs: true });
    expect(lease).toMatchObject({ id: first.body.redriven_as, from: "sender", input: { n: 1 }, labels: { a: "b" } });
    const document = JSON.parse(lease.signed.document);
    expect(document).toMatchObject({ redrive_of: id, on_behalf_of: "sender" });
    const original = document.ext["https://handfast.dev/ext/redriven-document"];
    expect(JSON.parse(original.document)).toMatchObject({ id, from: "sender", input: lease.payload });
    await worker.act(lease.id, "complete", { fence: lease.fence, output: "at last" });
    const outcome = await sender.get(`/v1/handoffs/${lease.id}`);
    expect(outcome.body).toMatchObject({ from: "sender", redrive_of: id, outcome: { output: "at last" } });
    expect((await sender.get(`/v1/handoffs/${id}`)).body.dead_letter).toMatchObject({
      status: "redriven",
      id: lease.id,
    });
  });

  it("lives on with edits", async () => {
    const id = await deadLetter();
    const got = await asOperator(`/v1/dead-letters/${id}/redrive`, {
      input: { n: 2 },
      capability: "other",
      limits: { max_attempts: 1 },
    });
    const lease = await worker.claim({ capabilities: ["other"], proofs: true });
    expect(lease).toMatchObject({ id: got.body.redriven_as, capability: "other", input: { n: 2 } });
    expect(JSON.parse(lease.signed.document).ext).toBeUndefined();
    expect(got.body.handoff.limits.max_attempts).toBe(1);
    await worker.act(lease.id, "complete", { fence: lease.fence, output: 1 });
  });

  it("is let go, and then not redriven", async () => {
    const id = await deadLetter();
    expect((await sender.post(`/v1/dead-letters/${id}/discard`, {})).body.dead_letter.status).toBe("discarded");
    const got = await sender.post(`/v1/dead-letters/${id}/redrive`, {});
    expect([got.status, got.body.reason]).toEqual([409, "discarded"]);
  });

  it("is what only the dead are: others are not redriven or let go, and not shown as one", async () => {
    const id = await sender.submit({ capability: "work", input: { n: 1 } });
    for (const state of ["queued", "canceled"]) {
      for (const act of ["redrive", "discard"]) {
        const { status, body } = await sender.post(`/v1/dead-letters/${id}/${act}`, {});
        expect({ status, reason: body.reason, state: body.state }).toEqual({ status: 409, reason: "not_dead", state });
      }
      expect((await sender.get(`/v1/dead-letters/${id}`)).body.reason).toBe("unknown_dead_letter");
      await sender.post(`/v1/handoffs/${id}/cancel`, {});
    }
    const stranger = await relay.agent("stranger");
    expect((await stranger.post(`/v1/dead-letters/${id}/redrive`, {})).status).toBe(404);
  });

  it("is redriven in bulk by exactly the set of the dry run", async () => {
    const correlation_id = "bulk";
    const planned = [await deadLetter({ correlation_id }), await deadLetter({ correlation_id })];
    const dry = await asOperator("/v1/dead-letters/redrive", { dry_run: true, filter: { correlation_id } });
    expect(dry.body).toMatchObject({ count: 2, ids: planned });
    const later = await deadLetter({ correlation_id });
    const run = await asOperator("/v1/dead-letters/redrive", { plan: dry.body.plan });
    expect(run.body).toMatchObject({ count: 2, redriven: 2, refused: [] });
    expect((await sender.get(`/v1/dead-letters/${later}`)).body.handoff.dead_letter.status).toBe("open");
    const again = await asOperator("/v1/dead-letters/redrive", { plan: dry.body.plan });
    expect(again.body).toMatchObject({ count: 2, redriven: 0, already_redriven: 2, refused: [] });
    const children = (await sender.get(`/v1/correlations/${correlation_id}`)).body.summary;
    expect(children.total).toBe(5);
    expect((await sender.post("/v1/dead-letters/redrive", { plan: dry.body.plan })).status).toBe(404);
    expect((await asOperator("/v1/dead-letters/redrive", {})).body.reason).toBe("plan_first");
  });
});
