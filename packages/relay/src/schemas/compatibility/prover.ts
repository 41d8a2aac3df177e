/**
 * Proves that whatever fits a premise fits a node. One atom of the node after the other is held against what is known;
 * where that does not do, the premise is split into cases that together cover it, and each is tried by itself. What it
 * cannot prove it says with a gap; a gap never means that the opposite is true.
 */

import { costs } from "../meter.ts";
import { type Atom, type Kind, kinds, type Node } from "./atom.ts";
import { finiteValues } from "./finite-values.ts";
import { Fits } from "./fits.ts";
import { canBeName, canCome } from "./json-domain.ts";
import { Premise } from "./premise.ts";
import { gapInArray } from "./prove-array.ts";
import { gapInChoice } from "./prove-choice.ts";
import { gapInLimit, gapInMultiple } from "./prove-limit.ts";
import { gapInObject } from "./prove-object.ts";
import { alternatives, splitByAlternatives, splitByMember } from "./split.ts";
import type { Workshop } from "./workshop.ts";

/** Where in the right schema the proof stopped, and what may come that it does not take. */
export interface Gap {
  readonly path: string;
  readonly because: string;
}

/** Beside the atoms themselves. */
const attempt_cost = 5_000;

export class Prover {
  readonly workshop: Workshop;
  readonly fits: Fits;
  private readonly max_depth: number;
  private depth = 0;
  private readonly premises = new Map<number, Premise>();
  private readonly gaps = new Map<string, Gap | null>();
  private readonly impossible = new Map<string, boolean>();
  private readonly finite = new Map<number, readonly unknown[] | null>();
  private readonly possible = new Map<number, ReadonlySet<Kind>>();

  constructor(workshop: Workshop, max_depth: number) {
    this.workshop = workshop;
    this.fits = new Fits(workshop);
    this.max_depth = max_depth;
  }

  assume(...lists: readonly (readonly Atom[])[]): Premise {
    const atoms = lists.flat();
    const node = this.workshop.node(isOnlyObject(atoms) ? this.withDependent(atoms) : atoms);
    const known = this.premises.get(node.id);
    if (known !== undefined) return known;
    this.workshop.meter.spend(attempt_cost + atoms.length * costs.compared_compound);
    const made = new Premise(node);
    this.premises.set(node.id, made);
    return made;
  }

  /** Null: proven. Without splitting, only what holds for the premise as a whole is found. */
  gap(premise: Premise, node: Node, splitting = true): Gap | null {
    const key = `${premise.id}:${node.id}:${splitting}`;
    const known = this.gaps.get(key);
    if (known !== undefined) return known;
    this.gaps.set(key, { path: node.atoms[0]?.path ?? "", because: "the schemas are nested too deep to be compared" });
    const found = this.deeper(() => this.newGap(premise, node, splitting));
    if (found !== undefined) this.gaps.set(key, found);
    return this.gaps.get(key) ?? null;
  }

  /** True: no value fits. False says nothing. */
  isImpossible(premise: Premise, thorough = true): boolean {
    const key = `${premise.id}:${thorough}`;
    const known = this.impossible.get(key);
    if (known !== undefined) return known;
    this.impossible.set(key, false);
    const found = this.deeper(() => this.newlyImpossible(premise, thorough)) ?? false;
    this.impossible.set(key, found);
    return found;
  }

  /** All values that fit, where they are few and known. */
  values(premise: Premise): readonly unknown[] | null {
    const known = this.finite.get(premise.id);
    if (known !== undefined) return known;
    const candidates = finiteValues(this, premise);
    const found = candidates?.filter((value) => canCome(value) && this.fits.all(value, premise.atoms)) ?? null;
    this.finite.set(premise.id, found);
    return found;
  }

  /** What such a value can be, less what can be seen not to exist. */
  kinds(premise: Premise): ReadonlySet<Kind> {
    const known = this.possible.get(premise.id);
    if (known !== undefined) return known;
    this.possible.set(premise.id, premise.kinds);
    const found = new Set([...premise.kinds].filter((kind) => !this.isImpossibleKind(premise, kind)));
    this.possible.set(premise.id, found);
    return found;
  }

  /** The most items there can be: none stands where nothing fits. */
  mostItems(premise: Premise): number {
    const { most } = premise.ranges.array;
    const distinct = Math.min(premise.distinctItems, most);
    for (let index = 0; index <= distinct; index++) {
      if (this.isImpossible(this.assume(premise.item(index)))) return Math.min(index, most);
    }
    return most;
  }

  mostMembers(premise: Premise): number {
    const { known, isOpen } = this.names(premise);
    const { most } = premise.ranges.object;
    if (isOpen && !this.isImpossible(this.otherMember(premise))) return most;
    return Math.min(most, [...known].filter((name) => !this.isImpossible(this.member(premise, name))).length);
  }

  member(premise: Premise, name: string): Premise {
    const { required, ranges } = premise;
    const isFull = !required.has(name) && required.size >= ranges.object.most;
    const isRefused = premise.all("names").some(({ schema }) => !this.fits.all(name, schema.atoms));
    return this.assume(isFull || isRefused || !canBeName(name) ? this.workshop.nothing.atoms : premise.member(name));
  }

  /** A member whose name is none of the known ones. */
  otherMember(premise: Premise, matched: string | null = null, unmatched: ReadonlySet<string> = new Set()): Premise {
    return this.assume(premise.otherMember(this.workshop, matched, unmatched));
  }

  /** The names that members can have, as far as they are known, and whether there can be others. */
  names(premise: Premise): { readonly known: ReadonlySet<string>; readonly isOpen: boolean } {
    const allowed = premise.all("names").length === 0 ? null : this.values(this.nameOf(premise));
    const names = allowed?.filter((name) => typeof name === "string") ?? [];
    const isFull = premise.required.size >= premise.ranges.object.most;
    return { known: new Set([...premise.names, ...names]), isOpen: allowed === null && !isFull };
  }

  /** What is known of the name of a member. */
  nameOf(premise: Premise): Premise {
    return this.assume(
      [this.workshop.atom({ rule: "type", kinds: new Set<Kind>(["string"]), whole: false }, "")],
      premise.all("names").flatMap(({ schema }) => schema.atoms),
    );
  }

  /** An object with a member must also be what depends on that member; nothing else must, whatever it is required. */
  private withDependent(atoms: readonly Atom[]): readonly Atom[] {
    const found = [...atoms];
    const required = new Set(atoms.flatMap((atom) => (atom.rule === "required" ? [atom.name] : [])));
    const waiting = atoms.filter((atom) => atom.rule === "dependent");
    this.workshop.meter.spend(waiting.length ** 2);
    for (let next = take(waiting, required); next !== undefined; next = take(waiting, required)) {
      for (const atom of next.schema.atoms) {
        found.push(atom);
        if (atom.rule === "required") required.add(atom.name);
        if (atom.rule === "dependent") waiting.push(atom);
      }
    }
    return found;
  }

  private newGap(premise: Premise, node: Node, splitting: boolean): Gap | null {
    this.workshop.meter.spend(attempt_cost + node.atoms.length * costs.compared_value);
    const open = node.atoms.filter(({ id }) => !premise.ids.has(id));
    if (open.length === 0 || this.isImpossible(premise)) return null;
    const values = this.values(premise);
    if (values !== null) return this.gapInValues(values, open);
    const gaps = open.flatMap((atom) => {
      const gap = this.gapInAtom(premise, atom);
      return gap === null ? [] : [{ atom, gap }];
    });
    const [first] = gaps;
    if (first === undefined) return null;
    const left = gaps.map(({ atom }) => atom);
    const cases = splitting ? this.cases(premise, left) : null;
    if (cases === null) return first.gap;
    const rest = this.workshop.node(left);
    for (const each of cases) {
      const gap = this.gap(each, rest);
      if (gap !== null) return gap;
    }
    return null;
  }

  private gapInValues(values: readonly unknown[], open: readonly Atom[]): Gap | null {
    const unfit = open.find((atom) => !values.every((value) => this.fits.one(value, atom)));
    return unfit === undefined ? null : { path: unfit.path, because: "one of the known values does not fit" };
  }

  private gapInAtom(premise: Premise, atom: Atom): Gap | null {
    const possible = this.kinds(premise);
    switch (atom.rule) {
      case "never":
        return { path: atom.path, because: "nothing fits here, and something may come" };
      case "type":
        return gapInType(possible, premise.whole, atom);
      case "values":
        return { path: atom.path, because: "other values may come" };
      case "limit":
        return possible.has(atom.of) ? gapInLimit(this, premise, atom) : null;
      case "multiple":
        return possible.has("number") ? gapInMultiple(premise, atom) : null;
      case "pattern":
        if (!possible.has("string")) return null;
        return { path: atom.path, because: "whether strings match is proven only where the same pattern is promised" };
      case "items":
      case "contains":
      case "unique":
        return possible.has("array") ? gapInArray(this, premise, atom) : null;
      case "members":
      case "required":
      case "names":
      case "dependent":
        return possible.has("object") ? gapInObject(this, premise, atom) : null;
      case "any":
      case "one":
      case "not":
      case "if":
        return gapInChoice(this, premise, atom);
      default:
        return atom satisfies never;
    }
  }

  /** Cases that together cover the premise; null: there is nothing left to tell apart. */
  private cases(premise: Premise, left: readonly Atom[]): readonly Premise[] | null {
    const [choice] = alternatives(premise, this.workshop, ["any", "one", "if"]);
    if (choice !== undefined) return splitByAlternatives(this, premise, choice);
    const possible = this.kinds(premise);
    if (possible.size > 1) {
      return [...possible].map((kind) => this.assume(premise.atoms, [this.ofKind(kind)]));
    }
    const [dependence] = alternatives(premise, this.workshop, ["dependent"]);
    if (dependence !== undefined) return splitByAlternatives(this, premise, dependence);
    return possible.has("object") ? splitByMember(this, premise, left) : null;
  }

  ofKind(kind: Kind): Atom {
    return this.workshop.atom({ rule: "type", kinds: new Set([kind]), whole: false }, "");
  }

  private newlyImpossible(premise: Premise, thorough: boolean): boolean {
    this.workshop.meter.spend(attempt_cost);
    if (premise.kinds.size === 0 || this.kinds(premise).size === 0) return true;
    if (this.values(premise)?.length === 0) return true;
    if (premise.all("not").some(({ schema }) => isWithin(schema, premise.ids))) return true;
    if (!thorough) return false;
    const choices = alternatives(premise, this.workshop, ["any", "one", "if", "dependent"]);
    const hopeless = choices.some((branches) =>
      branches.every(({ atoms }) => this.isImpossible(this.assume(premise.atoms, atoms), false)),
    );
    return hopeless || this.isAllExcluded(premise);
  }

  /** Left out one by one, the exclusions would be asked about in every combination. */
  private isAllExcluded(premise: Premise): boolean {
    const excluded = premise.all("not");
    if (excluded.length === 0) return false;
    const rest = this.assume(premise.atoms.filter(({ rule }) => rule !== "not"));
    return excluded.some(({ schema }) => this.gap(rest, schema) === null);
  }

  private isImpossibleKind(premise: Premise, kind: Kind): boolean {
    if (kind === "array") return premise.ranges.array.least > this.mostItems(premise);
    if (kind !== "object") return false;
    if ([...premise.required].some((name) => this.isImpossible(this.member(premise, name)))) return true;
    if (premise.ranges.object.least <= premise.required.size) return false;
    return premise.ranges.object.least > this.mostMembers(premise);
  }

  /** Undefined: too deep, and nothing was found out. */
  private deeper<Found>(find: () => Found): Found | undefined {
    if (this.depth >= this.max_depth) return undefined;
    this.depth++;
    try {
      return find();
    } finally {
      this.depth--;
    }
  }
}

function gapInType(possible: ReadonlySet<Kind>, whole: boolean, atom: Atom<"type">): Gap | null {
  const others = kinds.filter((kind) => possible.has(kind) && !atom.kinds.has(kind));
  if (others.length > 0) return { path: atom.path, because: `may be of the type ${others.join(" or ")}` };
  if (!possible.has("number") || !atom.whole || whole) return null;
  return { path: atom.path, because: "may be a number that is not whole" };
}

function isOnlyObject(atoms: readonly Atom[]): boolean {
  return atoms.some((atom) => atom.rule === "type" && atom.kinds.size === 1 && atom.kinds.has("object"));
}

/** The next that applies, taken out of those that wait. */
function take(waiting: Atom<"dependent">[], required: ReadonlySet<string>): Atom<"dependent"> | undefined {
  const at = waiting.findIndex(({ name }) => required.has(name));
  return at === -1 ? undefined : waiting.splice(at, 1)[0];
}

function isWithin({ atoms }: Node, ids: ReadonlySet<number>): boolean {
  return atoms.every(({ id }) => ids.has(id));
}
