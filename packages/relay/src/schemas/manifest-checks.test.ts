import { type Costs, lintManifest, readDocument, sealCost } from "@handfast/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Directory } from "../directory/directory.ts";
import { StoreRecords } from "../directory/testing/store-records.ts";
import { testAgent } from "../identity/testing/test-agent.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";
import { manifestChecks } from "./manifest-checks.ts";
import { Schemas } from "./schemas.ts";

const checks = manifestChecks();
const { jwk } = testAgent("a");

const sound = {
  agent_id: "a",
  version: 1,
  discovery_endpoint: "https://a.example/x",
  lease_seconds: 60,
  capabilities: [
    {
      name: "x",
      description: "It.",
      version: "1.0.0",
      input_schema: { n: "int", "more?": ["string"], part: { type: "object", properties: { a: { type: "string" } } } },
      output_schema: { sum: "number" },
      timeout_seconds: 5,
      reliability_sla: 0.9,
      sla: { window_seconds: 3_600, conditions: "none" },
      idempotent: true,
      side_effects: "none",
      tags: ["t"],
      examples: [{ title: "one", input: { n: 1, part: {} }, output: { sum: 1 } }],
      max_concurrent: 2,
      latency: { p50_ms: 1, p95_ms: 2 },
      cost: { amount: 5, per: "handoff" },
      data_policy: { retention_seconds: 1, regions: ["eu"], trains: false, shares: false },
      questions: [{ name: "q", description: "?", schema: { a: "string" } }],
      proposes: true,
      ext: { "https://example.com/a": 1 },
    },
    {
      name: "y",
      input_schema: { type: "string", minLength: 1 },
      output_schema: { type: "string" },
      timeout_seconds: 1,
      examples: [{ input: "a" }],
    },
  ],
};

/** Every place in it, by the steps that lead there. */
function placesIn(value: unknown, steps: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [steps];
  return [steps, ...Object.entries(value).flatMap(([key, member]) => placesIn(member, [...steps, key]))];
}

function changed(value: unknown, [step, ...rest]: readonly string[], to: unknown, rename: string | null): unknown {
  if (step === undefined) return to;
  const copy = Object.entries(value as object).map(([key, member]): [string, unknown] => {
    if (key !== step) return [key, member];
    return [rest.length === 0 && rename !== null ? rename : key, changed(member, rest, to, rename)];
  });
  return Array.isArray(value) ? copy.map(([, member]) => member) : Object.fromEntries(copy);
}

/** As a client registers it; the answer is what the relay refuses, or null. */
async function refusal(manifest: typeof sound): Promise<string | null> {
  const costs: Record<string, Costs[string]> = {};
  const capabilities = manifest.capabilities?.map?.((capability) => {
    if (typeof capability !== "object" || capability === null || !("cost" in capability)) return capability;
    const { cost, ...rest } = capability;
    if (typeof cost !== "object" || cost === null || "sha256" in cost) return capability;
    const opening = { salt: "AAECAwQFBgcICQoLDA0ODw", cost } as Costs[string];
    costs[String(capability.name)] = opening;
    return { ...rest, cost: sealCost(nodeCrypto, opening) };
  });
  const header = { v: 1, typ: "registration", relay: "https://r.example", namespace: "default", key: jwk };
  const document = {
    ...header,
    challenge: "c".repeat(22),
    ...manifest,
    ...(capabilities === undefined ? {} : { capabilities }),
  };
  const read = readDocument("registration", JSON.stringify(document));
  if (!read.ok) return read.fault.message;
  const directory = await Directory.open({
    namespace: "default",
    records: await StoreRecords.open(),
    schemas: new Schemas(),
    now: () => 1,
  });
  const agent = {
    name: read.document.agent_id,
    identity: null,
    keys: [],
    description: null,
    registered_at: 1,
    registration: null,
  };
  return directory
    .change(agent.name, () => ({ agent, offers: { ...read.document, signed: false, costs }, also: [] }))
    .then(
      () => null,
      (error: Error) => error.message,
    );
}

describe("what a look at a manifest finds", () => {
  it("is nothing where the relay takes it, and a fault where the relay refuses it", { timeout: 60_000 }, async () => {
    expect(lintManifest(sound, checks)).toEqual([]);
    expect(await refusal(sound)).toBeNull();
    const odd = fc.oneof(
      fc.constantFrom(
        null,
        true,
        0,
        1,
        -1,
        1.5,
        2 ** 53 - 1,
        "",
        "x",
        "string",
        "int?",
        "é",
        "a b",
        "http://a",
        [],
        {},
        ["string"],
        { type: "string" },
      ),
      fc.constantFrom(
        { a: 1 },
        { pattern: "(?=a)" },
        { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } },
        "x".repeat(3_000),
      ),
    );
    const change = fc.record({
      place: fc.constantFrom(...placesIn(sound).slice(1)),
      to: odd,
      rename: fc.option(fc.constantFrom("name", "nam", "?", "cost", "ext"), { freq: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(change, async ({ place, to, rename }) => {
        // Costs that are no costs cannot be sealed, and a sealed one in a file is a fault of its own.
        fc.pre(!place.includes("cost") && rename !== "cost" && place.join() !== "agent_id" && place.length > 1);
        const manifest = changed(sound, place, to, rename) as typeof sound;
        const faults = lintManifest(manifest, checks).filter(({ kind }) => kind === "fault");
        const refused = await refusal(manifest);
        expect({ manifest: JSON.stringify(manifest), refused: refused !== null, why: refused ?? faults[0] }).toEqual({
          manifest: JSON.stringify(manifest),
          refused: faults.length > 0,
          why: refused ?? faults[0],
        });
      }),
      { numRuns: 300 },
    );
  });
});
