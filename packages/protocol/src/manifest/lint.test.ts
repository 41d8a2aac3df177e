import { describe, expect, it, test } from "vitest";
// The checks of a real relay: what they refuse is what counts.
import { manifestChecks } from "../../../relay/src/schemas/manifest-checks.ts";
import { lintManifest } from "./lint.ts";

const checks = manifestChecks();
const lint = (value: unknown) => lintManifest(value, checks);
const any = { description: "Whatever it is." };
const whole = { name: "x", input_schema: any, output_schema: any, timeout_seconds: 5 };
/** The findings about one capability, without those of a whole one. */
const about = (capability: object) => lint({ agent_id: "a", capabilities: [{ ...whole, ...capability }] });
const places = (findings: ReturnType<typeof lint>) => findings.map(({ kind, rule, path }) => `${kind} ${rule} ${path}`);

describe("a manifest that is sound", () => {
  it("is the example of the specification, word for word", () => {
    const example = {
      agent_id: "research-agent-001",
      capabilities: [
        {
          name: "web_research",
          input_schema: { query: "string", depth: "int" },
          output_schema: { sources: "array", summary: "string" },
          timeout_seconds: 300,
          reliability_sla: 0.95,
        },
      ],
      discovery_endpoint: "https://agent-registry.example.com/research-agent-001",
    };
    expect(lint(example)).toEqual([]);
  });

  it("may say everything that a manifest can", () => {
    const capability = {
      ...whole,
      description: "Everything.",
      version: "1.2.0",
      input_schema: { n: "int" },
      output_schema: { sum: "int" },
      reliability_sla: 1,
      sla: { window_seconds: 86_400, conditions: "On weekdays." },
      idempotent: false,
      side_effects: "irreversible",
      tags: ["a", "b"],
      examples: [{ title: "One", input: { n: 1 }, output: { sum: 1, more: true } }],
      max_concurrent: 4,
      latency: { p50_ms: 100, p95_ms: 900 },
      cost: { amount: 1_200, per: "handoff" },
      data_policy: { retention_seconds: 0, regions: ["eu"], trains: false, shares: false },
      questions: [{ name: "which", description: "Which one?", schema: { choice: "string" } }],
      proposes: true,
      ext: { "https://example.com/terms": { any: ["thing"] } },
    };
    const manifest = {
      agent_id: "a",
      capabilities: [capability],
      version: 3,
      discovery_endpoint: "https://a.example",
      lease_seconds: 60,
    };
    expect(lint(manifest)).toEqual([]);
  });
});

describe("faults", () => {
  test.each([
    [null, ["fault type "]],
    [[], ["fault type "]],
    [{}, ["fault missing ", "fault missing ", "warning nothing_offered /capabilities"]],
    [{ agent_id: "relay", capabilities: [whole] }, ["fault name_reserved /agent_id"]],
    [{ agent_id: "a", capabilities: {} }, ["fault type /capabilities", "warning nothing_offered /capabilities"]],
    [{ agent_id: "a", capabilities: [5] }, ["fault type /capabilities/0"]],
    [{ agent_id: "a", capabilities: [whole, { ...whole }] }, ["fault twice /capabilities/1/name"]],
    [{ agent_id: "a", capabilities: [whole], version: 0 }, ["fault range /version"]],
    [{ agent_id: "a", capabilities: [whole], version: "1.0" }, ["fault type /version"]],
    [{ agent_id: "a", capabilities: [whole], lease_seconds: 1 }, ["fault range /lease_seconds"]],
    [{ agent_id: "a", capabilities: [whole], discovery_endpoint: "a.example" }, ["fault form /discovery_endpoint"]],
  ])("%j", (value, found) => expect(places(lint(value))).toEqual(found));

  test.each([
    [{ reliability_sla: 1.5 }, "fault range /capabilities/0/reliability_sla"],
    [{ reliability_sla: 0 }, "fault range /capabilities/0/reliability_sla"],
    [{ reliability_sla: "95%" }, "fault type /capabilities/0/reliability_sla"],
    [{ timeout_seconds: 1.5 }, "fault type /capabilities/0/timeout_seconds"],
    [{ side_effects: "some" }, "fault choice /capabilities/0/side_effects"],
    [
      {
        tags: Array(17)
          .fill("t")
          .map((t, n) => `${t}${n}`),
      },
      "fault too_many /capabilities/0/tags",
    ],
    [{ tags: ["a b"] }, "fault name /capabilities/0/tags/0"],
    [{ description: "x".repeat(2_001) }, "fault too_long /capabilities/0/description"],
    [{ version: "" }, "fault form /capabilities/0/version"],
    [{ data_policy: { regions: [] } }, "fault too_few /capabilities/0/data_policy/regions"],
    [{ ext: { terms: 1 } }, "fault key /capabilities/0/ext/terms"],
    [{ cost: { sha256: "0".repeat(64) } }, "fault cost_sealed /capabilities/0/cost"],
    [{ cost: { amount: -1, per: "handoff" } }, "fault range /capabilities/0/cost/amount"],
    [{ cost: { amount: 1, per: "hour" } }, "fault choice /capabilities/0/cost/per"],
    [{ cost: 5 }, "fault type /capabilities/0/cost"],
    [{ input_schema: "string" }, "fault type /capabilities/0/input_schema"],
    [{ input_schema: { q: "strng" } }, "fault schema /capabilities/0/input_schema/q"],
    [{ input_schema: { "a?": [{ minimum: "1" }] } }, "fault schema /capabilities/0/input_schema/a?/0"],
    [{ output_schema: { type: "object", definitions: {} } }, "fault schema /capabilities/0/output_schema"],
    [{ output_schema: { pattern: "(?=a)", type: "string" } }, "fault schema /capabilities/0/output_schema"],
    [
      { input_schema: { $defs: { a: { items: { $ref: "#/$defs/b" } }, b: { $ref: "#/$defs/a" } } } },
      "fault schema /capabilities/0/input_schema/$defs/a",
    ],
    [{ questions: [{ name: "q", schema: { a: 1 } }] }, "fault schema /capabilities/0/questions/0/schema/a"],
    [
      { input_schema: { n: "int" }, examples: [{ input: { n: "1" } }] },
      "fault example /capabilities/0/examples/0/input",
    ],
    [
      { output_schema: { n: "int" }, examples: [{ input: 1, output: {} }] },
      "fault example /capabilities/0/examples/0/output",
    ],
    [{ examples: [{ output: 1 }] }, "fault missing /capabilities/0/examples/0"],
  ])("%j", (capability, found) => expect(places(about(capability))).toEqual([found]));

  it("in a name of another script tells the letter, and what to write", () => {
    const [cyrillic] = lint({ agent_id: "rеsearch", capabilities: [whole] });
    expect(cyrillic?.message).toBe(
      '"rеsearch" has "е" (U+0435) as character 2, which looks like "e" and is another letter.',
    );
    expect(cyrillic?.remedy).toMatch(/^Write "research"\./);
    const [umlaut] = lint({ agent_id: "Zürich bureau", capabilities: [whole] });
    expect(umlaut?.message).toMatch(/"ü" \(U\+00FC\)/);
    expect(umlaut?.remedy).toMatch(/^Write "Zurich_bureau"\./);
    expect(lint({ agent_id: "研究", capabilities: [whole] })[0]?.remedy).toMatch(/^Names have/);
    expect(lint({ agent_id: "-a", capabilities: [whole] })[0]?.message).toMatch(/begins with "-"/);
  });

  it("in a member's name says which was meant", () => {
    const [found] = about({ timeout_second: 5 });
    expect(found).toMatchObject({ rule: "unknown_member", remedy: 'Did you mean "timeout_seconds"?' });
    expect(about({ whatever: 5 })[0]?.remedy).toMatch(/under "ext"/);
    expect(about({ latency: { whatever: 5 } })[0]?.remedy).toBe("Use p50_ms, p95_ms.");
  });

  it("inside JSON Schema says that nothing there is shorthand", () => {
    const [found] = about({ input_schema: { type: "object", properties: { a: "string" } } });
    expect(found?.remedy).toBe("Write JSON Schema 2020-12: inside it nothing is shorthand.");
    expect(about({ input_schema: { a: 5 } })[0]?.remedy).toContain("shorthand, or JSON Schema");
  });

  it.each([
    [
      "a reference to elsewhere",
      { $ref: "http://example.com/x.json" },
      "Put what it refers to under $defs of this schema, and refer to it there.",
    ],
    ["a reference to nothing", { $ref: "#/$defs/a; b" }, "Put it under $defs, or mend the name."],
    [
      "a broken pattern",
      { type: "string", pattern: "x; (" },
      "Mend the pattern there, without lookaround and backreferences, which RE2 has not.",
    ],
    [
      "a keyword with a value of another kind",
      { minimum: "1", type: "number" },
      "Write this keyword as JSON Schema 2020-12 has it.",
    ],
  ])("in %s says what to do about it", (_what, input_schema, remedy) => {
    expect(about({ input_schema })[0]?.remedy).toBe(remedy);
  });

  it("in a broken pattern says where it breaks", () => {
    const [found] = about({ input_schema: { type: "string", pattern: "x; (" } });
    expect(found?.message).toBe('the keyword "pattern" is not a pattern of RE2 syntax: missing closing ): `x; (`.');
  });

  it("in a schema that is no object writes out what was meant", () => {
    const remedy = (written: unknown) => about({ output_schema: written })[0]?.remedy;
    const inShorthand = 'or members in shorthand such as {"query": "string"}.';
    expect(remedy("string")).toBe(`Write an object: JSON Schema such as {"type": "string"}, ${inShorthand}`);
    const list = '{"type": "array", "items": {"type": "string"}}';
    expect(remedy(["string"])).toBe(`Write an object: JSON Schema such as ${list}, ${inShorthand}`);
    expect(remedy("strng")).toContain('such as {"type": "string"}, or');
    expect(about({ questions: [{ name: "q", schema: "bool" }] })[0]?.remedy).toContain('{"type": "boolean"}');
    expect(about({ ext: "string" })[0]?.remedy).toBe("Write an object.");
  });

  it("in a cost that is a bare number says how to write it", () => {
    expect(about({ cost: 250 })[0]?.remedy).toBe('Write {"amount": 250, "per": "handoff"}, in millionths.');
  });

  it("all of them at once, each with something to do", () => {
    const findings = lint({
      agent_id: "é",
      capabilities: [{ name: "ü", reliability_sla: 2, cost: 1, input_schema: { a: 1 } }],
      extra: 1,
    });
    expect(findings.filter(({ kind }) => kind === "fault").length).toBe(6);
    for (const { message, remedy } of findings) {
      expect(message).toMatch(/\.$/);
      expect(remedy).toMatch(/^[A-Z].*[.?]$/);
    }
  });

  it("in what is too large for a relay", () => {
    const capabilities = Array.from({ length: 200 }, (_, n) => ({
      ...whole,
      name: `c${n}`,
      description: "x".repeat(1_900),
    }));
    expect(places(lint({ agent_id: "a", capabilities }))).toEqual(["fault too_large /capabilities"]);
  });
});

describe("warnings", () => {
  test.each([
    [{ output_schema: undefined }, "warning no_output_schema /capabilities/0"],
    [{ input_schema: undefined }, "warning no_input_schema /capabilities/0"],
    [{ output_schema: {} }, "warning empty_output_schema /capabilities/0/output_schema"],
    [{ input_schema: {} }, "warning empty_input_schema /capabilities/0/input_schema"],
    [{ timeout_seconds: undefined }, "warning no_timeout /capabilities/0"],
    [{ version: "2024-11" }, "warning version /capabilities/0/version"],
    [{ sla: { window_seconds: 60 } }, "warning sla_without_claim /capabilities/0/sla"],
    [{ side_effects: "irreversible" }, "warning repeats /capabilities/0/side_effects"],
    [{ latency: { p50_ms: 9, p95_ms: 8 } }, "warning latency /capabilities/0/latency"],
    [{ latency: { p95_ms: 6_000 } }, "warning latency /capabilities/0/latency/p95_ms"],
    [{ tags: ["a", "b", "a"] }, "warning twice /capabilities/0/tags/2"],
    [{ input_schema: { pattern: "string" } }, "warning reading /capabilities/0/input_schema"],
    [
      { input_schema: { type: "object", propertis: { q: { type: "string" } } } },
      "warning reading /capabilities/0/input_schema",
    ],
  ])("%j", (capability, found) => {
    const manifest = JSON.parse(JSON.stringify({ agent_id: "a", capabilities: [{ ...whole, ...capability }] }));
    expect(places(lint(manifest))).toEqual([found]);
  });

  it("say of an empty schema what they say of one that is left out", () => {
    const told = (capability: object) => lint({ agent_id: "a", capabilities: [capability] })[0]?.message;
    const { output_schema: _, ...silent } = whole;
    const means = "anything may come back, and nobody who needs an output finds it.";
    expect([told(silent), told({ ...silent, output_schema: {} })]).toEqual([
      `has no output_schema: ${means}`,
      `is {}: ${means}`,
    ]);
  });
});
