// A capability with all its schemas in full, whatever way they were written.

import type { Capability } from "../fields.ts";
import { compileSchema, type JsonSchema, type SchemaFault, type SchemaSide } from "./shorthand.ts";

/** A schema in full, with what was written and where in the capability that stands. */
export interface SchemaPlace {
  readonly schema: JsonSchema;
  readonly written: unknown;
  readonly path: string;
  readonly side: SchemaSide;
}

export type CompiledCapability =
  | { readonly ok: true; readonly capability: Capability; readonly schemas: readonly SchemaPlace[] }
  | { readonly ok: false; readonly fault: SchemaFault };

/** Where all its schemas are in full already, the capability comes back as the very same object. */
export function compileCapability(capability: Capability): CompiledCapability {
  const { input_schema, output_schema, questions = [] } = capability;
  const schemas: SchemaPlace[] = [];
  const places: readonly (readonly [string, unknown, SchemaSide])[] = [
    ["/input_schema", input_schema, "input"],
    ["/output_schema", output_schema, "output"],
    // An answer is something that the agent takes in.
    ...questions.map(({ schema }, index) => [`/questions/${index}/schema`, schema, "input"] as const),
  ];
  for (const [path, written, side] of places) {
    if (written === undefined) continue;
    const read = compileSchema(written, side);
    if (!read.ok) return { ok: false, fault: { ...read.fault, path: `${path}${read.fault.path}` } };
    schemas.push({ schema: read.schema, written, path, side });
  }
  return { ok: true, capability: withSchemas(capability, schemas), schemas };
}

function withSchemas(capability: Capability, schemas: readonly SchemaPlace[]): Capability {
  if (schemas.every(({ schema, written }) => schema === written)) return capability;
  const at = new Map(schemas.map(({ path, schema }) => [path, schema]));
  const { input_schema, output_schema, questions } = capability;
  return {
    ...capability,
    ...(input_schema === undefined ? {} : { input_schema: at.get("/input_schema") ?? input_schema }),
    ...(output_schema === undefined ? {} : { output_schema: at.get("/output_schema") ?? output_schema }),
    ...(questions === undefined
      ? {}
      : {
          questions: questions.map((question, index) => {
            const schema = at.get(`/questions/${index}/schema`);
            return schema === undefined ? question : { ...question, schema };
          }),
        }),
  };
}
