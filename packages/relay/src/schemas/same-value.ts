/** Equality of JSON values for `enum`, `const` and `uniqueItems`: by canonical text, linear in the size of the value. */

import { canonicalJson } from "./canonical-json.ts";
import { costs, type MeterSlot } from "./meter.ts";

/** A set of JSON values. Primitives stand for themselves, since writing them out would cost for nothing. */
export class ValueSet {
  private readonly meter: MeterSlot;
  private readonly primitives = new Set<unknown>();
  private readonly texts = new Set<string>();

  constructor(meter: MeterSlot, values: readonly unknown[] = []) {
    this.meter = meter;
    for (const value of values) this.add(value);
  }

  get size(): number {
    return this.primitives.size + this.texts.size;
  }

  add(value: unknown): void {
    weigh(value, this.meter);
    if (isPrimitive(value)) this.primitives.add(value);
    else this.texts.add(canonicalJson(value));
  }

  has(value: unknown): boolean {
    if (isPrimitive(value)) {
      this.meter.spend(costs.visit + (typeof value === "string" ? value.length * costs.char : 0));
      return this.primitives.has(value);
    }
    if (this.texts.size === 0) return false;
    weigh(value, this.meter);
    return this.texts.has(canonicalJson(value));
  }
}

/** Pays for the canonical text before it is made: made first, one text could already take too long. */
function weigh(value: unknown, meter: MeterSlot): void {
  if (isPrimitive(value)) {
    const chars = typeof value === "string" ? value.length : 0;
    meter.spend(costs.compared_value + chars * costs.compared_char);
  } else if (Array.isArray(value)) {
    meter.spend(costs.compared_compound);
    for (const item of value) weigh(item, meter);
  } else {
    meter.spend(costs.compared_compound);
    for (const [name, member] of Object.entries(value)) {
      meter.spend(costs.compared_member + name.length * costs.compared_char);
      weigh(member, meter);
    }
  }
}

function isPrimitive(value: unknown): value is string | number | boolean | null | undefined {
  return typeof value !== "object" || value === null;
}
