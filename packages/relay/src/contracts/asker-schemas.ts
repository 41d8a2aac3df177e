/** What was agreed on about the work itself: the asker's own schemas, and the provider's as it was offered. */

import type { HandoffError, TargetFit } from "@handfast/core";
import { compileSchema } from "@handfast/protocol";
import { Problem } from "../problem.ts";
import type { Content, Schemas, Unfit } from "../schemas/schemas.ts";
import type { ContractRecord, JsonSchema } from "./contract-record.ts";

/** Null: the input is what the asker said that it sends. Whether the provider takes it, the directory says. */
export function unfitByContract(
  schemas: Schemas,
  { schemas: { input_schema } }: ContractRecord,
  input: Content,
): TargetFit | null {
  const error = faultOf(schemas, inFull(input_schema, "input"), input, "input_unfit");
  return error === null ? null : { kind: "unfit", error };
}

/** Whether the provider said, when it agreed, what input it takes, and this is such. */
export function fitsAsAgreed(schemas: Schemas, { capability }: ContractRecord, input: Content): boolean {
  const schema = inFull(capability.input_schema, "input");
  return schema !== undefined && faultOf(schemas, schema, input, "input_unfit") === null;
}

/** What every output under the contract must fit. */
export function agreedOutputs({ capability, schemas: { output_schema } }: ContractRecord): readonly JsonSchema[] {
  return [capability.output_schema, output_schema]
    .map((schema) => inFull(schema, "output"))
    .filter((schema): schema is JsonSchema => typeof schema === "object" && schema !== null);
}

/** The provider may have changed since the handoff was accepted: what it then promised still holds. */
export function outputFault(
  schemas: Schemas,
  { capability, schemas: { output_schema } }: ContractRecord,
  output: Content,
): HandoffError | null {
  const [promised, wanted] = [capability.output_schema, output_schema].map((schema) => inFull(schema, "output"));
  return faultOf(schemas, promised, output, "output_unfit") ?? faultOf(schemas, wanted, output, "output_unfit");
}

/** Schemas are kept as they were written, which may be in shorthand; they were read once already, or none were kept. */
function inFull(schema: JsonSchema | undefined, side: "input" | "output"): unknown {
  const read = schema === undefined ? null : compileSchema(schema, side);
  return read?.ok === true ? read.schema : schema;
}

function faultOf(schemas: Schemas, schema: unknown, content: Content, reason: Unfit): HandoffError | null {
  if (schema === undefined) return null;
  try {
    return schemas.compile(schema).checkParsed(schemas.parse(content), reason);
  } catch (error) {
    // Admitted under wider limits than today's: nothing can be said to fit it.
    if (error instanceof Problem) return { reason, message: `the schema of the contract: ${error.message}` };
    throw error;
  }
}
