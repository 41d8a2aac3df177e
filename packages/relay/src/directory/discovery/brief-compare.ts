/** The comparison of schemas with less patience: a call compares many pairs, and others wait meanwhile. */

import type { RelayLimits } from "../../limits.ts";
import { compare } from "../../schemas/compatibility/compare.ts";
import type { Schemas } from "../../schemas/schemas.ts";
import type { Compare } from "./schema-judge.ts";

export function briefCompare(schemas: Schemas, limits: RelayLimits, random: () => number): Compare {
  const steps = limits.discovery_compare_steps;
  const brief: RelayLimits = {
    ...limits,
    compare_proof_steps: steps,
    compare_search_steps: steps,
    compare_check_steps: steps,
    compare_samples: limits.discovery_compare_samples,
  };
  return (left, right) => compare(left, right, { schemas, limits: brief, random });
}
