/**
 * Looks a manifest through as its author wrote it, in a file: everything that a relay would refuse, with its place and what to
 * do, and what its author may not mean. A file says its costs in plain; whoever registers it seals them.
 */

import Type from "typebox";
import Compile from "typebox/compile";
import { canonicalJson } from "../canonical-json.ts";
import { toUtf8 } from "../encoding.ts";
import { closed, fields } from "../fields.ts";
import { isTextId, reservedNames } from "../ids.ts";
import { protocolLimits } from "../limits.ts";
import { type Finding, type Report, shown } from "./finding.ts";
import { type InspectSchema, lintSchema } from "./lint-schema.ts";
import { lintStructure } from "./lint-structure.ts";
import { manifest } from "./manifest-schema.ts";
import type { JsonSchema, SchemaSide } from "./shorthand.ts";
import { isSemantic } from "./version-range.ts";

/** What must be known of JSON Schema besides this package: a relay's own checks. */
export interface LintChecks {
  readonly inspect: InspectSchema;
  /** Why a value does not fit a schema; null: it fits. */
  readonly fits: (schema: JsonSchema, value: unknown) => string | null;
  /** Of the capabilities, in bytes of canonical JSON. */
  readonly bytes_most: number;
  /** How many parts a schema has, and how many all of a manifest may have together. */
  readonly parts: (schema: JsonSchema) => number;
  readonly parts_most: number;
}

type Members = Readonly<Record<string, unknown>>;

const { capabilities, ...besides } = manifest.properties;
/** Costs are looked at apart: plain and sealed ones are told apart in words. */
const shape = Type.Object(
  {
    ...besides,
    capabilities: Type.Array(
      Type.Object({ ...capabilities.items.properties, cost: Type.Optional(Type.Unknown()) }, closed),
      { maxItems: protocolLimits.capabilities },
    ),
  },
  closed,
);

export function lintManifest(value: unknown, checks: LintChecks): readonly Finding[] {
  const findings: Finding[] = [];
  const report: Report = (kind, rule, path, message, remedy) => findings.push({ kind, rule, path, message, remedy });
  lintStructure(report, shape, value);
  if (!isObject(value)) return findings;
  if (reservedNames.some((name) => name === value["agent_id"])) {
    report(
      "fault",
      "name_reserved",
      "/agent_id",
      `No agent may be called ${shown(value["agent_id"])}.`,
      "Choose another name.",
    );
  }
  const list = Array.isArray(value["capabilities"]) ? value["capabilities"] : [];
  lintCapabilities(report, list, checks);
  let parts = 0;
  for (const [index, capability] of list.entries()) {
    if (!isObject(capability)) continue;
    const schemas = lintCapability(report, capability, `/capabilities/${index}`, checks);
    for (const schema of schemas) parts += checks.parts(schema);
  }
  if (parts > checks.parts_most) {
    const remedy = `Keep at most ${checks.parts_most}: state smaller schemas, or split it over several agents.`;
    report("fault", "too_large", "/capabilities", `has schemas of ${parts} parts.`, remedy);
  }
  // Nothing that the schema refuses may pass because no rule above has words for it.
  if (!findings.some(({ kind }) => kind === "fault") && !Compile(manifest).Check(value)) {
    const [first] = Compile(manifest).Errors(value);
    report("fault", "form", first?.instancePath ?? "", `${first?.message ?? "does not fit"}.`, "See spec/manifest.md.");
  }
  return findings;
}

function lintCapabilities(report: Report, list: readonly unknown[], { bytes_most }: LintChecks): void {
  if (list.length === 0) {
    report(
      "warning",
      "nothing_offered",
      "/capabilities",
      "is empty.",
      "Offer something, or nobody finds this agent by a need.",
    );
  }
  const first = new Map<unknown, number>();
  for (const [index, each] of list.entries()) {
    const name = isObject(each) ? each["name"] : undefined;
    const before = first.get(name);
    const path = `/capabilities/${index}/name`;
    if (typeof name !== "string") continue;
    if (before === undefined) first.set(name, index);
    else report("fault", "twice", path, `${shown(name)} is offered by /capabilities/${before} too.`, "Merge the two.");
  }
  const bytes = toUtf8(canonicalJson(list)).length;
  if (bytes <= bytes_most) return;
  const remedy = `Keep at most ${bytes_most}: state smaller schemas, or split it over several agents.`;
  report("fault", "too_large", "/capabilities", `takes ${bytes} bytes.`, remedy);
}

/** Its schemas in full, as far as they could be read. */
function lintCapability(report: Report, capability: Members, path: string, checks: LintChecks): readonly JsonSchema[] {
  const read = (side: SchemaSide) => {
    const written = capability[`${side}_schema`];
    return isObject(written) ? lintSchema(report, written, side, `${path}/${side}_schema`, checks.inspect) : null;
  };
  const input = read("input");
  const output = read("output");
  const answers = lintQuestions(report, capability["questions"], path, checks);
  lintExamples(report, capability, path, { input, output }, checks);
  lintCost(report, capability["cost"], `${path}/cost`);
  lintTerms(report, capability, path);
  return [input, output, ...answers].filter((schema) => schema !== null);
}

function lintExamples(
  report: Report,
  { examples }: { readonly examples?: unknown },
  path: string,
  schemas: Readonly<Record<SchemaSide, JsonSchema | null>>,
  { fits }: LintChecks,
): void {
  for (const [index, example] of (Array.isArray(examples) ? examples : []).entries()) {
    for (const side of ["input", "output"] as const) {
      const schema = schemas[side];
      if (schema === null || !isObject(example) || !Object.hasOwn(example, side)) continue;
      const why = fits(schema, example[side]);
      const at = `${path}/examples/${index}/${side}`;
      if (why !== null)
        report("fault", "example", at, `does not fit the ${side} schema: ${why}.`, "Mend one of the two.");
    }
  }
}

function lintQuestions(report: Report, questions: unknown, path: string, { inspect }: LintChecks) {
  return (Array.isArray(questions) ? questions : []).map((question: unknown, index) => {
    const schema = isObject(question) ? question["schema"] : undefined;
    return isObject(schema) ? lintSchema(report, schema, "input", `${path}/questions/${index}/schema`, inspect) : null;
  });
}

function lintCost(report: Report, cost: unknown, path: string): void {
  if (cost === undefined) return;
  if (isObject(cost) && ("sha256" in cost || "salt" in cost)) {
    const remedy =
      'Write what it costs, such as {"amount": 2000, "per": "handoff"}: the client seals it when it registers.';
    return report("fault", "cost_sealed", path, "is sealed already.", remedy);
  }
  if (typeof cost === "number") {
    const remedy = `Write {"amount": ${shown(cost)}, "per": "handoff"}, in millionths.`;
    return report("fault", "type", path, `is ${shown(cost)}, which says neither of what nor in what.`, remedy);
  }
  lintStructure(report, fields.cost, cost, path);
}

/** What it comes to where nothing is said of a schema, be it left out or empty. */
const anything = {
  input: { means: "anything is taken", remedy: "Say what it takes." },
  output: { means: "anything may come back, and nobody who needs an output finds it", remedy: "Say what it gives." },
} as const satisfies Readonly<Record<SchemaSide, object>>;

/** What is allowed and may still not be meant. */
function lintTerms(report: Report, capability: Members, path: string): void {
  const warn = (rule: string, at: string, message: string, remedy: string) =>
    report("warning", rule, at, message, remedy);
  const { timeout_seconds, version, latency, tags } = capability;
  for (const side of ["input", "output"] as const) {
    const name = `${side}_schema`;
    const { means, remedy } = anything[side];
    const schema = capability[name];
    if (schema === undefined) warn(`no_${name}`, path, `has no ${name}: ${means}.`, remedy);
    else if (isObject(schema) && Object.keys(schema).length === 0) {
      warn(`empty_${name}`, `${path}/${name}`, `is {}: ${means}.`, remedy);
    }
  }
  if (timeout_seconds === undefined) {
    warn("no_timeout", path, "has no timeout_seconds: an attempt may run for 5 minutes.", "Say how long one may take.");
  }
  if (isTextId(version) && !isSemantic(version)) {
    const message = `${shown(version)} is not a semantic version: no range matches it, only the same text.`;
    warn("version", `${path}/version`, message, "Write three numbers, such as 1.4.0.");
  }
  if (capability["sla"] !== undefined && capability["reliability_sla"] === undefined) {
    warn("sla_without_claim", `${path}/sla`, "speaks of a window, and nothing is claimed.", "Add reliability_sla.");
  }
  if (capability["side_effects"] === "irreversible" && capability["idempotent"] !== false) {
    const message = "are irreversible, and a lost attempt runs again.";
    warn("repeats", `${path}/side_effects`, message, 'Add "idempotent": false, unless a second run does no harm.');
  }
  if (isObject(latency)) lintLatency(warn, latency, timeout_seconds, `${path}/latency`);
  if (Array.isArray(tags)) lintTwice(warn, tags, `${path}/tags`);
}

function lintLatency(
  warn: (rule: string, at: string, message: string, remedy: string) => void,
  { p50_ms, p95_ms }: Members,
  timeout_seconds: unknown,
  path: string,
): void {
  if (typeof p50_ms === "number" && typeof p95_ms === "number" && p50_ms > p95_ms) {
    warn("latency", path, `says that half take up to ${p50_ms} ms and nearly all up to ${p95_ms} ms.`, "Swap the two.");
  }
  if (typeof p95_ms === "number" && typeof timeout_seconds === "number" && p95_ms > timeout_seconds * 1_000) {
    const message = `says ${p95_ms} ms, and an attempt is cut after ${timeout_seconds} s.`;
    warn("latency", `${path}/p95_ms`, message, "Raise timeout_seconds, or promise less time.");
  }
}

function lintTwice(
  warn: (rule: string, at: string, message: string, remedy: string) => void,
  list: readonly unknown[],
  path: string,
): void {
  for (const [index, item] of list.entries()) {
    if (list.indexOf(item) < index)
      warn("twice", `${path}/${index}`, `${shown(item)} stands there twice.`, "Keep one.");
  }
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
