/** All capabilities by the schemas that they have: those that are written alike, as by one program, are kept once. */

import { nodeCrypto } from "../../proof/node-crypto.ts";
import type { Entry, JsonSchema, SharedSchema } from "./entry.ts";
import { shapeOf } from "./shape.ts";

export type Side = "input" | "output";

export class ShapeIndex {
  readonly #shared = new Map<string, SharedSchema>();
  /** Of which the entries say nothing of that side. */
  readonly silent: Readonly<Record<Side, Set<Entry>>> = { input: new Set(), output: new Set() };

  all(): Iterable<SharedSchema> {
    return this.#shared.values();
  }

  get size(): number {
    return this.#shared.size;
  }

  /** The one that all share who have it. */
  share(schema: JsonSchema): SharedSchema {
    const key = nodeCrypto.sha256Hex(JSON.stringify(schema));
    const known = this.#shared.get(key);
    if (known !== undefined) return known;
    const made = { key, schema, shape: shapeOf(schema), input: new Set<Entry>(), output: new Set<Entry>() };
    this.#shared.set(key, made);
    return made;
  }

  add(entry: Entry): void {
    for (const side of sides) (entry[side]?.[side] ?? this.silent[side]).add(entry);
  }

  remove(entry: Entry): void {
    for (const side of sides) {
      const shared = entry[side];
      (shared?.[side] ?? this.silent[side]).delete(entry);
      if (shared !== null && shared.input.size === 0 && shared.output.size === 0) this.#shared.delete(shared.key);
    }
  }
}

const sides: readonly Side[] = ["input", "output"];
