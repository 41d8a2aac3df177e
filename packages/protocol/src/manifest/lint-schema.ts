// The schemas of a manifest: read from shorthand, references that go in a circle, and readings that their author may not mean.

import { protocolLimits as limits } from "../limits.ts";
import { nearestWord } from "../nearest-word.ts";
import { type Report, shown } from "./finding.ts";
import { placeInShorthand } from "./place-in-shorthand.ts";
import { isKeyword, schemaKeywords } from "./schema-keywords.ts";
import { compileSchema, escapePointer, type JsonSchema, type SchemaFault, type SchemaSide } from "./shorthand.ts";

/** What a relay would refuse in a schema that is in full; null: nothing. */
export type InspectSchema = (schema: JsonSchema) => SchemaFault | null;

/** The schema in full; null: it cannot be read, and that was reported. */
export function lintSchema(
  report: Report,
  written: unknown,
  side: SchemaSide,
  path: string,
  inspect: InspectSchema,
): JsonSchema | null {
  const read = compileSchema(written, side);
  const found = read.ok ? (circleIn(read.schema) ?? inspect(read.schema)) : read.fault;
  if (read.ok && found === null) {
    warnOfReadings(report, written, read.is_shorthand, path);
    return read.schema;
  }
  if (found === null) return null;
  const place = read.ok ? placeInShorthand(written, found.path) : found.path;
  const what = found.keyword === null ? "" : `the keyword ${shown(found.keyword)} `;
  // What to do stands last, if anywhere: before it may be words of the author's, with any signs in them.
  const [, message = found.message, next] = /^(.*); (.*?)$/s.exec(found.message) ?? [];
  const remedy =
    next === undefined ? standardRemedy(read.ok && !read.is_shorthand, found.keyword !== null) : sentence(next);
  report("fault", "schema", `${path}${place}`, `${what}${message}.`, remedy);
  return null;
}

function standardRemedy(is_json_schema: boolean, is_keyword: boolean): string {
  if (is_keyword) return "Write this keyword as JSON Schema 2020-12 has it.";
  if (is_json_schema) return "Write JSON Schema 2020-12: inside it nothing is shorthand.";
  return "Write a type in shorthand, or JSON Schema 2020-12.";
}

/** References are only to `#/$defs/name`; one that leads back to itself has no end. */
function circleIn(schema: JsonSchema): SchemaFault | null {
  const definitions = schema["$defs"];
  // More than any relay takes: that is what it says of it.
  if (!isObject(definitions) || Object.keys(definitions).length > limits.shorthand_parts) return null;
  const open = new Set<string>();
  const done = new Set<string>();
  const visit = (name: string): string | null => {
    if (open.has(name)) return name;
    if (done.has(name) || !Object.hasOwn(definitions, name)) return null;
    open.add(name);
    for (const next of referencesIn(definitions[name])) {
      const circle = visit(next);
      if (circle !== null) return circle;
    }
    open.delete(name);
    done.add(name);
    return null;
  };
  for (const name of Object.keys(definitions)) {
    const circle = visit(name);
    if (circle === null) continue;
    const message = `goes round in a circle through #/$defs/${circle}; write out the levels needed`;
    return { path: `/$defs/${escapePointer(circle)}`, keyword: "$ref", message };
  }
  return null;
}

/** Without recursion: a stranger's schema may be deep. */
function referencesIn(schema: unknown): readonly string[] {
  const found: string[] = [];
  const left: unknown[] = [schema];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value !== "object" || value === null) continue;
    for (const [key, member] of Object.entries(value)) {
      if (key === "$ref" && typeof member === "string") found.push(member.replace(/^#\/\$defs\//, ""));
      else left.push(member);
    }
  }
  return found;
}

/** Both readings are possible, and the rule took the one that its author may not have meant. */
function warnOfReadings(report: Report, written: unknown, is_shorthand: boolean, path: string): void {
  if (!isObject(written)) return;
  const names = Object.keys(written);
  if (is_shorthand) {
    const strange = "type" in written ? names.filter((name) => !isKeyword(name)) : [];
    for (const name of strange) {
      const near = nearestWord(name, schemaKeywords);
      if (near === undefined) continue;
      const message = `is read as shorthand, with a member called ${shown(name)}.`;
      report("warning", "reading", path, message, `If JSON Schema is meant, write ${shown(near)}.`);
    }
    return;
  }
  const is_plain = names.length === 0 || (names.length === 1 && names[0] === "type");
  const looks = Object.values(written).every((value) => typeof value === "string" && compileSchema(value, "output").ok);
  if (is_plain || !looks) return;
  const message = "is read as JSON Schema, since all its members are keywords of it, and looks like shorthand.";
  const remedy = 'If these are names of members, write it in full: {"type": "object", "properties": {…}}.';
  report("warning", "reading", path, message, remedy);
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
