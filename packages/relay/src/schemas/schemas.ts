/**
 * JSON Schemas from strangers, made safe: inspected, compiled once, cached by digest. Every check runs on a meter, so
 * that no pair of schema and payload holds up the relay.
 */

import type { HandoffError } from "@handfast/core";
import { parseStrictBytes, placeInShorthand, type SchemaFault, toHex, toUtf8 } from "@handfast/protocol";
import { type RelayLimits, limits as relayLimits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";
import { type Check, compileSchema } from "./compile-schema.ts";
import { explainFault, type Fault, faultOf } from "./explain-fault.ts";
import { type Inspected, inspectSchema, SchemaRefusal } from "./inspect-schema.ts";
import { Meter } from "./meter.ts";

export type Unfit = "input_unfit" | "output_unfit" | "answer_unfit";

/** Bytes with their media type, as input or output. */
export interface Content {
  readonly media_type: string;
  readonly bytes: Uint8Array;
}

export interface CompiledSchema {
  readonly digest: string;
  /** What it cost to compile, in parts. */
  readonly nodes: number;
  /** The first fault of this content; null: it fits. */
  check(content: Content, reason: Unfit): HandoffError | null;
  /** The same for content that was parsed before; the meter may be shared with other checks of the same call. */
  checkParsed(parsed: ParsedContent, reason: Unfit, meter?: Meter): HandoffError | null;
  /** For a value that is no content of a handoff: null when it fits; where and why not; or that it takes too long. */
  judge(value: unknown, meter: Meter): Fault | "too_costly" | null;
}

export type ParsedContent =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

export class Schemas {
  private readonly limits: RelayLimits;
  /** In the order of their last use. */
  private readonly compiled = new Map<string, CompiledSchema>();
  /** Digests of schemas that stay in memory (manifests), so that using one again costs no second inspection. */
  private readonly digests = new WeakMap<object, string>();

  constructor(limits: RelayLimits = relayLimits) {
    this.limits = limits;
  }

  /**
   * Throws Problem 400 `schema_refused` naming path and keyword; `where` says what holds the schema, `written` how it was
   * written where that was in shorthand.
   */
  compile(schema: unknown, where = "", written: unknown = schema): CompiledSchema {
    const again = isObject(schema) ? this.used(this.digests.get(schema)) : undefined;
    if (again !== undefined) return again;
    const { nodes, canonical } = this.inspect(schema, where, this.limits.schema_nodes, written);
    const digest = toHex(nodeCrypto.sha256(toUtf8(canonical)));
    if (isObject(schema)) this.digests.set(schema, digest);
    const known = this.used(digest);
    if (known !== undefined) return known;
    const check = this.function(schema, where);
    const made: CompiledSchema = {
      digest,
      nodes,
      check: (content, reason) => made.checkParsed(this.parse(content), reason),
      checkParsed: (parsed, reason, meter = new Meter(this.limits.schema_check_steps)) =>
        this.fault(check, parsed, reason, meter),
      judge: (value, meter) => this.judge(check(value, meter)),
    };
    this.remember(made);
    return made;
  }

  /**
   * For a schema that comes with one call and is used later, if at all: refuses what `compile` would, and more, but
   * compiles nothing. Else a batch of handoffs, each with a schema of its own, would compile for seconds.
   */
  admit(schema: unknown, where: string): void {
    this.inspect(schema, where, this.limits.call_schema_nodes);
  }

  /** Read once, checked against many schemas. */
  parse({ media_type, bytes }: Content): ParsedContent {
    if (!isJson(media_type)) return { ok: false, message: `must be JSON, not ${media_type}` };
    const parsed = parseStrictBytes(bytes, { max_depth: this.limits.json_depth });
    if (parsed.ok) return { ok: true, value: parsed.value };
    const { reason, path, offset } = parsed.fault;
    const place = path === "" ? `character ${offset}` : path;
    return { ok: false, message: `is not strict JSON: ${reason.replaceAll("_", " ")} at ${place}` };
  }

  private used(digest: string | undefined): CompiledSchema | undefined {
    const known = digest === undefined ? undefined : this.compiled.get(digest);
    if (known === undefined) return undefined;
    this.compiled.delete(known.digest);
    this.compiled.set(known.digest, known);
    return known;
  }

  private inspect(schema: unknown, where: string, max_nodes: number, written: unknown = schema): Inspected {
    try {
      return inspectSchema(schema, this.limits, max_nodes);
    } catch (error) {
      if (!(error instanceof SchemaRefusal)) throw error;
      const { path, keyword, message } = error;
      throw refusedSchema(where, { path: placeInShorthand(written, path), keyword, message });
    }
  }

  private function(schema: unknown, where: string): Check {
    if (typeof schema !== "boolean" && !isObject(schema)) throw new TypeError("An inspected schema is one of these.");
    try {
      return compileSchema(schema);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw refusedSchema(where, new SchemaRefusal("", null, `cannot be compiled: ${why}`));
    }
  }

  private fault(check: Check, parsed: ParsedContent, reason: Unfit, meter: Meter): HandoffError | null {
    if (!parsed.ok) return { reason, message: `the whole value: ${parsed.message}` };
    const errors = check(parsed.value, meter);
    if (errors === null) return { reason, message: "the whole value: is too large to be checked against this schema" };
    return errors.length === 0 ? null : { reason, message: explainFault(errors, this.limits.fault_message_chars) };
  }

  private judge(errors: ReturnType<Check>): Fault | "too_costly" | null {
    if (errors === null) return "too_costly";
    return errors.length === 0 ? null : faultOf(errors, this.limits.fault_message_chars);
  }

  private remember(schema: CompiledSchema): void {
    const [oldest] = this.compiled.keys();
    if (this.compiled.size >= this.limits.schemas_compiled && oldest !== undefined) this.compiled.delete(oldest);
    this.compiled.set(schema.digest, schema);
  }
}

/** `where` says what holds the schema. */
export function refusedSchema(where: string, { path, keyword, message }: SchemaFault): Problem {
  const at = `${where}${path}`;
  const what = keyword === null ? "the schema" : `the keyword ${JSON.stringify(keyword)}`;
  const place = at === "" ? "at the top" : `at ${at}`;
  return new Problem(400, "schema_refused", `A JSON Schema is refused: ${what} ${place} ${message}.`, {
    path: at,
    keyword,
  });
}

function isJson(media_type: string): boolean {
  return /^(application\/json|[^/;]+\/[^/;]+\+json)\s*(;|$)/i.test(media_type);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
