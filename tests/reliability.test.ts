/** Measured reliability on whole relays: what a provider's claim comes to, and figures that outlive a killed process. */

import { randomUUID } from "node:crypto";
import { type Client, Fail } from "@handfast/client";
import { type TestRelay, testRelay } from "@handfast/client/testing";
import { fields } from "@handfast/protocol";
import type { AgentReliability } from "@handfast/protocol/wire";
import { describe, expect, test } from "vitest";
import { Caller } from "./support/caller.ts";
import { RelayProcess } from "./support/relay-process.ts";

const claim = 0.95;

/** Hands over so much work, all of it at once, and waits until it has ended, well or badly. */
async function handOver(
  relay: TestRelay,
  sender: Client,
  capability: string,
  from: number,
  until: number,
): Promise<void> {
  const inputs = Array.from({ length: until - from }, (_, nth) => from + nth);
  const ended = inputs.map(async (input) => {
    const handle = await sender.send(capability, input);
    await handle.result().catch(() => {});
  });
  await relay.until(Promise.all(ended));
}

async function measured(relay: TestRelay, sender: Client, name: string) {
  const { capabilities } = await relay.until(sender.call("reliability", { params: { name } }));
  const [first] = capabilities;
  if (first === undefined) throw new Error(`${name} offers nothing`);
  return first;
}

describe("a provider, on a relay with a client", () => {
  test("that fails one in five: the upper bound falls below 0.95", async () => {
    await using relay = await testRelay();
    relay.fake("summarize", (input) => {
      if (Number(input) % 5 === 0) throw new Fail("one in five");
      return "done";
    });
    const sender = await relay.connect("sender");
    await handOver(relay, sender, "summarize", 0, 60);
    const { measured: figures } = await measured(relay, sender, "summarize-1");
    expect(figures).toMatchObject({ attempts: 60, successes: 48 });
    expect(figures.upper).toBeLessThan(claim);
  });

  test("that always succeeds: the lower bound reaches 0.95 with the 73rd", async () => {
    await using relay = await testRelay();
    relay.fake("summarize", () => "done");
    const sender = await relay.connect("sender");
    await handOver(relay, sender, "summarize", 0, 72);
    expect((await measured(relay, sender, "summarize-1")).measured.lower).toBeLessThan(claim);
    await handOver(relay, sender, "summarize", 72, 73);
    expect((await measured(relay, sender, "summarize-1")).measured.lower).toBeGreaterThanOrEqual(claim);
  });
});

/** Until the specification's capability has the field, nobody can claim anything. */
const can_claim = "reliability_sla" in fields.capability.properties;

describe.skipIf(!can_claim)("a provider that claims 0.95", () => {
  /** A worker without a handler: the claim is in its manifest, and it does what the test says. */
  async function provider(relay: TestRelay) {
    const operator = await relay.connect("operator", { token: relay.operatorToken });
    const capability = { name: "summarize", reliability_sla: claim };
    const made = await relay.until(
      operator.call("create_token", { body: { agent: "bob", capabilities: [capability] } }),
    );
    const worker = await relay.connect("bob", { token: made.token });
    const sender = await relay.connect("sender");
    const work = async (is_well: boolean) => {
      await relay.until(sender.send("summarize", 1));
      const body = { worker: "bob-1", slots: 1, request_id: randomUUID() };
      const { leases } = await relay.until(worker.call("claim", { body }));
      const [lease] = leases;
      if (lease === undefined) throw new Error("there was nothing to claim");
      const held = { fence: lease.fence, worker: "bob-1" };
      const params = { id: lease.id };
      if (is_well) await relay.until(worker.call("complete", { params, body: { ...held, output: "done" } }));
      else {
        const error = { reason: "trouble", message: "it went wrong" };
        await relay.until(worker.call("fail", { params, body: { ...held, error, retryable: false } }));
      }
    };
    return { bob: worker, sender, work, status: async () => (await measured(relay, sender, "bob")).status };
  }

  test("and fails one in five ends breached", async () => {
    await using relay = await testRelay();
    const { work, status } = await provider(relay);
    expect(await status()).toBe("unproven");
    for (let nth = 0; nth < 60; nth += 1) await work(nth % 5 > 0);
    expect(await status()).toBe("breached");
  });

  test("and is given what nobody could do, by a stranger or by itself, is not judged by it", async () => {
    await using relay = await testRelay();
    const { bob, sender } = await provider(relay);
    const claimOne = async () => {
      const body = { worker: "bob-1", slots: 1, request_id: randomUUID() };
      const [lease] = (await relay.until(bob.call("claim", { body }))).leases;
      if (lease === undefined) throw new Error("there was nothing to claim");
      return { params: { id: lease.id }, held: { fence: lease.fence, worker: "bob-1" } };
    };
    for (let nth = 0; nth < 8; nth += 1) {
      await relay.until(sender.send("summarize", 1, { attempt: 1, attempts: 1 }));
      const { params, held } = await claimOne();
      await relay.until(bob.call("ack", { params, body: held }));
      await relay.advance(10);
      await relay.until(sender.send("summarize", 1, { expects: { const: nth } }));
      const other = await claimOne();
      for (const output of ["a", "b", "c", "d"]) {
        const refused = bob.call("complete", { params: other.params, body: { ...other.held, output } });
        await expect(relay.until(refused)).rejects.toMatchObject({ reason: "output_unfit" });
      }
      await relay.until(bob.send("summarize", 1));
      const own = await claimOne();
      await relay.until(bob.call("complete", { params: own.params, body: { ...own.held, output: "done" } }));
    }
    const { status, measured: figures } = await measured(relay, sender, "bob");
    expect([status, figures.attempts]).toEqual(["unproven", 0]);
  });

  test("and always succeeds ends verified after 73, and is unproven before", async () => {
    await using relay = await testRelay();
    const { work, status } = await provider(relay);
    for (let nth = 0; nth < 72; nth += 1) await work(true);
    expect(await status()).toBe("unproven");
    await work(true);
    expect(await status()).toBe("verified");
  });
});

interface Counted {
  readonly attempts: number;
  readonly successes: number;
}

const day_ms = 86_400_000;

/** What the log says, weighed as the relay weighs it. */
async function countedFromLog(url: string, token: string): Promise<Counted> {
  const response = await fetch(`${url}/v1/log`, { headers: { authorization: `Bearer ${token}` } });
  const lines = (await response.text()).split("\n").filter(Boolean);
  let [attempts, successes] = [0, 0];
  for (const line of lines) {
    const { event } = JSON.parse(line) as { readonly event: { readonly type: string; readonly at: number } };
    if (event.type !== "completed" && event.type !== "failed") continue;
    const weight = 2 ** ((event.at - Date.now()) / day_ms);
    attempts += weight;
    if (event.type === "completed") successes += weight;
  }
  return { attempts, successes };
}

describe("a relay that is killed", () => {
  const rounds = 3;
  /** Longer than what changed waits to be written. */
  const round_ms = 6_000;

  test("has counted every attempt once when it is back, wherever it died", async () => {
    const relay = await RelayProcess.start();
    try {
      const sender = await Caller.named(relay.url, "sender");
      const worker = await Caller.named(relay.url, "bob", [{ name: "summarize" }]);
      const lease = async (request_id: string) => {
        const body = { worker: "bob-1", slots: 1, request_id };
        const claimed = await worker.post<{ readonly leases: readonly Lease[] }>("/v1/claims", body, 10);
        const [first] = claimed.body.leases;
        if (first === undefined) throw new Error("there was nothing to claim");
        return first;
      };
      const begin = async (nth: number) => {
        const body = { capability: "summarize", input: nth, idempotency_key: `handoff ${nth}` };
        await sender.post("/v1/handoffs", body);
        const { id, fence } = await lease(`claim ${nth}`);
        await worker.post(`/v1/handoffs/${id}/ack`, { fence });
        return async () => {
          const error = { reason: "trouble", message: "it went wrong" };
          const held = { fence, worker: "bob-1" };
          if (nth % 4 > 0) await worker.post(`/v1/handoffs/${id}/complete`, { ...held, output: nth });
          else await worker.post(`/v1/handoffs/${id}/fail`, { ...held, error, retryable: false });
        };
      };
      let nth = 0;
      for (let round = 0; round < rounds; round += 1) {
        const open = await begin(++nth);
        // The first time it dies before anything of it was written, then in the middle of what was.
        for (const began = performance.now(); performance.now() < began + Math.min(round, 1) * round_ms; )
          await (await begin(++nth))();
        await (await begin(++nth))();
        const dying = relay.end("SIGKILL");
        const last = open();
        await dying;
        await relay.start();
        await last;
        const { body } = await sender.get<AgentReliability>("/v1/agents/bob/reliability");
        const told = body.capabilities[0]?.measured;
        const logged = await countedFromLog(relay.url, worker.token);
        expect(logged.attempts).toBeGreaterThan(nth - 1);
        expect(told?.attempts).toBeCloseTo(logged.attempts, 1);
        expect(told?.successes).toBeCloseTo(logged.successes, 1);
        expect(told?.p50_ms).toBeGreaterThan(0);
      }
    } finally {
      await relay.dispose();
    }
  }, 240_000);
});

interface Lease {
  readonly id: string;
  readonly fence: number;
}
