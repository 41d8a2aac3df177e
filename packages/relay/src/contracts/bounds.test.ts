/** How much of negotiations and contracts is kept, and for how long; and that hostile input changes nothing. */

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { limits } from "../limits.ts";
import { canonicalJson } from "../schemas/canonical-json.ts";
import { ContractTable } from "./contract-table.ts";
import { Negotiations } from "./negotiations.ts";
import { Market, type Trader } from "./testing/market.ts";
import { sampleContract, sampleNegotiation } from "./testing/samples.ts";

const hour = 60 * 60_000;

let market: Market;
let asker: Trader;
beforeEach(async () => {
  market = await Market.open();
  asker = await market.agent("asker");
  await market.agent("provider", [{ name: "upper" }]);
});
afterEach(() => market.close());

describe("negotiations", () => {
  it("are with the agents that are named, however many others are ranked before them", async () => {
    await market.close();
    market = await Market.open({ hits_most: 2 });
    const asker = await market.agent("asker");
    for (const name of ["a", "b", "c", "d"]) await market.agent(name, [{ name: "upper" }]);
    const { body } = await asker.negotiate({ capability: "upper", agents: ["d", "nobody"] });
    expect(body.offers.map(({ agent_id }: { agent_id: string }) => agent_id)).toEqual(["d"]);
    expect(body.near).toMatchObject([{ agent_id: "nobody", lacks: ["It is not known here."] }]);
  });

  it("are bounded for each asker, and make room as their offers expire", async () => {
    for (let n = 0; n < limits.negotiations_per_agent; n++) {
      await market.clock.advance(1);
      expect((await asker.negotiate({ capability: "upper" })).status).toBe(200);
    }
    const over = await asker.negotiate({ capability: "upper" });
    expect([over.status, over.body.reason]).toEqual([429, "too_many_negotiations"]);
    const other = await market.agent("other");
    expect((await other.negotiate({ capability: "upper" })).status).toBe(200);
    await market.clock.advance(limits.offer_life_ms);
    expect((await asker.negotiate({ capability: "upper" })).status).toBe(200);
  });

  it("that brought nothing are not kept at all", async () => {
    for (let n = 0; n <= limits.negotiations_per_agent; n++) {
      expect((await asker.negotiate({ capability: "lower" })).status).toBe(406);
    }
    expect((await asker.negotiate({ capability: "upper" })).status).toBe(200);
  });

  it("that are begun wait behind so many at most; more are told to come back", async () => {
    const more = 10;
    const begun = Array.from({ length: limits.negotiations_in_line + more }, () =>
      asker.negotiate({ capability: "lower" }),
    );
    const got = (await Promise.all(begun)).map(({ status, body }) => `${status} ${body.reason}`);
    expect(got.filter((each) => each === "429 busy")).toHaveLength(more);
    expect(got.filter((each) => each === "406 no_offer")).toHaveLength(limits.negotiations_in_line);
    expect((await asker.negotiate({ capability: "upper" })).status).toBe(200);
  });

  it("go some time after their last offer expired: then the offer is not there any more", async () => {
    const { body } = await asker.negotiate({ capability: "upper" });
    const path = `/v1/negotiations/${body.negotiation_id}`;
    await market.clock.advance(limits.offer_life_ms);
    expect([(await asker.get(path)).body.offers, (await asker.get(path)).status]).toEqual([[], 200]);
    await market.clock.advance(limits.negotiation_kept_ms + limits.collect_every_ms);
    expect((await asker.get(path)).status).toBe(404);
    const got = await asker.post("/v1/contracts", { offer_id: body.offers[0].offer_id });
    expect([got.status, got.body.reason]).toEqual([404, "unknown_offer"]);
  });

  it("are bounded in bytes for each asker and over all, before anything is written", () => {
    const big = { ...sampleNegotiation("a"), schemas: { input_schema: { $comment: "x".repeat(1_000) } } };
    const bytes = canonicalJson(big).length;
    const few = { ...limits, negotiation_bytes_per_agent: 2 * bytes, negotiation_bytes_total: 3 * bytes };
    const table = new Negotiations("default", few);
    const add = (id: string, asker: string) => {
      const negotiation = { ...big, asker };
      for (const { apply } of table.makingRoom(asker, bytes, 0)) apply();
      table.set(id, negotiation).apply();
    };
    add("1", "a");
    add("2", "a");
    expect(() => table.makingRoom("a", bytes, 0)).toThrow(/as many as one agent may/);
    add("3", "b");
    expect(() => table.makingRoom("c", bytes, 0)).toThrow(/of all agents/);
    // When they are over, their asker's next takes their place.
    expect(table.makingRoom("a", bytes, big.over_at).length).toBe(1);
  });
});

describe("contracts", () => {
  it("are bounded for each asker, in number and in bytes", () => {
    const two = new ContractTable("default", { ...limits, contracts_per_agent: 2 });
    for (const id of ["1", "2"]) for (const { apply } of two.adding(id, sampleContract("a", id), null)) apply();
    expect(() => two.adding("3", sampleContract("a", "3"), null)).toThrow(/as many as are kept/);
    expect(two.adding("3", sampleContract("b", "3"), null)).toHaveLength(1);
    const bytes = canonicalJson(sampleContract("a", "1")).length;
    const small = new ContractTable("default", { ...limits, contract_bytes_per_agent: bytes });
    for (const { apply } of small.adding("1", sampleContract("a", "1"), null)) apply();
    expect(() => small.adding("2", sampleContract("a", "2"), null)).toThrow(/as many as are kept/);
  });

  it("keep a manifest once for all that refer to it, and let it go with the last", () => {
    const table = new ContractTable("default", limits);
    const word = { document: "{}", proof: null };
    const kinds = (changes: readonly { write: { kind: string } }[]) => changes.map(({ write }) => write.kind);
    const first = table.adding("1", sampleContract("a", "1"), word);
    expect(kinds(first)).toEqual(["contract", "contract_manifest"]);
    for (const { apply } of first) apply();
    const second = table.adding("2", sampleContract("a", "2"), word);
    expect(kinds(second)).toEqual(["contract"]);
    for (const { apply } of second) apply();
    expect(kinds(table.dropping(["1", "2"]))).toEqual(["contract", "contract", "contract_manifest"]);
    const gone = table.dropping(["1"]);
    expect(kinds(gone)).toEqual(["contract"]);
    for (const { apply } of gone) apply();
    expect(kinds(table.dropping(["2"]))).toEqual(["contract", "contract_manifest"]);
  });

  it("go, with their counts, long after nothing can be open under them", async () => {
    const { contract_id } = await asker.contract({
      capability: "upper",
      valid_ms: hour,
      limits: { deadline_ms: hour },
    });
    await asker.submit({ contract: contract_id, input: 1 });
    const path = `/v1/contracts/${contract_id}`;
    await market.clock.advance(2 * hour + limits.contract_kept_ms - 1);
    expect((await asker.get(path)).body).toMatchObject({ state: "expired", fulfilment: { breaches: 1 } });
    await market.clock.advance(2 * limits.collect_every_ms);
    expect((await asker.get(path)).status).toBe(404);
    await market.restart();
    expect((await asker.get(path)).status).toBe(404);
  });
});

describe("hostile input", () => {
  const bomb = { $defs: { a: { allOf: [{ $ref: "#/$defs/a" }] } }, $ref: "#/$defs/a" };

  it.each([
    ["a schema that refers to itself", { capability: "upper", input_schema: bomb }],
    ["a reliability above 1", { capability: "upper", min_reliability: 1.5 }],
    ["a negative price", { capability: "upper", max_cost: { amount: -1, per: "handoff" } }],
    ["a time to reply beyond the limit", { capability: "upper", reply_by_ms: 600_001 }],
    ["a field that nobody knows", { capability: "upper", surprise: 1 }],
    ["a name in another script", { capability: "uрper" }],
    ["no range of versions", { capability: "upper", version: ">>1" }],
    ["more agents than are asked", { capability: "upper", agents: Array.from({ length: 65 }, (_, n) => `a${n}`) }],
    ["an agent twice", { capability: "upper", agents: ["provider", "provider"] }],
  ])("is refused, and nothing is kept: %s", async (_, body) => {
    const got = await asker.negotiate(body);
    expect([400, 413]).toContain(got.status);
    expect(await market.entries()).toEqual([]);
  });

  it("in ids is refused without a look", async () => {
    for (const id of ["..", "0".repeat(63), "z".repeat(64), "%00"]) {
      expect([400, 404]).toContain((await asker.get(`/v1/contracts/${encodeURIComponent(id)}`)).status);
      expect([400, 404]).toContain((await asker.post(`/v1/proposals/${encodeURIComponent(id)}`)).status);
    }
    const got = await asker.post("/v1/contracts", { offer_id: "__proto__" });
    expect(got.status).toBe(400);
    const submit = await asker.submit({ contract: "__proto__", capability: "upper", input: 1 });
    expect([submit.status, submit.body.reason]).toEqual([428, "unknown_contract"]);
  });

  it("by an operator's token is in nobody's name", async () => {
    for (const [method, path, body] of [
      ["POST", "/v1/negotiations", { capability: "upper" }],
      ["GET", "/v1/proposals", undefined],
      ["POST", "/v1/contracts", { offer_id: market.newId() }],
    ] as const) {
      const got = await market.operator(method, path, body);
      expect([got.status, got.body.reason]).toEqual([403, "not_an_agent"]);
    }
  });

  it("with a cursor of another list is refused", async () => {
    const got = await asker.get(`/v1/contracts?cursor=${Buffer.from("e1").toString("base64url")}`);
    expect([got.status, got.body.fields]).toEqual([400, ["/cursor"]]);
  });
});

describe("what is over", () => {
  const few = { negotiations_dropped_at_once: 2, contracts_dropped_at_once: 2 };
  beforeEach(async () => {
    await market.close();
    market = await Market.open(few);
    asker = await market.agent("asker");
    await market.agent("provider", [{ name: "upper" }]);
  });

  /** How many of these are still there. */
  async function left(paths: readonly string[]): Promise<number> {
    const answers = await Promise.all(paths.map((path) => asker.get(path)));
    return answers.filter(({ status }) => status === 200).length;
  }

  it("of negotiations goes so many at a time, the next soon after", async () => {
    const paths: string[] = [];
    for (let n = 0; n < 5; n++) {
      paths.push(`/v1/negotiations/${(await asker.negotiate({ capability: "upper" })).body.negotiation_id}`);
    }
    // The first look comes an hour after the start, when they are over and still to be read.
    await market.clock.advance(2 * limits.collect_every_ms);
    expect(await left(paths)).toBe(3);
    await market.clock.advance(limits.drop_again_ms);
    expect(await left(paths)).toBe(1);
    await market.clock.advance(limits.drop_again_ms);
    expect(await left(paths)).toBe(0);
  });

  it("of contracts too, also where a restart comes between", async () => {
    const paths: string[] = [];
    for (let n = 0; n < 5; n++) {
      const { contract_id } = await asker.contract({
        capability: "upper",
        valid_ms: hour,
        limits: { deadline_ms: hour },
      });
      await asker.submit({ contract: contract_id, input: 1 });
      paths.push(`/v1/contracts/${contract_id}`);
    }
    await market.clock.advance(2 * hour + limits.contract_kept_ms);
    expect(await left(paths)).toBe(3);
    await market.restart();
    expect(await left(paths)).toBe(3);
    await market.clock.advance(limits.collect_every_ms + limits.drop_again_ms);
    expect(await left(paths)).toBe(0);
    await market.restart();
    expect(await left(paths)).toBe(0);
  });
});

describe("a list of contracts", () => {
  async function made(count: number): Promise<readonly string[]> {
    const ids: string[] = [];
    for (let n = 0; n < count; n++) {
      await market.clock.advance(1);
      ids.push((await asker.contract({ capability: "upper" })).contract_id);
    }
    return ids.toSorted();
  }

  async function pages(query: string): Promise<readonly (readonly string[])[]> {
    const read: string[][] = [];
    for (let cursor = ""; ; ) {
      const { body } = await asker.get(`/v1/contracts?${query}${cursor}`);
      read.push(body.contracts.map(({ contract_id }: { contract_id: string }) => contract_id));
      if (body.cursor === null) return read;
      cursor = `&cursor=${body.cursor}`;
    }
  }

  it("is read page by page, each contract once", async () => {
    const ids = await made(5);
    const read = await pages("limit=2");
    expect(read.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(read.flat()).toEqual(ids);
  });

  it("ends a page before its JSON grows too large, and always shows one", async () => {
    await market.close();
    market = await Market.open({ reply_bytes: 2_500 });
    asker = await market.agent("asker");
    await market.agent("provider", [{ name: "upper" }]);
    const ids = await made(5);
    const size = JSON.stringify((await asker.get("/v1/contracts?limit=1")).body.contracts[0]).length;
    expect([2 * size < 2_500, 3 * size > 2_500]).toEqual([true, true]);
    const read = await pages("limit=50");
    expect(read.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(read.flat()).toEqual(ids);
  });

  it("looks at a bounded number for one page, however few are asked for", async () => {
    await market.close();
    market = await Market.open({ contracts_scanned: 2 });
    asker = await market.agent("asker");
    await market.agent("provider", [{ name: "upper" }]);
    const ids = await made(5);
    expect((await pages("as=provider")).map(({ length }) => length)).toEqual([0, 0, 0]);
    expect((await pages("as=asker")).flat()).toEqual(ids);
  });
});

describe("a list of calls for proposals", () => {
  const proposes = { name: "lower", proposes: true };

  async function called(relay_limits: Parameters<typeof Market.open>[0], times: number): Promise<Trader> {
    await market.close();
    market = await Market.open(relay_limits);
    asker = await market.agent("asker");
    const provider = await market.agent("provider", [proposes]);
    for (let n = 0; n < times; n++) {
      await market.clock.advance(1);
      const got = await asker.negotiate({ capability: "lower", input_schema: { $comment: "x".repeat(1_000) } });
      expect(got.status).toBe(202);
    }
    return provider;
  }

  async function pages(provider: Trader, query: string): Promise<readonly (readonly string[])[]> {
    const read: string[][] = [];
    for (let cursor = ""; ; ) {
      const { body } = await provider.get(`/v1/proposals?${query}${cursor}`);
      read.push(body.proposals.map(({ id }: { id: string }) => id));
      if (body.cursor === null) return read;
      cursor = `&cursor=${body.cursor}`;
    }
  }

  it("is read page by page, the oldest first", async () => {
    const provider = await called({}, 5);
    const read = await pages(provider, "limit=2");
    expect(read.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(new Set(read.flat()).size).toBe(5);
    expect(read.flat()).toEqual(read.flat().toSorted());
    const other = await provider.get(`/v1/proposals?cursor=${Buffer.from("e1").toString("base64url")}`);
    expect([other.status, other.body.reason]).toEqual([400, "bad_cursor"]);
  });

  it("ends a page before its JSON grows too large, and always shows one", async () => {
    const provider = await called({ reply_bytes: 1_000 }, 3);
    expect((await pages(provider, "limit=50")).map(({ length }) => length)).toEqual([1, 1, 1]);
  });
});
