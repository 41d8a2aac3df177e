import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestAgent, TestRelay } from "../testing/test-relay.ts";

describe("a person who asks why", () => {
  let relay: TestRelay;
  let alice: TestAgent;
  let bob: TestAgent;
  beforeAll(async () => {
    relay = await TestRelay.start();
    alice = await relay.agent("alice");
    bob = await relay.agent("bob", "upper");
  });
  afterAll(() => relay.stop());

  const workers = async () => (await alice.get("/v1/agents/bob")).body.workers;

  it("is told which workers are asking for work at this moment", async () => {
    const gone = new AbortController();
    const claiming = relay
      .call("POST", "/v1/claims", {
        token: bob.token,
        body: { worker: "bob-1" },
        headers: { prefer: "wait=30" },
        signal: gone.signal,
      })
      .catch(() => null);
    await expect.poll(workers).toMatchObject([{ worker: "bob-1", asking: true }]);
    gone.abort();
    await claiming;
    await expect.poll(workers).toMatchObject([{ worker: "bob-1", asking: false }]);
  });

  it("is told when an agent that only sends was last heard of", async () => {
    const { body } = await bob.get("/v1/agents/alice");
    expect(body.last_seen_at).toBeGreaterThan(0);
  });

  it("is told what a queued handoff waits for, and until when", async () => {
    const work = { to: "bob", input: 1, ordering_key: "one at a time", limits: { queue_ms: 60_000 } };
    const first = await alice.submit(work);
    const second = await alice.submit(work);
    const { body: head } = await alice.get(`/v1/handoffs/${first}`);
    expect(head).toMatchObject({ blocked: false, queue_until: head.accepted_at + 60_000, lease: null });
    expect((await alice.get(`/v1/handoffs/${second}`)).body).toMatchObject({ blocked: true, queue_until: null });
    await bob.claim();
    const { lease, queue_until } = (await alice.get(`/v1/handoffs/${first}`)).body;
    expect(queue_until).toBeNull();
    expect(lease.lease_until).toBe(lease.beat_at + 30_000);
    expect(lease).toHaveProperty("attempt_until");
  });
});
