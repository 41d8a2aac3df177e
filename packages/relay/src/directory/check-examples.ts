/** Examples that a manifest gives must fit the schemas beside them: whoever reads them takes them for true. */

import { setImmediate } from "node:timers/promises";
import type { Capability } from "@handfast/protocol";
import { Problem } from "../problem.ts";
import type { Meter } from "../schemas/meter.ts";
import type { Schemas } from "../schemas/schemas.ts";

/** `compiled`: with its schemas in full. The meter is shared by all examples of a manifest. */
export async function checkExamples(compiled: Capability, path: string, schemas: Schemas, meter: Meter): Promise<void> {
  const { name, input_schema, output_schema, examples = [] } = compiled;
  const check = async (schema: unknown, value: unknown, side: "input" | "output", at: string) => {
    if (schema === undefined || value === undefined) return;
    const fault = schemas.compile(schema).checkParsed({ ok: true, value }, `${side}_unfit`, meter);
    if (fault !== null) throw unfit(`${at}/${side}`, `${name}: ${fault.message}`, side);
    await setImmediate();
  };
  for (const [index, { input, output }] of examples.entries()) {
    const at = `${path}/examples/${index}`;
    await check(input_schema, input, "input", at);
    await check(output_schema, output, "output", at);
  }
}

function unfit(path: string, why: string, side: string): Problem {
  const message = `The manifest is refused: ${path} does not fit the ${side} schema of ${why}. Mend the example or the schema.`;
  return new Problem(400, "example_unfit", message, { path });
}
