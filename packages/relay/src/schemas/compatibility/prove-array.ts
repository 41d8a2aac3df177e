/** Items: those in their places, those that must be contained, and that none is there twice. */

import type { Atom, Node } from "./atom.ts";
import type { Premise } from "./premise.ts";
import type { Gap, Prover } from "./prover.ts";

export function gapInArray(prover: Prover, premise: Premise, atom: Atom<"items" | "contains" | "unique">): Gap | null {
  switch (atom.rule) {
    case "items":
      return gapInItems(prover, premise, atom);
    case "contains":
      return gapInContains(prover, premise, atom);
    case "unique":
      // That `unique` itself is promised was seen before: then both have the same atom.
      return prover.mostItems(premise) <= 1 ? null : { path: atom.path, because: "the same item may come twice" };
    default:
      return atom satisfies never;
  }
}

function gapInItems(prover: Prover, premise: Premise, { first, rest }: Atom<"items">): Gap | null {
  const most = prover.mostItems(premise);
  // From this index on, all items are under the same demands on either side.
  const distinct = Math.max(premise.distinctItems, first.length);
  for (let index = 0; index <= distinct && index < most; index++) {
    const gap = prover.gap(prover.assume(premise.item(index)), first[index] ?? rest);
    if (gap !== null) return gap;
  }
  return null;
}

function gapInContains(prover: Prover, premise: Premise, atom: Atom<"contains">): Gap | null {
  const { path, schema, least, most } = atom;
  if (!hasEnough(prover, premise, schema, least)) return { path, because: "too few such items may come" };
  return hasFew(prover, premise, schema, most) ? null : { path, because: "too many such items may come" };
}

function hasEnough(prover: Prover, premise: Premise, schema: Node, least: number): boolean {
  if (least === 0) return true;
  const promised = premise
    .all("contains")
    .some((each) => each.least >= least && prover.gap(prover.assume(each.schema.atoms), schema) === null);
  if (promised) return true;
  const certain = premise.ranges.array.least;
  const distinct = Math.min(premise.distinctItems, certain);
  let found = 0;
  for (let index = 0; index < distinct; index++) if (isSuch(prover, premise, index, schema)) found++;
  if (found < least && certain > distinct && isSuch(prover, premise, distinct, schema)) found += certain - distinct;
  return found >= least;
}

function isSuch(prover: Prover, premise: Premise, index: number, schema: Node): boolean {
  return prover.gap(prover.assume(premise.item(index)), schema) === null;
}

function hasFew(prover: Prover, premise: Premise, schema: Node, most: number): boolean {
  const possible = prover.mostItems(premise);
  if (possible <= most) return true;
  const promised = premise
    .all("contains")
    .some((each) => each.most <= most && prover.gap(prover.assume(schema.atoms), each.schema) === null);
  if (promised) return true;
  const distinct = Math.min(premise.distinctItems, possible);
  const canBe = (index: number) => !prover.isImpossible(prover.assume(premise.item(index), schema.atoms));
  if (possible > distinct && canBe(distinct)) return false;
  return Array.from({ length: distinct }, (_, index) => index).filter(canBe).length <= most;
}
