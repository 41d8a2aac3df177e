import type { ProposalCall } from "@handfast/protocol/wire";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import type { Client } from "../client.ts";
import { Reject } from "../errors.ts";
import { type TestRelay, testRelay } from "../testing/mod.ts";
import type { CapabilityDefinition } from "./mod.ts";
import type { Propose } from "./propose.ts";
import { Stage } from "./testing/stage.ts";

const price = { amount: 100, per: "handoff" } as const;
const upper = (text: unknown) => String(text).toUpperCase();
const need = { capability: "upper", timeout: "1m", attempts: 2, replyBy: "10s", valid: "1h" } as const;

describe("an agent that wants to be asked", () => {
  let relay: TestRelay;
  let ann: Client;
  let warned: string[];
  beforeEach(async () => {
    warned = [];
    relay = await testRelay();
    ann = await relay.connect("ann");
  });
  afterEach(() => relay.stop());

  async function serving(propose: Propose, more: Partial<CapabilityDefinition> = {}): Promise<void> {
    const worker = await relay.connect("worker", { onWarning: ({ reason }) => warned.push(reason) });
    await worker.serve({ upper: { handler: upper, cost: price, propose, ...more } }, { signals: false });
  }

  /** What comes of a round with one such agent. */
  async function asked(propose: Propose, more: Partial<CapabilityDefinition> = {}) {
    await serving(propose, more);
    return relay.until(ann.negotiate(need));
  }

  it("prices for whoever asks, in its own name, and keeps to it", async () => {
    const calls: ProposalCall[] = [];
    const { offers } = await asked((call) => {
      calls.push(call);
      return { cost: { ...price, amount: call.from === "ann" ? 70 : 700 } };
    });
    expect(offers).toMatchObject([{ agent_id: "worker", made_by: "proposal", cost: { amount: 70 } }]);
    expect(calls).toMatchObject([{ from: "ann", capability: "upper", terms: { cost: price, provider: "worker" } }]);
    const contract = await offers[0]?.accept();
    expect(contract?.view.provider_evidence).toMatchObject({ kind: "proposal", proof: { key: expect.any(String) } });
    const handle = await contract?.send("hello");
    expect(handle && (await relay.until(handle.result()))).toBe("HELLO");
  });

  it("narrows the terms", async () => {
    const { offers } = await asked(() => ({ timeout: "30s", attempts: 1, valid: "10m", cost: null }));
    expect(offers[0]?.terms).toMatchObject({
      cost: null,
      limits: { deadline_ms: 30_000, queue_ms: 30_000, max_attempts: 1 },
      valid_until: relay.now() + 600_000,
    });
  });

  it("agrees to what was asked, at its list price, where it says nothing", async () => {
    const { offers } = await asked(() => {});
    expect(offers).toMatchObject([{ cost: price, terms: { limits: { deadline_ms: 60_000, max_attempts: 2 } } }]);
  });

  it("declines with its own reason", async () => {
    const { offers, declined } = await asked(() => {
      throw new Reject("I have enough to do.", { reason: "too_busy" });
    });
    expect(offers).toEqual([]);
    expect(declined).toMatchObject([{ agent_id: "worker", reason: "too_busy", message: "I have enough to do." }]);
  });

  it.each<[string, Propose]>([
    ["fails", () => Promise.reject(new Error("secret path /home"))],
    ["widens what was asked for", () => ({ timeout: "2m" })],
    ["asks for a longer validity", () => ({ valid: "2h" })],
    ["says what is no proposal", () => "cheap" as never],
    ["misspells what it says", () => ({ price: 3 }) as never],
    ["names a price that the relay does not take", () => ({ cost: { amount: -1, per: "handoff" } })],
  ])("declines, and its people are told, where its function %s", async (_what, propose) => {
    const { offers, declined } = await asked(propose);
    expect(offers).toEqual([]);
    expect(declined).toMatchObject([{ reason: "propose_failed" }]);
    expect(JSON.stringify(declined)).not.toContain("secret");
    expect(warned).toEqual(["propose_failed"]);
  });

  it("works on while its function hangs, which is told when its time is over", async () => {
    let told: AbortSignal | undefined;
    await serving((_call, { signal }) => {
      told = signal;
      return new Promise(() => {});
    });
    const round = ann.negotiate(need);
    await relay.settle();
    const handle = await ann.send("upper", "meanwhile");
    expect(await relay.until(handle.result())).toBe("MEANWHILE");
    expect(told?.aborted).toBe(false);
    expect((await relay.until(round)).declined).toMatchObject([{ reason: "no_answer" }]);
    await relay.advance("1s");
    expect(told?.aborted).toBe(true);
    expect(warned).toEqual(["propose_late"]);
  });

  it("has one answer, whichever of its workers is asked", async () => {
    const amounts = [10, 20];
    const propose: Propose = () => ({ cost: { ...price, amount: amounts.pop() ?? 0 } });
    await serving(propose);
    await serving(propose);
    const { offers } = await relay.until(ann.negotiate(need));
    await relay.settle();
    expect([offers.length, amounts]).toEqual([1, []]);
    expect(warned).toEqual([]);
  });

  it("is not asked where its capability says that it does not want to be", async () => {
    const { offers } = await asked(() => ({ cost: null }), { proposes: false });
    expect(offers).toMatchObject([{ made_by: "manifest", cost: price }]);
  });

  it("is refused with something that is no function", async () => {
    const worker = await relay.connect("worker");
    const capabilities = { upper: { handler: upper, propose: 3 } };
    await expect(worker.serve(capabilities as never)).rejects.toThrow("The propose of upper is 3.");
  });
});

describe("over a real relay", () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.open();
  });
  afterEach(() => stage.close());

  test.each(["http", "websocket"] as const)("calls arrive and are answered by %s", async (transport) => {
    const worker = await stage.agent("worker", { transport });
    const cost = { ...price, amount: 7 };
    await worker.serve({ upper: { handler: upper, propose: () => ({ cost }) } }, { signals: false });
    const asker = await stage.agent("asker", { transport });
    const [one, two] = await Promise.all([asker.negotiate(need), asker.negotiate(need)]);
    expect([one.offers[0]?.cost, two.offers[0]?.cost]).toEqual([cost, cost]);
    expect((await one.offers[0]?.accept())?.terms.provider).toBe("worker");
  });

  test("one that stops answers no more", async () => {
    const worker = await stage.agent("worker");
    const server = await worker.serve({ upper: { handler: upper, propose: () => {} } }, { signals: false });
    const asker = await stage.agent("asker");
    expect((await asker.negotiate(need)).offers.length).toBe(1);
    await server.stop();
    const { declined } = await asker.negotiate({ ...need, replyBy: "200ms" });
    expect(declined).toMatchObject([{ reason: "no_answer" }]);
  });

  test.each<[string, (call: ProposalCall) => void]>([
    ["somebody else's work", ({ terms }) => Object.assign(terms, { provider: "mallory" })],
    ["another capability than it offers", ({ terms }) => Object.assign(terms, { offered: "0".repeat(64) })],
    ["another relay", ({ terms }) => Object.assign(terms, { relay: "http://elsewhere.example" })],
  ])("nothing is signed for %s, though the relay asks for it", async (_what, tamper) => {
    const lying: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (!response.headers.get("content-type")?.includes("json")) return response;
      const body = (await response.json()) as { proposals?: ProposalCall[] };
      for (const call of body.proposals ?? []) tamper(call);
      return Response.json(body, { status: response.status });
    };
    const worker = await stage.agent("worker", { fetch: lying, transport: "http" });
    let ran = false;
    const propose = () => {
      ran = true;
    };
    await worker.serve({ upper: { handler: upper, propose } }, { signals: false });
    const asker = await stage.agent("asker");
    const round = asker.negotiate({ ...need, replyBy: "1s" });
    await stage.warned("worker", "offer_differs");
    expect((await round).declined).toMatchObject([{ reason: "no_answer" }]);
    expect(ran).toBe(false);
  });
});
