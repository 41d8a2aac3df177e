import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { operator_token, type TestAgent, TestRelay } from "../testing/test-relay.ts";

let relay: TestRelay;
let alice: TestAgent;
let bob: TestAgent;
beforeEach(async () => {
  relay = await TestRelay.start();
  alice = await relay.agent("alice");
  bob = await relay.agent("bob", "draw", "write");
});
afterEach(() => relay.stop());

/** Attempts of bob, one after the other. */
async function work(capability: string, ...acts: readonly ("complete" | "fail" | "reject")[]): Promise<void> {
  for (const act of acts) {
    await alice.submit({ capability, input: 1, limits: { max_attempts: 1 } });
    const { id, fence } = await bob.claim({ capabilities: [capability] });
    await bob.act(id, "ack", { fence });
    const said = act === "complete" ? { output: 2 } : { error: { reason: "trouble", message: "it went wrong" } };
    const { status, text } = await bob.act(id, act, { fence, worker: "bob-1", ...said });
    if (status >= 300) throw new Error(text);
  }
}

const of = async (agent: string) => (await alice.get(`/v1/agents/${agent}/reliability`)).body;

describe("reliability", () => {
  test("tells of every capability that the agent offers, also of one that nothing is known of", async () => {
    await work("draw", "complete", "fail", "complete", "complete");
    expect(await of("bob")).toMatchObject({
      agent: "bob",
      capabilities: [
        {
          capability: "draw",
          claim: null,
          status: "unclaimed",
          measured: { attempts: 4, successes: 3, window_ms: 86_400_000 },
        },
        { capability: "write", measured: { attempts: 0, lower: 0, upper: 1, p50_ms: null, last_at: null } },
      ],
    });
    const [{ measured }] = (await of("bob")).capabilities;
    expect([measured.lower, measured.upper].map((bound) => bound.toFixed(2))).toEqual(["0.30", "0.95"]);
    expect(measured.p50_ms).toBeGreaterThan(0);
    expect(measured.since).toBeLessThanOrEqual(measured.last_at);
  });

  test("is for whoever proved an identity, about any agent there is", async () => {
    expect((await relay.get("/v1/agents/bob/reliability")).status).toBe(401);
    expect(await alice.get("/v1/agents/nobody/reliability")).toMatchObject({
      status: 404,
      body: { reason: "unknown_agent" },
    });
    expect(await of("alice")).toEqual({ agent: "alice", capabilities: [] });
  });

  test("is the same after a restart", async () => {
    await work("write", "complete", "fail", "reject");
    const [, before] = (await of("bob")).capabilities;
    expect(before.measured).toMatchObject({ attempts: 2, successes: 1 });
    await relay.pause();
    await relay.resume();
    const [, after] = (await of("bob")).capabilities;
    // By some hundred milliseconds everything weighs less.
    const { lower, upper } = after.measured;
    expect(after.measured).toEqual({ ...before.measured, lower, upper });
    expect(upper - before.measured.upper).toBeLessThan(0.001);
  });

  test("of an agent whose name was another's begins anew", async () => {
    await work("draw", "fail", "fail");
    await relay.call("DELETE", "/v1/agents/bob", { token: operator_token });
    bob = await relay.agent("bob", "draw");
    const [{ measured }] = (await of("bob")).capabilities;
    expect(measured).toMatchObject({ attempts: 0, since: null });
    await work("draw", "complete");
    expect((await of("bob")).capabilities[0].measured).toMatchObject({ attempts: 1, successes: 1 });
  });
});

describe("the metrics", () => {
  const labels = 'agent="bob",capability="draw"';

  test("tell the bounds, how many attempts they come from, and the latency", async () => {
    await work("draw", "complete", "complete", "fail");
    expect(await relay.figure(`handfast_reliability_attempts{${labels}}`)).toBe(3);
    expect(await relay.figure(`handfast_reliability{${labels},bound="lower"}`)).toBeCloseTo(0.208, 2);
    expect(await relay.figure(`handfast_reliability{${labels},bound="upper"}`)).toBeCloseTo(0.939, 2);
    expect(await relay.figure(`handfast_reliability_latency_seconds{${labels},quantile="0.95"}`)).toBeGreaterThan(0);
  });

  test("tell of the busiest pairs, and of no more than their limit", async () => {
    await relay.stop();
    relay = await TestRelay.start({ limits: { reliability_gauges: 1 } });
    alice = await relay.agent("alice");
    bob = await relay.agent("bob", "draw", "write");
    await work("write", "complete");
    await work("draw", "complete", "complete");
    const { text } = await relay.get("/metrics");
    expect(text.match(/^handfast_reliability_attempts.*$/gm)).toEqual([`handfast_reliability_attempts{${labels}} 2`]);
  });
});
