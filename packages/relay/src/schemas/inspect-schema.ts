/**
 * Walks a schema from a stranger before anything is compiled: known keywords with values of the right kind, bounded
 * size, depth and counts, references only to `#/$defs/…` and never in a circle. Also counts what the schema becomes
 * when every reference is written out, which bounds what one value can set off.
 */

import type { RelayLimits } from "../limits.ts";
import { canonicalJson, isDeeperThan } from "./canonical-json.ts";
import { dialect, insteadOf, type KeywordKind, keywords, types } from "./keywords.ts";
import { LinearPattern } from "./linear-pattern.ts";
import { MeterSlot } from "./meter.ts";

export interface Inspected {
  /** Schemas in it, itself included: what compiling costs. */
  readonly nodes: number;
  readonly canonical: string;
}

/** Why a schema is refused: where, by which keyword, and what would do. */
export class SchemaRefusal extends Error {
  readonly path: string;
  readonly keyword: string | null;

  constructor(path: string, keyword: string | null, message: string) {
    super(message);
    this.path = path;
    this.keyword = keyword;
  }
}

export function inspectSchema(schema: unknown, limits: RelayLimits, max_nodes: number): Inspected {
  if (isDeeperThan(schema, limits.json_depth)) {
    throw new SchemaRefusal("", null, `is nested more than ${limits.json_depth} levels deep; flatten it`);
  }
  const canonical = canonicalJson(schema);
  if (Buffer.byteLength(canonical) > limits.schema_bytes) {
    throw new SchemaRefusal("", null, `is larger than ${limits.schema_bytes} bytes; describe less of the value`);
  }
  return { nodes: new Inspector(schema, limits, max_nodes).inspect(), canonical };
}

/** Schemas in it, and inside of each other in it, once its references are written out. */
interface Expanded {
  readonly nodes: number;
  readonly levels: number;
}

class Inspector {
  private readonly root: unknown;
  private readonly limits: RelayLimits;
  private readonly max_nodes: number;
  private readonly definitions: Readonly<Record<string, unknown>>;
  /** What each definition becomes; null while it is being counted, so that a circle shows. */
  private readonly counted = new Map<string, Expanded | null>();
  private nodes = 0;
  /** Schemas around the one that is looked at, references written out, and the most there ever were. */
  private level = 0;
  private deepest = 0;
  private patterns = 0;

  constructor(root: unknown, limits: RelayLimits, max_nodes: number) {
    this.root = root;
    this.limits = limits;
    this.max_nodes = max_nodes;
    this.definitions = isObject(root) && isObject(root["$defs"]) ? root["$defs"] : {};
  }

  inspect(): number {
    this.schema(this.root, "", 0);
    for (const name of Object.keys(this.definitions)) this.definition(name, "/$defs");
    return this.nodes;
  }

  private schema(schema: unknown, path: string, depth: number): number {
    this.nodes++;
    if (this.nodes > this.max_nodes) refuse(path, null, `has more than ${this.max_nodes} parts`);
    if (depth > this.limits.schema_depth) refuse(path, null, `nests more than ${this.limits.schema_depth} schemas`);
    this.level++;
    this.reach(this.level, path);
    const expanded = this.expanded(schema, path, depth);
    this.level--;
    return expanded;
  }

  private reach(level: number, path: string): void {
    const most = this.limits.schema_expanded_depth;
    if (level > most) refuse(path, null, `nests more than ${most} schemas once its references are written out`);
    this.deepest = Math.max(this.deepest, level);
  }

  private expanded(schema: unknown, path: string, depth: number): number {
    if (typeof schema === "boolean") return 1;
    if (!isObject(schema)) refuse(path, null, "must be a JSON Schema: an object, true or false");
    let expanded = 1;
    for (const [keyword, value] of Object.entries(schema)) {
      const kind = keywords.get(keyword);
      if (kind === undefined) refuse(path, keyword, unknownKeyword(keyword));
      expanded += this.keyword(keyword, kind, value, path, depth);
      if (expanded > this.limits.schema_expanded_nodes) {
        const most = this.limits.schema_expanded_nodes;
        refuse(path, keyword, `has more than ${most} parts once its references are written out`);
      }
    }
    return expanded;
  }

  /** The expanded nodes that this keyword adds. */
  private keyword(keyword: string, kind: KeywordKind, value: unknown, path: string, depth: number): number {
    const { limits } = this;
    const at = `${path}/${escapePointer(keyword)}`;
    const wrong = (what: string) => refuse(path, keyword, `must be ${what}`);
    switch (kind) {
      case "schema":
        if (Array.isArray(value)) wrong("one schema (for a tuple use prefixItems)");
        return this.schema(value, at, depth + 1);
      case "schema_list": {
        if (!Array.isArray(value) || value.length === 0) wrong("a list of schemas, not empty");
        const list: readonly unknown[] = Array.isArray(value) ? value : [];
        if (list.length > limits.schema_branches) wrong(`a list of at most ${limits.schema_branches} schemas`);
        return sum(list, (branch, index) => this.schema(branch, `${at}/${index}`, depth + 1));
      }
      case "pattern_map":
      case "schema_map": {
        const map = isObject(value) ? value : wrong("an object whose members are schemas");
        const names = Object.keys(map);
        if (names.length > limits.schema_properties) wrong(`an object of at most ${limits.schema_properties} members`);
        if (kind === "pattern_map") for (const name of names) this.pattern(name, path, keyword);
        return sum(names, (name) => this.schema(map[name], `${at}/${escapePointer(name)}`, depth + 1));
      }
      case "definitions": {
        if (path !== "") refuse(path, keyword, "is allowed at the top of the schema only; move it there");
        const map = isObject(value) ? value : wrong("an object whose members are schemas");
        const most = limits.schema_definitions;
        if (Object.keys(map).length > most) wrong(`an object of at most ${most} members`);
        return 0;
      }
      case "reference":
        return this.definition(referenced(value, path, keyword), path);
      case "dialect":
        if (path !== "" || (value !== dialect && value !== `${dialect}#`)) wrong(`${dialect}, at the top only`);
        return 0;
      case "types": {
        const list: readonly unknown[] = Array.isArray(value) ? value : [value];
        if (list.length === 0 || new Set(list).size !== list.length || list.some((type) => !types.has(type))) {
          wrong(`one of ${[...types].join(", ")}, or a list of them without repeats`);
        }
        return 0;
      }
      case "values": {
        const list: readonly unknown[] = Array.isArray(value) ? value : [];
        if (list.length === 0 || list.length > limits.schema_enum_values) {
          wrong(`a list of 1 to ${limits.schema_enum_values} values`);
        }
        if (new Set(list.map(canonicalJson)).size !== list.length) wrong("a list without repeats");
        return list.length;
      }
      case "value":
        return 1;
      case "number":
        if (typeof value !== "number" || !Number.isFinite(value)) wrong("a number");
        return 0;
      case "positive_number":
        if (typeof value !== "number" || !Number.isFinite(value) || value <= 0) wrong("a number above 0");
        return 0;
      case "count":
        if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) wrong("a whole number from 0 on");
        return 0;
      case "flag":
        if (typeof value !== "boolean") wrong("true or false");
        return 1;
      case "names":
        return this.names(value, path, keyword);
      case "names_map": {
        const map = isObject(value) ? value : wrong("an object whose members are lists of names");
        const lists = Object.values(map);
        if (lists.length > limits.schema_properties) wrong(`an object of at most ${limits.schema_properties} members`);
        return sum(lists, (list) => this.names(list, path, keyword));
      }
      case "pattern":
        if (typeof value !== "string") wrong("a regular expression in a string");
        else this.pattern(value, path, keyword);
        return 1;
      case "annotation":
        return 0;
      default:
        return kind satisfies never;
    }
  }

  private definition(name: string, path: string): number {
    const known = this.counted.get(name);
    if (known === null)
      refuse(path, "$ref", `goes round in a circle through #/$defs/${name}; write out the levels needed`);
    if (known !== undefined) {
      this.reach(this.level + known.levels, path);
      return known.nodes;
    }
    if (!Object.hasOwn(this.definitions, name)) {
      refuse(path, "$ref", `names #/$defs/${name}, which is not there; put it under $defs, or mend the name`);
    }
    this.counted.set(name, null);
    const around = this.deepest;
    this.deepest = this.level;
    const nodes = this.schema(this.definitions[name], `/$defs/${escapePointer(name)}`, 1);
    this.counted.set(name, { nodes, levels: this.deepest - this.level });
    this.deepest = Math.max(around, this.deepest);
    return nodes;
  }

  private names(value: unknown, path: string, keyword: string): number {
    const list: readonly unknown[] = Array.isArray(value) ? value : refuse(path, keyword, "must be a list of names");
    if (list.length > this.limits.schema_properties || list.some((name) => typeof name !== "string")) {
      refuse(path, keyword, `must be a list of at most ${this.limits.schema_properties} names`);
    }
    if (new Set(list).size !== list.length) refuse(path, keyword, "must not name anything twice");
    return list.length;
  }

  private pattern(source: string, path: string, keyword: string): void {
    this.patterns++;
    const { schema_patterns, schema_pattern_chars, schema_pattern_program } = this.limits;
    if (this.patterns > schema_patterns)
      refuse(path, keyword, `is one pattern too many: ${schema_patterns} are allowed`);
    if (source.length > schema_pattern_chars)
      refuse(path, keyword, `is longer than ${schema_pattern_chars} characters`);
    const program = programOf(source, path, keyword);
    if (program > schema_pattern_program) refuse(path, keyword, "is too large once compiled; repeat less in it");
  }
}

function programOf(source: string, path: string, keyword: string): number {
  try {
    return new LinearPattern(source, new MeterSlot()).program;
  } catch (error) {
    const why = (error instanceof Error ? error.message : String(error)).replace("error parsing regexp: ", "");
    const next = "mend the pattern there, without lookaround and backreferences, which RE2 has not";
    return refuse(path, keyword, `is not a pattern of RE2 syntax: ${why}; ${next}`);
  }
}

/** The name behind `#/$defs/name`: the only kind of reference there is. */
function referenced(value: unknown, path: string, keyword: string): string {
  const name = typeof value === "string" ? /^#\/\$defs\/([^/]+)$/.exec(value)?.[1] : undefined;
  const decoded = name === undefined ? null : decodeUri(name);
  if (decoded === null) {
    const next = "put what it refers to under $defs of this schema, and refer to it there";
    return refuse(path, keyword, `must be #/$defs/name: nothing outside the schema is fetched; ${next}`);
  }
  return decoded.replaceAll("~1", "/").replaceAll("~0", "~");
}

function decodeUri(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function unknownKeyword(keyword: string): string {
  const instead = insteadOf.get(keyword);
  return instead === undefined ? "is not a keyword this relay checks; remove it" : `is not allowed; use ${instead}`;
}

function refuse(path: string, keyword: string | null, message: string): never {
  throw new SchemaRefusal(path, keyword, message);
}

function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sum<Item>(items: readonly Item[], count: (item: Item, index: number) => number): number {
  return items.reduce((total, item, index) => total + count(item, index), 0);
}
