import { type Capability, type Costs, sealCost } from "@handfast/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { limits, type RelayLimits } from "../limits.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";
import { Schemas } from "../schemas/schemas.ts";
import type { SignedRegistration } from "./agent.ts";
import { Directory } from "./directory.ts";
import { sampleHandoff } from "./testing/sample-handoff.ts";
import { StoreRecords } from "./testing/store-records.ts";

const json = (value: unknown) => ({ media_type: "application/json", bytes: Buffer.from(JSON.stringify(value)) });

let records: StoreRecords;
let now: number;
let directory: Directory;
let warnings: string[];

const open = (options: Partial<RelayLimits> = {}) =>
  Directory.open({
    namespace: "default",
    records,
    schemas: new Schemas(),
    now: () => now,
    limits: { ...limits, ...options },
    warn: (_, message) => warnings.push(message),
  });

interface Said {
  readonly version?: number;
  readonly discovery_endpoint?: string;
  readonly lease_seconds?: number;
  readonly costs?: Costs;
  readonly registration?: SignedRegistration;
}

function add(name: string, capabilities: readonly Capability[], { registration, ...said }: Said = {}) {
  return directory.change(name, (current) => ({
    agent: {
      ...(current ?? { name, identity: null, keys: [], description: null, registered_at: now }),
      registration: registration ?? null,
    },
    offers: { ...said, capabilities, signed: registration !== undefined },
    also: [],
  }));
}

beforeEach(async () => {
  records = await StoreRecords.open();
  now = 1_000;
  warnings = [];
  directory = await open();
});

describe("a manifest in shorthand", () => {
  const research: Capability = {
    name: "research",
    input_schema: { query: "string", depth: "int?" },
    output_schema: { summary: "string" },
  };
  const fit = (value: unknown) =>
    directory.fit({ namespace: "default", to: null, capability: "research" }, json(value));

  it("decides what fits, and is shown as it was written", async () => {
    await add("a", [research]);
    expect(fit({ query: "x" })).toEqual({ kind: "fits", except: [] });
    expect(fit({ query: "x", other: 1 })).toMatchObject({ kind: "unfit" });
    expect(directory.agent("a")?.capabilities).toEqual([research]);
    expect(directory.capabilities("a")[0]?.input_schema).toMatchObject({ additionalProperties: false });
    const offer = directory.offer("a")(sampleHandoff({ capability: "research" }));
    const body = { kind: "handoff" as const, number: 0, document: null, proof: null };
    expect(offer.check({ ...body, payload: Buffer.from('{"depth":1}') })?.message).toMatch(/query/);
  });

  it("decides which outputs fit, also under a lease of an older manifest, and after a restart", async () => {
    const { manifest } = await add("a", [research]);
    await add("a", [{ name: "research", output_schema: { other: "string" } }]);
    directory = await open();
    const held = sampleHandoff({ capability: "research", lease: { agent: "a", manifest: manifest?.digest ?? null } });
    expect(directory.checkOutput(held, "a", undefined, json({ summary: "s", more: 1 }))).toBeNull();
    expect(directory.checkOutput(held, "a", undefined, json({}))?.error.message).toMatch(/summary/);
  });

  it("is in one group with the same schema in full", async () => {
    await add("a", [research]);
    const { input_schema } = directory.capabilities("a")[0] ?? {};
    await add("b", [{ name: "research", ...(input_schema === undefined ? {} : { input_schema }) }]);
    directory = await open({ schemas_checked_per_submit: 1 });
    expect(fit({ query: "x" })).toEqual({ kind: "fits", except: [] });
  });

  it("is refused at the place of what is wrong in it, as that was written", async () => {
    const wrong = (input_schema: Record<string, unknown>) => add("a", [{ name: "x", input_schema }]);
    await expect(wrong({ a: { b: "strng" } })).rejects.toMatchObject({
      code: 400,
      reason: "schema_refused",
      extra: { path: "/capabilities/0/input_schema/a/b" },
    });
    await expect(wrong({ a: [{ "b?": { pattern: "(?=x)" } }] })).rejects.toMatchObject({
      extra: { path: "/capabilities/0/input_schema/a/0/b?", keyword: "pattern" },
    });
    const circle = { $defs: { a: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" };
    await expect(wrong(circle)).rejects.toMatchObject({
      extra: { keyword: "$ref" },
      message: expect.stringMatching(/circle/),
    });
    await expect(add("a", [{ name: "x", questions: [{ name: "q", schema: { a: 1 } }] }])).rejects.toMatchObject({
      extra: { path: "/capabilities/0/questions/0/schema/a" },
    });
    expect(directory.agent("a")).toBeUndefined();
  });
});

describe("examples of a manifest", () => {
  const capability: Capability = { name: "x", input_schema: { n: "int" }, output_schema: { sum: "int" } };

  it("are taken where they fit", async () => {
    await add("a", [
      { ...capability, examples: [{ input: { n: 1 }, output: { sum: 2, more: 3 } }, { input: { n: 2 } }] },
    ]);
    await add("b", [{ name: "y", examples: [{ input: "anything", output: null }] }]);
  });

  it.each([
    [{ input: { n: "one" } }, "/capabilities/0/examples/1/input"],
    [{ input: { n: 1, m: 2 } }, "/capabilities/0/examples/1/input"],
    [{ input: { n: 1 }, output: {} }, "/capabilities/0/examples/1/output"],
  ])("%j is refused, with its place", async (example, path) => {
    await expect(add("a", [{ ...capability, examples: [{ input: { n: 1 } }, example] }])).rejects.toMatchObject({
      code: 400,
      reason: "example_unfit",
      extra: { path },
    });
    expect(directory.agent("a")).toBeUndefined();
  });
});

describe("versions of a manifest", () => {
  const one: Capability = { name: "x" };
  const two: Capability = { name: "x", description: "better" };

  it("only grow", async () => {
    await add("a", [one], { version: 2 });
    await expect(add("a", [two], { version: 1 })).rejects.toMatchObject({ code: 409, reason: "manifest_older" });
    await expect(add("a", [two])).rejects.toMatchObject({ code: 409, reason: "manifest_older" });
    await expect(add("a", [two], { version: 2 })).rejects.toMatchObject({
      code: 409,
      reason: "manifest_differs",
      extra: { version_in_force: 2 },
    });
    expect(directory.agent("a")?.capabilities).toEqual([one]);
    const same = await add("a", [one], { version: 2 });
    expect(same.manifest?.version).toBe(2);
    expect((await add("a", [two], { version: 3 })).manifest?.version).toBe(3);
  });

  it("keep their order across a restart", async () => {
    await add("a", [one], { version: 2 });
    directory = await open();
    await expect(add("a", [two], { version: 1 })).rejects.toMatchObject({ reason: "manifest_older" });
  });

  it("may be left out as long as none was given, and may begin at any time", async () => {
    await add("a", [one]);
    await add("a", [two]);
    await add("a", [one], { version: 7 });
  });
});

describe("every manifest that was in force", () => {
  const document = (capabilities: readonly Capability[]) => ({
    document: JSON.stringify({ v: 1, agent_id: "a", capabilities, version: 1, challenge: "c" }),
    proof: { sig: "s" },
  });

  it("stays readable by its digest, with what was signed", async () => {
    const first = await add("a", [{ name: "x" }], { discovery_endpoint: "https://a.example/", lease_seconds: 60 });
    now = 2_000;
    const second = await add("a", [{ name: "y" }], { version: 1, registration: document([{ name: "y" }]) });
    directory = await open();
    expect(await directory.manifestByDigest(first.manifest?.digest ?? "")).toMatchObject({
      agent: "a",
      since: 1_000,
      until: 2_000,
      signed: false,
      version: null,
      registration: null,
      manifest: {
        agent_id: "a",
        capabilities: [{ name: "x" }],
        discovery_endpoint: "https://a.example/",
        lease_seconds: 60,
      },
    });
    expect(await directory.manifestByDigest(second.manifest?.digest ?? "")).toMatchObject({
      since: 2_000,
      until: null,
      signed: true,
      version: 1,
      registration: document([{ name: "y" }]),
      manifest: { agent_id: "a", capabilities: [{ name: "y" }], version: 1 },
    });
    expect(await directory.manifestByDigest("0".repeat(64))).toBeNull();
  });

  it("is listed newest first, page by page, once for each time it was in force", async () => {
    for (const name of ["x", "y", "x", "z"]) {
      now += 1_000;
      await add("a", [{ name }]);
    }
    const all = await directory.pastManifests("a", Number.MAX_SAFE_INTEGER, 10);
    expect(all.map(({ manifest, since, until }) => [manifest.capabilities[0]?.name, since, until])).toEqual([
      ["z", 5_000, null],
      ["x", 4_000, 5_000],
      ["y", 3_000, 4_000],
      ["x", 2_000, 3_000],
    ]);
    const page = await directory.pastManifests("a", all[1]?.number ?? 0, 1);
    expect(page).toEqual(all.slice(2, 3));
    expect((await directory.manifestByDigest(all[3]?.digest ?? ""))?.since).toBe(4_000);
  });

  it("is not listed anew when the same is registered again, and is signed when that one is", async () => {
    await add("a", [{ name: "x" }], { version: 1 });
    await add("a", [{ name: "x" }], { version: 1, registration: document([{ name: "x" }]) });
    const all = await directory.pastManifests("a", Number.MAX_SAFE_INTEGER, 10);
    expect(all).toMatchObject([{ signed: true, registration: document([{ name: "x" }]) }]);
  });

  it("is shown as its newest key signed it", async () => {
    const by = (key: string) => ({ ...document([{ name: "x" }]), proof: { key, sig: key } });
    for (const key of ["old", "new"]) await add("a", [{ name: "x" }], { version: 1, registration: by(key) });
    const all = await directory.pastManifests("a", Number.MAX_SAFE_INTEGER, 10);
    expect(all).toMatchObject([{ signed: true, registration: by("new") }]);
    expect((await directory.manifestByDigest(all[0]?.digest ?? ""))?.registration).toEqual(by("new"));
  });

  it("is not held in memory: what is loaded at the start does not grow with it", async () => {
    directory = await open({ manifests_kept_per_agent: 2 });
    for (let n = 0; n < 50; n++) await add("a", [{ name: `c${n}` }]);
    expect((await records.load("manifest")).length).toBe(3);
    expect((await directory.pastManifests("a", Number.MAX_SAFE_INTEGER, 100)).length).toBe(50);
  });

  it("goes, the oldest first, where there are too many or they are too large, and that is said", async () => {
    directory = await open({ manifests_remembered_per_agent: 3 });
    const digests: string[] = [];
    for (let n = 0; n < 5; n++) digests.push((await add("a", [{ name: `c${n}` }])).manifest?.digest ?? "");
    const names = async () =>
      (await directory.pastManifests("a", Number.MAX_SAFE_INTEGER, 10)).map(
        (each) => each.manifest.capabilities[0]?.name,
      );
    expect(await names()).toEqual(["c4", "c3", "c2"]);
    expect(await directory.manifestByDigest(digests[0] ?? "")).toBeNull();
    expect(warnings.length).toBe(2);
    directory = await open({ manifest_history_bytes_total: 500 });
    await add("a", [{ name: "large", description: "x".repeat(400) }]);
    expect(await names()).toEqual(["large"]);
    directory = await open({ manifest_history_bytes_per_agent: 500 });
    await add("a", [{ name: "c6" }]);
    expect(await names()).toEqual(["c6"]);
    expect((await records.load("manifest_entry")).length).toBe(1);
    expect((await records.load("manifest_place")).length).toBe(1);
  });

  it("is gone when its agent is forgotten", async () => {
    await add("a", [{ name: "x" }]);
    await add("b", [{ name: "x" }]);
    await directory.forget("a", () => []);
    expect((await records.load("manifest_entry")).map(({ key }) => key)).toEqual(["b/0"]);
    expect((await records.load("manifest_place")).length).toBe(1);
    expect(() => directory.pastManifests("a", 1, 1)).toThrow(/no agent a/);
  });

  it("is kept from now on where an earlier relay kept none", async () => {
    const { history: _, renewed_at: __, ...older } = await add("a", [{ name: "x" }]);
    const stored = await records.find("agent", "a");
    const entry = await records.find("manifest_entry", "a/0");
    const place = (await records.load("manifest_place"))[0];
    await records.put([
      { namespace: "default", kind: "agent", key: "a", expected_version: stored?.version ?? 0, value: older },
      {
        namespace: "default",
        kind: "manifest_entry",
        key: "a/0",
        expected_version: entry?.version ?? 0,
        value: undefined,
      },
      { namespace: "default", kind: "manifest_place", key: place?.key ?? "", expected_version: 1, value: undefined },
    ]);
    directory = await open();
    expect(directory.leaseUntil("a")).toBe(1_000 + limits.default_registration_lease_ms);
    now = 2_000;
    await add("a", [{ name: "y" }]);
    const all = await directory.pastManifests("a", Number.MAX_SAFE_INTEGER, 10);
    expect(all.map(({ since, until }) => [since, until])).toEqual([
      [2_000, null],
      [1_000, 2_000],
    ]);
  });
});

describe("sealed costs", () => {
  const opening = { salt: "AAECAwQFBgcICQoLDA0ODw", cost: { amount: 1_200, per: "handoff" as const } };
  const sealed: Capability = { name: "x", cost: sealCost(nodeCrypto, opening) };
  const planner = { name: "planner", role: "agent" as const };

  it("are told to whoever asks, to the agent itself and to operators, and to no other agent that offers the same", async () => {
    await add("a", [sealed], { costs: { x: opening } });
    await add("rival", [{ name: "x" }]);
    await add("planner", [{ name: "plan" }]);
    expect(directory.costOpening("a", "x", planner)).toEqual(opening);
    expect(directory.costOpening("a", "x", { name: "a", role: "agent" })).toEqual(opening);
    expect(directory.costOpening("a", "x", { name: "rival", role: "agent" })).toBeNull();
    expect(directory.costOpening("a", "x", { name: "operator", role: "operator" })).toEqual(opening);
    expect(directory.costOpening("a", "other", planner)).toBeNull();
    expect(directory.costOpening("nobody", "constructor", planner)).toBeNull();
    now += 10 * limits.default_registration_lease_ms;
    expect(directory.costOpening("a", "x", { name: "rival", role: "agent" })).toBeNull();
  });

  it("stand in no view, only their digests do", async () => {
    await add("a", [sealed], { costs: { x: opening } });
    const views = JSON.stringify([
      directory.agents(),
      directory.manifest("a"),
      await directory.pastManifests("a", Number.MAX_SAFE_INTEGER, 10),
    ]);
    expect(views).toContain(sealed.cost?.sha256);
    expect(views).not.toContain(opening.salt);
    expect(views).not.toContain("1200");
  });

  it("are kept across a restart, need not be opened again, and go with what they sealed", async () => {
    await add("a", [sealed], { costs: { x: opening } });
    directory = await open();
    await add("a", [sealed, { name: "y" }]);
    expect(directory.costOpening("a", "x", planner)).toEqual(opening);
    await add("a", [{ name: "x" }]);
    expect(directory.costOpening("a", "x", planner)).toBeNull();
    expect(await records.load("cost")).toEqual([]);
  });

  it("are refused where nothing opens them, something else does, or nothing was sealed", async () => {
    const other = { ...opening, cost: { ...opening.cost, amount: 1 } };
    await expect(add("a", [sealed])).rejects.toMatchObject({
      code: 400,
      reason: "cost_missing",
      extra: { path: "/capabilities/0/cost" },
    });
    await expect(add("a", [sealed], { costs: { x: other } })).rejects.toMatchObject({
      code: 400,
      reason: "cost_differs",
      extra: { path: "/costs/x" },
    });
    await expect(add("a", [{ name: "x" }], { costs: { x: opening } })).rejects.toMatchObject({
      code: 400,
      reason: "cost_unsealed",
      extra: { path: "/costs/x" },
    });
    await add("a", [sealed], { costs: { x: opening } });
    const dearer: Capability = { name: "x", cost: sealCost(nodeCrypto, other) };
    await expect(add("a", [dearer])).rejects.toMatchObject({ reason: "cost_missing" });
    expect(directory.costOpening("a", "x", planner)).toEqual(opening);
  });
});
