/** What an agent says it offers, before it is believed: counts, sizes, every schema made safe, every example tried. */

import { setImmediate } from "node:timers/promises";
import { type Capability, compileCapability, isName, type SchemaPlace } from "@handfast/protocol";
import type { RelayLimits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { canonicalJson, isDeeperThan } from "../schemas/canonical-json.ts";
import { Meter } from "../schemas/meter.ts";
import { refusedSchema, type Schemas } from "../schemas/schemas.ts";
import { checkExamples } from "./check-examples.ts";

export async function checkCapabilities(
  capabilities: readonly Capability[],
  schemas: Schemas,
  limits: RelayLimits,
): Promise<void> {
  if (capabilities.length > limits.capabilities_per_agent) {
    throw tooLarge(`${capabilities.length} capabilities`, `${limits.capabilities_per_agent}`);
  }
  if (isDeeperThan(capabilities, limits.json_depth)) throw tooLarge("the nesting", `${limits.json_depth} levels`);
  const bytes = Buffer.byteLength(canonicalJson(capabilities));
  if (bytes > limits.manifest_bytes) throw tooLarge(`${bytes} bytes`, `${limits.manifest_bytes} bytes`);
  const names = new Set<string>();
  const meter = new Meter(limits.schema_check_steps);
  let nodes = 0;
  const inspect = async ({ schema, written, path }: SchemaPlace, at: string) => {
    nodes += schemas.compile(schema, `${at}${path}`, written).nodes;
    const most = limits.manifest_schema_nodes;
    if (nodes > most) throw tooLarge(`schemas of more than ${most} parts`, `${most} parts`);
    // Compiling many takes a second or more: others are served in between.
    await setImmediate();
  };
  for (const [index, capability] of capabilities.entries()) {
    const path = `/capabilities/${index}`;
    const { name } = capability;
    if (!isName(name)) throw malformed(`${path}/name`, "must be a name: letters, digits, dots, dashes, underscores");
    if (names.has(name)) throw malformed(`${path}/name`, `lists ${name} a second time; merge the two`);
    names.add(name);
    const read = compileCapability(capability);
    if (!read.ok) throw refusedSchema(path, read.fault);
    for (const place of read.schemas) await inspect(place, path);
    await checkExamples(read.capability, path, schemas, meter);
  }
}

function tooLarge(what: string, most: string): Problem {
  const message = `A manifest with ${what} is too large: at most ${most}. Split it over several agents.`;
  return new Problem(413, "manifest_too_large", message);
}

function malformed(path: string, message: string): Problem {
  return new Problem(400, "manifest_malformed", `The manifest is refused: ${path} ${message}.`, { path });
}
