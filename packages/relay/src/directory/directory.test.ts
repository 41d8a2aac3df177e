import type { Capability } from "@handfast/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { limits, type RelayLimits } from "../limits.ts";
import { Schemas } from "../schemas/schemas.ts";
import { Directory } from "./directory.ts";
import { sampleHandoff } from "./testing/sample-handoff.ts";
import { StoreRecords } from "./testing/store-records.ts";

const json = (value: unknown) => ({ media_type: "application/json", bytes: Buffer.from(JSON.stringify(value)) });
const query = { type: "object", properties: { query: { type: "string" } }, required: ["query"] };
const research: Capability = { name: "research", input_schema: query };
const anything: Capability = { name: "research" };

let records: StoreRecords;
let now = 1_000;
let directory: Directory;

const open = (options: Partial<RelayLimits> = {}) =>
  Directory.open({
    namespace: "default",
    records,
    schemas: new Schemas(),
    now: () => now,
    limits: { ...limits, ...options },
  });

function add(name: string, capabilities: readonly Capability[], to = directory) {
  const agent = { name, identity: null, keys: [], description: null, registered_at: now, registration: null };
  return to.change(name, () => ({ agent, offers: { capabilities, signed: false }, also: [] }));
}

const fit = (target: { to?: string; capability?: string }, value: unknown) =>
  directory.fit({ namespace: "default", to: target.to ?? null, capability: target.capability ?? null }, json(value));

beforeEach(async () => {
  records = await StoreRecords.open();
  now = 1_000;
  directory = await open();
});

describe("directory: where a handoff can go", () => {
  it("knows no agent that did not register", () => {
    expect(fit({ to: "nobody" }, 1)).toEqual({ kind: "unknown_agent" });
    expect(fit({ capability: "research" }, 1)).toEqual({ kind: "absent" });
  });

  it("checks the input of a named agent only against the capability that is named", async () => {
    await add("a", [research]);
    expect(fit({ to: "a" }, 1)).toEqual({ kind: "fits", except: [] });
    expect(fit({ to: "a", capability: "research" }, { query: "x" })).toEqual({ kind: "fits", except: [] });
    expect(fit({ to: "a", capability: "research" }, { query: 1 })).toEqual({
      kind: "unfit",
      error: { reason: "input_unfit", message: "/query: must be string" },
    });
    expect(fit({ to: "a", capability: "other" }, 1)).toEqual({ kind: "absent" });
  });

  it("leaves out the agents whose schema the input does not fit, and refuses when none is left", async () => {
    await add("strict", [research]);
    expect(fit({ capability: "research" }, {})).toMatchObject({ kind: "unfit" });
    await add("loose", [anything]);
    expect(fit({ capability: "research" }, {})).toEqual({ kind: "fits", except: ["strict"] });
    expect(fit({ capability: "research" }, { query: "x" })).toEqual({ kind: "fits", except: [] });
  });

  it("many costly schemas under one capability take little from one that is cheap", async () => {
    directory = await open({ schema_check_steps: 1_000_000 });
    const costly = (n: number) => ({
      properties: { list: { items: { anyOf: [...Array(20).fill({ const: n }), {}] } } },
    });
    for (let n = 2; n < 8; n++) await add(`costly${n}`, [{ name: "research", input_schema: costly(n) }]);
    await add("cheap", [research]);
    const fitted = fit({ capability: "research" }, { query: "x", list: Array(10_000).fill(1) });
    expect(fitted).toMatchObject({ kind: "fits", except: expect.not.arrayContaining(["cheap"]) });
    expect(fitted.kind === "fits" && fitted.except.length).toBe(6);
  });

  it("knows nothing of another namespace", async () => {
    await add("a", [anything]);
    const other = { namespace: "other", to: "a", capability: null };
    expect(directory.fit(other, json(1))).toEqual({ kind: "unknown_agent" });
    expect(directory.fit({ ...other, to: null, capability: "research" }, json(1))).toEqual({ kind: "absent" });
  });

  it("counts the others that could still take it", async () => {
    for (const name of ["a", "b", "c"]) await add(name, [anything]);
    const held = sampleHandoff({ capability: "research", excluded: ["b"], lease: { agent: "a", manifest: null } });
    expect(directory.others(held)).toBe(1);
    expect(directory.others(sampleHandoff({ capability: "research" }), "c")).toBe(2);
    expect(directory.others(sampleHandoff({ to: "a", lease: { agent: "a", manifest: null } }))).toBe(0);
  });
});

describe("directory: what a worker serves", () => {
  it("serves its name and all it offers, or only the capabilities it names", async () => {
    await add("a", [anything, { name: "sum" }]);
    expect(directory.queues("a", null)).toEqual(new Set(["agent:a", "capability:research", "capability:sum"]));
    expect(directory.queues("a", ["sum"])).toEqual(new Set(["agent:a", "capability:sum"]));
  });

  it("states manifest, time and idempotency of the offer, and checks what was accepted before it", async () => {
    const { manifest } = await add("a", [{ ...research, timeout_seconds: 60, idempotent: false }]);
    const offer = directory.offer("a")(sampleHandoff({ capability: "research" }));
    expect(offer).toMatchObject({ manifest: manifest?.digest, attempt_ms: 60_000, idempotent: false });
    expect(offer.since).toBe(1_000 + limits.manifest_settle_ms);
    const body = { kind: "handoff" as const, number: 0, document: null, proof: null };
    expect(offer.check({ ...body, payload: Buffer.from('{"query":1}') })?.message).toBe("/query: must be string");
    expect(offer.check({ ...body, payload: Buffer.from('{"query":"x"}') })).toBeNull();
  });

  it("always refuses work for a capability that the agent dropped", async () => {
    await add("a", []);
    const offer = directory.offer("a")(sampleHandoff({ capability: "research" }));
    expect(offer.since).toBe(Number.MAX_SAFE_INTEGER);
    const body = { kind: "handoff" as const, number: 0, document: null, proof: null, payload: null };
    expect(offer.check(body)?.reason).toBe("not_offered");
  });
});

describe("directory: manifests", () => {
  it("keeps digest and time while the same is offered, in whatever order its members come", async () => {
    const first = await directory.change("a", () => ({
      agent: { name: "a", identity: null, keys: [], description: null, registered_at: now, registration: null },
      offers: { capabilities: [{ name: "x", idempotent: true }], signed: true },
      also: [],
    }));
    now = 2_000;
    expect(await directory.setCapabilities("a", [{ idempotent: true, name: "x" }], true)).toEqual(first.manifest);
    expect((await directory.setCapabilities("a", [{ name: "y" }], true)).since).toBe(2_000);
    expect(directory.offers("a")).toEqual(["y"]);
  });

  it("that nobody signed takes the place of a signed one, and does not pass for it", async () => {
    const registration = { document: "{}", proof: {} };
    const agent = { name: "a", identity: null, keys: [], description: null, registered_at: now, registration };
    await directory.change("a", () => ({ agent, offers: { capabilities: [anything], signed: true }, also: [] }));
    await directory.setCapabilities("a", [anything], false);
    expect(directory.agent("a")).toMatchObject({ registration, manifest: { signed: true } });
    await directory.setCapabilities("a", [], false);
    expect(directory.agent("a")).toMatchObject({ registration: null, manifest: { signed: false } });
  });

  it("checks an output by the manifest of the lease, not by a newer one, and by what the sender expects", async () => {
    const leased = (await add("a", [{ name: "sum", output_schema: { type: "integer" } }])).manifest?.digest ?? null;
    await directory.setCapabilities("a", [{ name: "sum", output_schema: { type: "string" } }], false);
    const handoff = sampleHandoff({ capability: "sum", lease: { agent: "a", manifest: leased } });
    const check = (value: unknown, expected?: Record<string, unknown>) =>
      directory.checkOutput(handoff, "a", expected, json(value));
    expect(check(5)).toBeNull();
    const own = { reason: "output_unfit", message: "the whole value: must be integer" };
    expect(check("5")).toEqual({ error: own, beyond_offer: false });
    const expected = { reason: "output_unfit", message: "the whole value: must be <= 4" };
    expect(check(5, { maximum: 4 })).toEqual({ error: expected, beyond_offer: true });
  });

  it("keeps the one in force and as many older ones as its limit says", async () => {
    directory = await open({ manifests_kept_per_agent: 3 });
    for (let n = 0; n < 10; n++) {
      now++;
      await add("a", [{ name: `c${n}` }]);
    }
    expect((await records.load("manifest")).length).toBe(4);
    expect(directory.offers("a")).toEqual(["c9"]);
  });

  it("refuses a manifest with a capability twice, too many bytes, or a bad schema, and changes nothing", async () => {
    await add("a", [anything]);
    const puts = records.puts;
    await expect(directory.setCapabilities("a", [anything, anything], true)).rejects.toThrow(/a second time/);
    const large = Array.from({ length: 200 }, (_, n) => ({ name: `c${n}`, description: "x".repeat(1_500) }));
    await expect(directory.setCapabilities("a", large, true)).rejects.toMatchObject({ code: 413 });
    const bad = { name: "x", input_schema: { $ref: "https://evil.example" } };
    await expect(directory.setCapabilities("a", [bad], true)).rejects.toMatchObject({
      reason: "schema_refused",
      extra: { path: "/capabilities/0/input_schema", keyword: "$ref" },
    });
    expect(records.puts).toBe(puts);
    expect(directory.offers("a")).toEqual(["research"]);
  });

  it("refuses a manifest whose schemas would take long to compile", async () => {
    directory = await open({ manifest_schema_nodes: 10 });
    const input_schema = { properties: { a: true, b: true, c: true } };
    const many = [1, 2, 3].map((n) => ({ name: `c${n}`, input_schema: { ...input_schema, title: `${n}` } }));
    await add("a", many.slice(1));
    await expect(add("a", many)).rejects.toMatchObject({ code: 413, reason: "manifest_too_large" });
    expect(directory.offers("a")).toEqual(["c2", "c3"]);
  });

  it("refuses more manifests than its memory is meant for", async () => {
    directory = await open({ manifest_bytes_total: 3_000 });
    const large = { name: "x", description: "x".repeat(1_900) };
    await add("a", [large]);
    await expect(add("b", [large])).rejects.toMatchObject({ code: 507, reason: "directory_full" });
    await directory.forget("a", () => []);
    await add("b", [large]);
  });
});

describe("directory: keeping", () => {
  it("is the same after a restart", async () => {
    await add("a", [research]);
    await add("b", [anything]);
    await directory.forget("b", () => []);
    const before = directory.agents();
    directory = await open();
    expect(directory.agents()).toEqual(before);
    expect(fit({ capability: "research" }, { query: 1 })).toMatchObject({ kind: "unfit" });
    await directory.setCapabilities("a", [anything], false);
    expect(fit({ capability: "research" }, { query: 1 })).toEqual({ kind: "fits", except: [] });
  });

  it("changes nothing in memory when the store refuses", async () => {
    await add("a", [anything]);
    const other = await open();
    await other.setCapabilities("a", [], false);
    await expect(directory.setCapabilities("a", [research], false)).rejects.toMatchObject({ code: 409 });
    expect(fit({ capability: "research" }, 1)).toEqual({ kind: "fits", except: [] });
  });

  it("tells when an agent and its workers were last heard of", async () => {
    await add("a", []);
    expect(directory.agent("a")).toMatchObject({ last_seen_at: null, workers: [] });
    now = 5_000;
    directory.seen("a", "w1");
    directory.seen("stranger", "w1");
    expect(directory.agent("a")).toMatchObject({
      last_seen_at: 5_000,
      workers: [{ worker: "w1", last_seen_at: 5_000 }],
    });
    expect(directory.agent("stranger")).toBeUndefined();
  });

  it("holds 10,000 agents of one capability and still answers submits", async () => {
    for (let n = 0; n < 10_000; n++) await add(`agent-${n}`, [{ name: "research", input_schema: { ...query } }]);
    for (let n = 0; n < 100; n++) expect(fit({ capability: "research" }, { query: "x" }).kind).toBe("fits");
    expect(directory.others(sampleHandoff({ capability: "research", excluded: ["agent-1"] }), "agent-2")).toBe(9_998);
    directory = await open();
    expect(directory.agents().length).toBe(10_000);
  });

  it("takes no more agents than its limit", async () => {
    directory = await open({ agents: 2 });
    await add("a", []);
    await add("b", []);
    await expect(add("c", [])).rejects.toMatchObject({ code: 507, reason: "directory_full" });
    await add("b", [anything]);
  });

  it("bounds what is left out at accept, and checks each delivery instead", async () => {
    directory = await open({ agents_excluded_per_submit: 2 });
    for (let n = 0; n < 5; n++) await add(`strict-${n}`, [research]);
    await add("loose", [anything]);
    const fitted = fit({ capability: "research" }, {});
    if (fitted.kind !== "fits") throw new Error("It fits.");
    expect(fitted.except.length).toBe(2);
    const handoff = sampleHandoff({ capability: "research", excluded: fitted.except });
    expect(directory.offer("strict-4")(handoff).since).toBe(Number.MAX_SAFE_INTEGER);
  });
});
