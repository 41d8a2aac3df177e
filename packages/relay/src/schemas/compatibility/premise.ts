/**
 * What is known of a value: these atoms hold, and what follows from them at a glance. It may know less than is true,
 * never more: whatever is concluded from it holds for every value that fits the atoms.
 */

import { type Atom, demandsOn, type Kind, kindOf, kinds, type Measure, type Node, type Rule } from "./atom.ts";
import { largest_number } from "./json-domain.ts";
import type { Workshop } from "./workshop.ts";

export interface Range {
  readonly least: number;
  readonly most: number;
  readonly least_exclusive: boolean;
  readonly most_exclusive: boolean;
}

export class Premise {
  readonly id: number;
  readonly atoms: readonly Atom[];
  readonly ids: ReadonlySet<number>;
  readonly required: ReadonlySet<string>;
  /** Of numbers: only whole ones. */
  readonly whole: boolean;
  readonly ranges: Readonly<Record<Measure, Range>>;
  /** What such a value can be, less what contradicts itself at a glance. */
  readonly kinds: ReadonlySet<Kind>;
  private readonly by_rule: Partial<Record<Rule["rule"], Atom[]>>;

  constructor({ id, atoms }: Node) {
    this.id = id;
    this.atoms = atoms;
    this.by_rule = Object.groupBy(atoms, ({ rule }) => rule);
    this.ids = new Set(atoms.map((atom) => atom.id));
    this.required = new Set(this.all("required").map(({ name }) => name));
    this.whole =
      this.all("type").some(({ whole }) => whole) || this.all("multiple").some(({ of }) => Number.isInteger(of));
    this.ranges = {
      number: this.range("number", -largest_number, largest_number),
      string: this.range("string", 0, Number.POSITIVE_INFINITY),
      array: this.range(
        "array",
        Math.max(0, ...this.all("contains").map(({ least }) => least)),
        Number.POSITIVE_INFINITY,
      ),
      object: this.range("object", this.required.size, Number.POSITIVE_INFINITY),
    };
    this.kinds = new Set(kinds.filter((kind) => this.isPossible(kind)));
  }

  all<Name extends Rule["rule"]>(rule: Name): readonly Atom<Name>[] {
    const found: readonly Atom[] = this.by_rule[rule] ?? [];
    return found.filter((atom): atom is Atom<Name> => atom.rule === rule);
  }

  /** Items before this index may be demanded to differ from each other, those from it on not. */
  get distinctItems(): number {
    return Math.max(0, ...this.all("items").map(({ first }) => first.length));
  }

  item(index: number): readonly Atom[] {
    return this.all("items").flatMap(({ first, rest }) => (first[index] ?? rest).atoms);
  }

  get names(): ReadonlySet<string> {
    return new Set([...this.required, ...this.all("members").flatMap(({ named }) => [...named.keys()])]);
  }

  member(name: string): readonly Atom[] {
    return this.all("members").flatMap((members) => demandsOn(members, name).flatMap(({ atoms }) => atoms));
  }

  /**
   * What holds for every member whose name is not among `names`. Of such a name it may be known that it matches one
   * pattern, or that it matches none of some.
   */
  otherMember(workshop: Workshop, matched: string | null, unmatched: ReadonlySet<string>): readonly Atom[] {
    return this.all("members").flatMap(({ patterned, others, path }) => {
      const exact = patterned.find(({ pattern }) => String(pattern) === matched);
      if (exact !== undefined) return exact.schema.atoms;
      const possible = patterned.filter(({ pattern }) => !unmatched.has(String(pattern)));
      const schemas = [others, ...possible.map(({ schema }) => schema)].filter(({ id }) => id !== workshop.nothing.id);
      const [only] = schemas;
      if (only === undefined) return workshop.nothing.atoms;
      return schemas.length === 1 ? only.atoms : [workshop.atom({ rule: "any", branches: schemas }, path)];
    });
  }

  private range(of: Measure, from: number, to: number): Range {
    let [least, most, least_exclusive, most_exclusive] = [from, to, false, false];
    for (const { of: limited, side, value, exclusive } of this.all("limit")) {
      if (limited !== of) continue;
      if (side === "least" && (value > least || (value === least && exclusive))) {
        [least, least_exclusive] = [value, exclusive];
      }
      if (side === "most" && (value < most || (value === most && exclusive))) {
        [most, most_exclusive] = [value, exclusive];
      }
    }
    if (of !== "number" || !this.whole) return { least, most, least_exclusive, most_exclusive };
    return {
      least: least_exclusive ? Math.floor(least) + 1 : Math.ceil(least),
      most: most_exclusive ? Math.ceil(most) - 1 : Math.floor(most),
      least_exclusive: false,
      most_exclusive: false,
    };
  }

  private isPossible(kind: Kind): boolean {
    if (this.all("never").length > 0) return false;
    if (this.all("type").some(({ kinds: named }) => !named.has(kind))) return false;
    if (this.all("values").some(({ values }) => !values.some((value) => kindOf(value) === kind))) return false;
    return kind === "null" || kind === "boolean" || !isEmpty(this.ranges[kind]);
  }
}

function isEmpty({ least, most, least_exclusive, most_exclusive }: Range): boolean {
  return least > most || (least === most && (least_exclusive || most_exclusive));
}
