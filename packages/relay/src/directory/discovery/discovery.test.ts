/** The index and the search over it, apart from any relay: what they find, and what they cost. */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Capability } from "@handfast/protocol";
import type { LivenessView, Need, ReliabilityView } from "@handfast/protocol/wire";
import { array, assert, asyncProperty, constantFrom, record, uniqueArray } from "fast-check";
import { describe, expect, test } from "vitest";
import { limits, type RelayLimits } from "../../limits.ts";
import { Schemas } from "../../schemas/schemas.ts";
import { briefCompare } from "./brief-compare.ts";
import { Discovery } from "./discovery.ts";
import type { Provider } from "./entry.ts";
import type { Facts } from "./facts.ts";

const idle: LivenessView = { state: "idle", last_seen_at: null, lease_until: 1, workers: 0 };
const unmeasured: ReliabilityView = {
  claim: null,
  status: "unclaimed",
  attempts: 0,
  lower: 0,
  upper: 1,
  p50_ms: null,
  p95_ms: null,
};
const asker = { name: "asker", role: "agent" } as const;

function opened(facts: Partial<Facts> = {}, some: Partial<RelayLimits> = {}): Discovery {
  const all = { ...limits, ...some };
  const schemas = new Schemas(all);
  return new Discovery({
    facts: { liveness: () => idle, reliability: () => unmeasured, cost: () => null, ...facts },
    schemas,
    limits: all,
    compare: briefCompare(schemas, all, () => 0.5),
    elapsed_ms: () => performance.now(),
  });
}

const provider = (name: string, capabilities: readonly Capability[], more: Partial<Provider> = {}): Provider => ({
  name,
  capabilities,
  manifest: JSON.stringify(capabilities),
  signed: false,
  discovery_endpoint: null,
  foreign: null,
  ...more,
});

async function names(discovery: Discovery, need: Need, limit = 100): Promise<readonly string[]> {
  const { hits } = await discovery.find(need, asker, limit);
  return hits.map(({ candidate: { entry } }) => `${entry.provider.name} ${entry.capability.name}`);
}

test("so many prices are compared in one call, and what was left out is said to be", async () => {
  const cost = () => ({ salt: "", cost: { amount: 5, per: "handoff" } }) as const;
  const discovery = opened({ cost }, { discovery_prices_compared: 2 });
  for (const name of ["a", "b", "c"]) {
    discovery.set(provider(name, [{ name: "work", cost: { sha256: "0".repeat(64) } }]));
  }
  const { compared, found, is_whole } = await discovery.find({ max_cost: { amount: 9, per: "handoff" } }, asker, 1);
  expect([compared.length, found, is_whole]).toEqual([2, 2, false]);
  const all = await discovery.find({}, asker, 1);
  expect([all.compared, all.found, all.is_whole]).toEqual([[], 3, true]);
});

describe("the order", () => {
  const twins = ["a", "b"] as const;
  const twin = { name: "work", description: "The same work.", cost: { sha256: "0".repeat(64) } };
  const inOrder = async (facts: Partial<Facts>, need: Need = {}) => {
    const discovery = opened(facts);
    for (const name of twins) discovery.set(provider(name, [twin]));
    return (await names(discovery, need)).map((each) => each.split(" ")[0]);
  };
  const only = (name: string, value: object) => (agent: string) => (agent === name ? value : {});

  test("verified comes before unproven, and breached last", async () => {
    const status = (of: Record<string, ReliabilityView["status"]>) => (agent: string) => ({
      ...unmeasured,
      status: of[agent] ?? "unproven",
    });
    expect(await inOrder({ reliability: status({ b: "verified" }) })).toEqual(["b", "a"]);
    expect(await inOrder({ reliability: status({ a: "breached" }) })).toEqual(["b", "a"]);
  });

  test("live comes before idle", async () => {
    const live = only("b", { state: "live", workers: 1 });
    expect(await inOrder({ liveness: (agent) => ({ ...idle, ...live(agent) }) })).toEqual(["b", "a"]);
  });

  test("cheaper comes before dearer, and what names no price last", async () => {
    const prices: Record<string, number> = { a: 5, b: 2 };
    const cost = (agent: string) => ({ salt: "", cost: { amount: prices[agent] ?? 0, per: "handoff" } }) as const;
    expect(await inOrder({ cost })).toEqual(["b", "a"]);
    expect(await inOrder({ cost: (agent) => (agent === "b" ? cost(agent) : null) })).toEqual(["b", "a"]);
  });

  test("faster comes before slower, as it was measured", async () => {
    const fast = only("b", { p95_ms: 5 });
    const over = (attempts: number) => (agent: string) => ({ ...unmeasured, attempts, p95_ms: 9, ...fast(agent) });
    expect(await inOrder({ reliability: over(20) })).toEqual(["b", "a"]);
    // A single quick attempt says nothing of the slowest in twenty.
    expect(await inOrder({ reliability: over(1) })).toEqual(["a", "b"]);
  });

  test("names decide where nothing else does", async () => {
    expect(await inOrder({})).toEqual(["a", "b"]);
  });

  test("words count first, in bands: what fits nearly as well gives way to what is proven", async () => {
    const discovery = opened();
    const input_schema = { type: "object", required: ["q"], properties: { q: { type: "string" } } };
    discovery.set(
      provider("exact", [
        { name: "fish_market", description: "fish market", input_schema: { not: { not: input_schema } } },
      ]),
    );
    discovery.set(provider("proven", [{ name: "fish_market", description: "fish", input_schema }]));
    discovery.set(provider("far", [{ name: "fowl", examples: [{ input: "fish" }] }]));
    const need = { words: "fish market", input_schema };
    const order = (await names(discovery, need)).map((each) => each.split(" ")[0]);
    expect(order.at(-1)).toBe("far");
    expect(order.indexOf("proven")).toBeLessThan(order.indexOf("far"));
  });
});

describe("by schemas", () => {
  const object = (properties: Record<string, string>, more: object = {}) => ({
    type: "object",
    required: Object.keys(properties),
    properties: Object.fromEntries(Object.entries(properties).map(([name, type]) => [name, { type }])),
    ...more,
  });
  const wants = { input_schema: object({ text: "string" }), output_schema: object({ words: "integer" }) };

  test("the one that fits is found and proven among more than are looked at", async () => {
    const discovery = opened({}, { discovery_scanned: 20, discovery_ranked: 20, discovery_comparisons: 5 });
    discovery.set(
      provider("fitting", [
        { name: "count", input_schema: object({ text: "string" }), output_schema: object({ words: "integer" }) },
      ]),
    );
    for (let nth = 0; nth < 100; nth += 1) {
      const input_schema = object({ [`field${nth}`]: "string" }, { additionalProperties: false });
      discovery.set(provider(`other-${nth}`, [{ name: "work", input_schema, output_schema: object({}) }]));
    }
    for (const need of [wants, { input: { text: "to count" }, output_schema: wants.output_schema }]) {
      const { hits } = await discovery.find(need, asker, 10);
      expect(hits[0]).toMatchObject({
        candidate: { entry: { provider: { name: "fitting" } } },
        verdicts: { input: { verdict: "proven" }, output: { verdict: "proven" } },
      });
    }
  });

  test("what was not compared and does not seem to fit comes after words that fit less", async () => {
    const discovery = opened({}, { discovery_comparisons: 2 });
    const misfit = object({ other: "string" }, { additionalProperties: false });
    discovery.set(provider("fitting", [{ name: "work", examples: [{ input: "fish" }], ...wants }]));
    for (const name of ["a", "b"]) {
      discovery.set(provider(name, [{ name: "fish", input_schema: misfit, output_schema: wants.output_schema }]));
    }
    const { hits } = await discovery.find({ words: "fish", ...wants }, asker, 10);
    expect(hits.map(({ candidate }) => candidate.entry.provider.name)).toEqual(["fitting", "a", "b"]);
  });

  test("nothing is left of an agent that is gone", async () => {
    const discovery = opened();
    discovery.set(provider("a", [{ name: "work", ...wants }]));
    discovery.set(provider("b", [{ name: "work", ...wants }]));
    discovery.remove("a");
    expect(await names(discovery, wants)).toEqual(["b work"]);
    discovery.remove("b");
    expect(await names(discovery, wants)).toEqual([]);
  });
});

describe("what is not found", () => {
  test("a registration that lapsed, not even as a miss", async () => {
    const discovery = opened({ liveness: () => ({ ...idle, state: "lapsed" }) });
    discovery.set(provider("gone", [{ name: "work" }]));
    expect(await discovery.find({ capability: "work" }, asker, 10)).toEqual({
      hits: [],
      found: 0,
      is_whole: true,
      near: [],
      compared: [],
    });
    expect((await discovery.find({ capability: "wrok" }, asker, 10)).near).toEqual([]);
  });

  test("what is not claimed, where it is breached", async () => {
    const breached = {
      ...unmeasured,
      claim: 0.95,
      status: "breached",
      attempts: 100,
      lower: 0.7,
      upper: 0.85,
    } as const;
    const discovery = opened({ reliability: () => breached });
    discovery.set(provider("boaster", [{ name: "work", reliability_sla: 0.95 }]));
    const { hits, near } = await discovery.find({ min_reliability: 0.9 }, asker, 10);
    expect(hits).toEqual([]);
    expect(near[0]?.lacks[0]).toContain(
      "measured were 0.7 to 0.85 over 100 attempts: breached. At least 0.9 is asked for.",
    );
    expect(await names(discovery, { min_reliability: 0.6 })).toEqual(["boaster work"]);
  });
});

describe("near misses", () => {
  test("come in the order of what they lack, however they are called", async () => {
    const discovery = opened();
    discovery.set(provider("slow", [{ name: "draw", timeout_seconds: 60, side_effects: "none" }]));
    discovery.set(provider("slower", [{ name: "draw", timeout_seconds: 60, side_effects: "irreversible" }]));
    discovery.set(provider("other", [{ name: "drew", timeout_seconds: 1, side_effects: "none" }]));
    const { near } = await discovery.find({ capability: "draw", within_ms: 1_000, side_effects: "none" }, asker, 10);
    expect(near.map(({ candidate, lacks }) => [candidate.entry.provider.name, lacks.length])).toEqual([
      ["slow", 1],
      ["slower", 2],
      ["other", 1],
    ]);
  });

  test("are no more than are told of, out of no more than are looked at", async () => {
    const discovery = opened({}, { discovery_near: 2, discovery_near_scanned: 3 });
    for (const name of ["a", "b", "c", "d"]) discovery.set(provider(name, [{ name: "work" }]));
    expect((await discovery.find({ capability: "work", live: true }, asker, 10)).near).toHaveLength(2);
  });
});

describe("bounds", () => {
  test("more candidates than are looked at are left out, and that is said", async () => {
    const discovery = opened({}, { discovery_scanned: 5 });
    for (let nth = 0; nth < 8; nth += 1) discovery.set(provider(`n-${nth}`, [{ name: "work" }]));
    const { hits, found, is_whole } = await discovery.find({}, asker, 100);
    expect([hits.length, found, is_whole]).toEqual([5, 5, false]);
  });

  test("more than are compared with each other count, and the live ones are compared", async () => {
    const liveness = (agent: string) => ({ ...idle, state: agent === "n-7" ? ("live" as const) : ("idle" as const) });
    const discovery = opened({ liveness }, { discovery_ranked: 3 });
    for (let nth = 0; nth < 8; nth += 1) discovery.set(provider(`n-${nth}`, [{ name: "work" }]));
    const { hits, found, is_whole } = await discovery.find({}, asker, 100);
    expect([hits[0]?.candidate.entry.provider.name, hits.length, found, is_whole]).toEqual(["n-7", 3, 8, false]);
  });

  test("a manifest of nothing but words is indexed by a bounded part of them", () => {
    const discovery = opened();
    const words = (from: number) => Array.from({ length: 400 }, (_, nth) => `w${from + nth}`).join(" ");
    const properties = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, nth) => [`field${nth}`, { type: "string" }]),
    );
    const capabilities = Array.from({ length: 256 }, (_, nth) => ({
      name: `c${nth}`,
      description: words(nth * 1_000),
      input_schema: { type: "object", properties: nth === 0 ? properties : {} },
      examples: [{ input: words(nth * 2_000) }],
    }));
    const began = process.cpuUsage().user;
    discovery.set(provider("wordy", capabilities));
    expect(process.cpuUsage(undefined).user - began).toBeLessThan(3_000_000);
    expect(discovery.size).toBe(256);
    discovery.remove("wordy");
    expect(discovery.size).toBe(0);
  });
});

describe("what is remembered of schemas that were compared", () => {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  const heap_bytes = (): number => {
    if (typeof collect === "function") collect();
    return process.memoryUsage().heapUsed;
  };
  const sells = { name: "work", input_schema: { type: "object", required: ["n"] } };
  /** How much the heap keeps of so many calls, each of which asks for something else. */
  const kept_bytes = async (calls: number, need: (nth: number) => Need): Promise<number> => {
    const discovery = opened({}, { discovery_compare_ms: 60_000, schemas_compiled: 10 });
    discovery.set(provider("a", [sells]));
    await discovery.find(need(calls), asker, 1);
    const before = heap_bytes();
    for (let nth = 0; nth < calls; nth += 1) await discovery.find(need(nth), asker, 1);
    return heap_bytes() - before;
  };
  /** As long as a counterexample can be that is found with the steps of one comparison. */
  const long = (nth: number) => Buffer.alloc(15_000, `${nth} `).toString("latin1");

  test("is not the inputs that were refused", async () => {
    expect(await kept_bytes(400, (nth) => ({ input: { q: long(nth) } }))).toBeLessThan(2_000_000);
  });

  test("is no counterexample that is long", async () => {
    const need = (nth: number) => ({ input_schema: { const: { q: long(nth) } } });
    expect(await kept_bytes(400, need)).toBeLessThan(2_000_000);
  });

  test("is nothing of what was compared with none", async () => {
    const need = (nth: number) => ({ capability: "other", input: nth });
    expect(await kept_bytes(20_000, need)).toBeLessThan(2_000_000);
  });
});

const word = constantFrom("fish", "fowl", "market", "boat", "net");
const someAgent = record({
  name: constantFrom("a", "b", "c", "d", "e"),
  offers: uniqueArray(record({ name: word, description: word, tag: word }), {
    selector: ({ name }) => name,
    maxLength: 4,
  }),
});

test("an index that followed any changes finds what one made anew finds", async () => {
  await assert(
    asyncProperty(array(someAgent, { maxLength: 20 }), word, async (changes, wanted) => {
      const followed = opened();
      const last = new Map<string, Provider>();
      for (const { name, offers } of changes) {
        const now = provider(
          name,
          offers.map(({ tag, ...offer }) => ({ ...offer, tags: [tag] })),
        );
        last.set(name, now);
        if (offers.length === 0) followed.remove(name);
        else followed.set(now);
      }
      const anew = opened();
      for (const each of last.values()) anew.set(each);
      expect(followed.size).toBe(anew.size);
      for (const need of [{}, { capability: wanted }, { words: wanted }, { tags: [wanted] }]) {
        expect(await names(followed, need)).toEqual(await names(anew, need));
      }
    }),
    { numRuns: 200 },
  );
});
