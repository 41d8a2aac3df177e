/** Some of many values: one of each kind first, then the next of each. */

import { kindOf } from "../atom.ts";

export function varied(values: readonly unknown[], most: number): readonly unknown[] {
  if (values.length <= most) return values;
  const turns = new Map<string, number>();
  const ranked = values.map((value) => {
    const kind = kindOf(value);
    const turn = turns.get(kind) ?? 0;
    turns.set(kind, turn + 1);
    return { value, turn };
  });
  return ranked
    .toSorted((a, b) => a.turn - b.turn)
    .slice(0, most)
    .map(({ value }) => value);
}
