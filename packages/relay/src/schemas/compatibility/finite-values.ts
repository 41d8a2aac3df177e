/** Values among which all are that fit a premise, where there are few. */

import type { Kind } from "./atom.ts";
import type { Premise } from "./premise.ts";
import type { Prover } from "./prover.ts";

/** A span of whole numbers up to this size is looked at number by number. */
const span_most = 64;

/** Null: too many, or unknown. */
export function finiteValues(prover: Prover, premise: Premise): readonly unknown[] | null {
  const [listed] = premise.all("values").toSorted((a, b) => a.values.length - b.values.length);
  if (listed !== undefined) return listed.values;
  const found: unknown[] = [];
  for (const kind of premise.kinds) {
    const values = valuesOf(prover, premise, kind);
    if (values === null) return null;
    found.push(...values);
  }
  return found;
}

function valuesOf(prover: Prover, premise: Premise, kind: Kind): readonly unknown[] | null {
  switch (kind) {
    case "null":
      return [null];
    case "boolean":
      return [true, false];
    case "number": {
      const { least, most } = premise.ranges.number;
      if (least === most) return [least];
      const span = most - least + 1;
      return premise.whole && span <= span_most ? Array.from({ length: span }, (_, n) => least + n) : null;
    }
    case "string":
      return premise.ranges.string.most === 0 ? [""] : null;
    case "array":
      return prover.mostItems(premise) === 0 ? [[]] : null;
    case "object":
      return prover.mostMembers(premise) === 0 ? [{}] : null;
    default:
      return kind satisfies never;
  }
}
