import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Client } from "../client.ts";
import { UsageError } from "../errors.ts";
import { type TestRelay, testRelay } from "../testing/mod.ts";

const price = { amount: 100, per: "handoff" } as const;

let relay: TestRelay;
let ann: Client;
beforeEach(async () => {
  relay = await testRelay();
  relay.fake("upper", (text) => String(text).toUpperCase(), { timeout: "30s", cost: price });
  ann = await relay.connect("ann");
});
afterEach(() => relay.stop());

const need = { capability: "upper", timeout: "1m", attempts: 2, valid: "1h" } as const;

async function agreed() {
  const { offers } = await ann.negotiate(need);
  const contract = await offers[0]?.accept();
  if (contract === undefined) throw new Error("nobody offers");
  return contract;
}

describe("negotiate", () => {
  it("brings offers on the terms that were asked for", async () => {
    const { offers, declined, near } = await ann.negotiate(need);
    expect([offers.length, declined, near]).toEqual([1, [], []]);
    expect(offers[0]).toMatchObject({ agent_id: "upper-1", cost: price, made_by: "manifest" });
    expect(offers[0]?.terms?.limits).toMatchObject({ deadline_ms: 60_000, max_attempts: 2 });
  });

  it("tells who came nearest where nobody offers on these terms, and does not throw", async () => {
    const { id, offers, near } = await ann.negotiate({ ...need, maxCost: { amount: 99, per: "handoff" } });
    expect([id, offers]).toEqual([null, []]);
    expect(near).toMatchObject([{ agent_id: "upper-1" }]);
  });

  it("waits for agents that are asked live, until their time is over", async () => {
    relay.fake("lower", (text) => text, { proposes: true });
    await relay.settle();
    const { offers, declined } = await relay.until(ann.negotiate({ capability: "lower", replyBy: "2s" }));
    expect([offers, declined]).toMatchObject([[], [{ agent_id: "lower-1", reason: "no_answer" }]]);
  });

  it("asks nobody where nothing is said of what is to be done", async () => {
    await expect(ann.negotiate({ timeout: "1m" })).rejects.toThrow("needs words, a capability or schemas");
    await expect(ann.negotiate({})).rejects.toBeInstanceOf(UsageError);
    expect((await ann.negotiate({ agents: ["upper-1"] })).offers).toHaveLength(1);
  });

  it("refuses a misspelt term before anything is asked", async () => {
    await expect(ann.negotiate({ ...need, deadline: "1m" } as never)).rejects.toThrow(/no "deadline"/);
  });

  it.each([
    [
      "text in place of a list",
      { agents: "upper-1" as never },
      /^agents is "upper-1"/,
      'Give a list, such as ["upper-1"].',
    ],
    ["a contract for too long", { valid: "31d" }, /^valid is "31d", which is too long/, "Give 30 days at most."],
    ["too long a wait", { replyBy: "11m" }, /^replyBy is "11m"/, "Give 10 minutes at most."],
  ] as const)("refuses %s before anything is asked", async (_what, terms, message, remedy) => {
    const refused = ann.negotiate({ ...need, ...terms });
    await expect(refused).rejects.toMatchObject({
      name: "UsageError",
      message: expect.stringMatching(message),
      remedy,
    });
  });
});

describe("an offer that was accepted", () => {
  it("is a contract with the asker's own signature, and the same one when it is accepted again", async () => {
    const { offers } = await ann.negotiate(need);
    const [one, two] = [await offers[0]?.accept(), await offers[0]?.accept()];
    expect(one?.id).toBe(offers[0]?.contract_id);
    expect(two?.id).toBe(one?.id);
    expect(one?.view.asker_evidence.kind).toBe("signed");
    expect(one?.validUntil).toBe(relay.now() + 3_600_000);
  });

  it("gets work done on its terms", async () => {
    const contract = await agreed();
    const handle = await contract.send("hello");
    expect(await relay.until(handle.result())).toBe("HELLO");
    expect(await relay.handoff(handle)).toMatchObject({ contract: contract.id, limits: { deadline_ms: 60_000 } });
    expect((await contract.status()).view.fulfilment).toMatchObject({ fulfilled: 1, breaches: 0 });
  });

  it("is found again by its id, and can be named when sending", async () => {
    const { id } = await agreed();
    const contract = await ann.contract(id);
    const handle = await ann.send(contract.target, "again", { contract: id });
    expect(await relay.until(handle.result())).toBe("AGAIN");
  });

  it("is listed for both sides, also where there are more than one page holds", async () => {
    const ids = new Set<string>();
    for (let n = 0; n < 52; n++) ids.add((await agreed()).id);
    const ended = await (await agreed()).end();
    const listed = await Array.fromAsync(ann.contracts({ as: "asker", state: "in_force" }));
    expect(new Set(listed.map(({ id }) => id))).toEqual(ids);
    expect((await Array.fromAsync(ann.contracts({ state: "ended" }))).map(({ id }) => id)).toEqual([ended.id]);
    expect(await Array.fromAsync(ann.contracts({ as: "provider" }))).toEqual([]);
    expect(() => ann.contracts({ side: "asker" } as never)).toThrow(/no "side"/);
  });

  it("is not looked for by what is no id", async () => {
    await expect(ann.contract("abc")).rejects.toThrow('"abc" is no id of a contract.');
    await expect(ann.contract("abc")).rejects.toBeInstanceOf(UsageError);
  });

  it("gives less where less is asked for, never more", async () => {
    const contract = await agreed();
    await contract.send("less", { timeout: "10s" });
    await expect(contract.send("more", { timeout: "2m" })).rejects.toMatchObject({ reason: "beyond_contract" });
  });

  it("takes no more work once it was ended", async () => {
    const contract = await agreed();
    expect((await contract.end("enough")).view.state).toBe("ended");
    await expect(contract.send("late")).rejects.toMatchObject({ code: 428, reason: "contract_ended" });
  });

  it("demands signed evidence where that was agreed on", async () => {
    const { offers } = await ann.negotiate({ ...need, evidence: "signed" });
    const contract = await offers[0]?.accept();
    const handle = await contract?.send("proven");
    expect(handle && (await relay.until(handle.result()))).toBe("PROVEN");
  });

  it("is attested by the relay where its asker has only a token", async () => {
    const operator = await relay.connect("operator", { token: relay.operatorToken });
    const { token } = await operator.call("create_token", { body: { agent: "carl" } });
    const carl = await relay.connect("carl", { token });
    const { offers } = await carl.negotiate(need);
    const contract = await offers[0]?.accept();
    expect(contract?.view.asker_evidence.kind).toBe("attested");
    const handle = await contract?.send("plain");
    expect(handle && (await relay.until(handle.result()))).toBe("PLAIN");
  });
});
