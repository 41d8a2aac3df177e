/** Arrays to try: of the lengths that matter, with what matters in one place at a time. */

import { canonicalJson } from "../../canonical-json.ts";
import type { Atom, Node } from "../atom.ts";
import type { Explorer, Place } from "./explorer.ts";
import { mentioned, onItem } from "./mentioned.ts";
import { limitsOf } from "./near-values.ts";
import { varied } from "./varied.ts";

/** Longer ones are not tried. */
const items_most = 600;
/** In one place. */
const tried_most = 6;

export function* arraysAt(explorer: Explorer, place: Place): Generator<unknown[]> {
  for (const length of lengths(place)) {
    const plain = plainItems(explorer, place, length);
    if (plain === null) continue;
    yield plain;
    yield* changed(explorer, place, plain);
    yield* counted(explorer, place, length);
    const distinct = plainItems(explorer, place, length, true);
    if (distinct !== null) yield distinct;
  }
}

function lengths({ premise, hints }: Place): readonly number[] {
  const { least, most } = premise.ranges.array;
  const atoms = [...mentioned(premise.atoms), ...hints];
  const counts = atoms.flatMap((atom) => (atom.rule === "contains" ? [atom.least, atom.most] : []));
  const firsts = atoms.flatMap((atom) => (atom.rule === "items" ? [atom.first.length] : []));
  const edges = [...limitsOf(atoms, "array"), ...counts, ...firsts].flatMap((edge) => [edge, edge - 1, edge + 1]);
  return [...new Set([0, 1, 2, 3, least, least + 1, most, ...edges])]
    .filter((length) => length >= least && length <= Math.min(most, items_most))
    .sort((a, b) => a - b);
}

function itemPlace(explorer: Explorer, { premise, demand, hints }: Place, index: number, more: readonly Atom[]): Place {
  const known = explorer.prover.assume(premise.item(index), more);
  return explorer.place(known, onItem(demand, index), onItem(hints, index));
}

/** Null: there is no value for one of the items, as far as is known. */
function plainItems(explorer: Explorer, place: Place, length: number, isUnique = isAllUnique(place)): unknown[] | null {
  const used = isUnique ? new Set<string>() : null;
  const items: unknown[] = [];
  for (let index = 0; index < length; index++) {
    const found = pickItem(explorer, itemPlace(explorer, place, index, []), used);
    if (found === null) return null;
    items.push(found.item);
  }
  return items;
}

function isAllUnique({ premise }: Place): boolean {
  return premise.all("unique").length > 0;
}

/** One that was not used before, if that matters. */
function pickItem(explorer: Explorer, place: Place, used: Set<string> | null): { readonly item: unknown } | null {
  const { plain, breaking } = explorer.explore(place, used !== null);
  const item = [...plain, ...breaking].find((value) => used === null || !used.has(canonicalJson(value)));
  if (item === undefined) return null;
  used?.add(canonicalJson(item));
  return { item };
}

function* changed(explorer: Explorer, place: Place, plain: readonly unknown[]): Generator<unknown[]> {
  const firsts = place.hints.map((atom) => (atom.rule === "items" ? atom.first.length : 0));
  const distinct = Math.max(place.premise.distinctItems, ...firsts);
  for (let index = 0; index <= distinct && index < plain.length; index++) {
    const item = itemPlace(explorer, place, index, []);
    const { breaking, plain: others } = explorer.explore(item, explorer.isInQuestion(item));
    for (const value of [...varied(breaking, tried_most), ...varied(others, tried_most)]) {
      yield plain.with(index, value);
    }
  }
}

/** With as many of what is to be contained as matter. */
function* counted(explorer: Explorer, place: Place, length: number): Generator<unknown[]> {
  const not = (schema: Node) => explorer.prover.workshop.atom({ rule: "not", schema }, "");
  const promised = place.premise.all("contains");
  const demanded = place.hints.filter((atom) => atom.rule === "contains");
  for (const { schema, least } of promised) {
    for (const other of demanded.map((demand) => not(demand.schema))) {
      const items = mixed(explorer, place, length, { such: [...schema.atoms, other], other: [other], count: least });
      if (items !== null) yield items;
    }
  }
  for (const { schema, least, most } of [...promised, ...demanded]) {
    for (const count of new Set([0, least - 1, least, most, most + 1, length])) {
      if (count < 0 || count > length) continue;
      const items = mixed(explorer, place, length, { such: schema.atoms, other: [not(schema)], count });
      if (items !== null) yield items;
    }
  }
}

interface Mix {
  readonly such: readonly Atom[];
  readonly other: readonly Atom[];
  /** Of such. */
  readonly count: number;
}

function mixed(explorer: Explorer, place: Place, length: number, { such, other, count }: Mix): unknown[] | null {
  const used = isAllUnique(place) ? new Set<string>() : null;
  const items: unknown[] = [];
  let left = count;
  for (let index = 0; index < length; index++) {
    const wanted = left > 0 ? such : other;
    const item =
      pickItem(explorer, itemPlace(explorer, place, index, wanted), used) ??
      pickItem(explorer, itemPlace(explorer, place, index, wanted === such ? other : such), used);
    if (item === null) return null;
    items.push(item.item);
    left--;
  }
  return items;
}
