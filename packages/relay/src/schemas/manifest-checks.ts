/** What this relay would say of the schemas and examples of a manifest: for whoever looks one through before it is sent. */

import type { LintChecks } from "@handfast/protocol";
import { limits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { inspectSchema, SchemaRefusal } from "./inspect-schema.ts";
import { Schemas } from "./schemas.ts";

export function manifestChecks(): LintChecks {
  const schemas = new Schemas();
  return {
    bytes_most: limits.manifest_bytes,
    parts_most: limits.manifest_schema_nodes,
    parts: (schema) => schemas.compile(schema).nodes,
    inspect: (schema) => {
      try {
        inspectSchema(schema, limits, limits.schema_nodes);
        schemas.compile(schema);
        return null;
      } catch (error) {
        if (error instanceof SchemaRefusal) return { path: error.path, keyword: error.keyword, message: error.message };
        if (error instanceof Problem) return { path: "", keyword: null, message: error.message };
        throw error;
      }
    },
    fits: (schema, value) => schemas.compile(schema).checkParsed({ ok: true, value }, "input_unfit")?.message ?? null,
  };
}
