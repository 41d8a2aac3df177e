/**
 * Whether a value fits atoms, told without compiling anything: a proof asks it of single values, the search of every
 * candidate. It answers as the relay's compiled checkers do (testing/ holds the two against each other).
 */

import { costs, multipleCost } from "../meter.ts";
import { isMultiple } from "../multiple.ts";
import { ValueSet } from "../same-value.ts";
import { type Atom, demandsOn, kindOf, type Measure, type Node } from "./atom.ts";
import type { Workshop } from "./workshop.ts";

export class Fits {
  private readonly workshop: Workshop;

  constructor(workshop: Workshop) {
    this.workshop = workshop;
  }

  all(value: unknown, atoms: readonly Atom[]): boolean {
    return atoms.every((atom) => this.one(value, atom));
  }

  one(value: unknown, atom: Atom): boolean {
    this.workshop.meter.spend(costs.visit);
    switch (atom.rule) {
      case "never":
        return false;
      case "type":
        return atom.kinds.has(kindOf(value)) && (!atom.whole || typeof value !== "number" || Number.isInteger(value));
      case "values":
        return atom.set.has(value);
      case "limit":
        return this.isWithin(value, atom);
      case "multiple":
        if (typeof value !== "number") return true;
        this.workshop.meter.spend(multipleCost(atom.of));
        return isMultiple(value, atom.of);
      case "pattern":
        return typeof value !== "string" || atom.pattern.test(value);
      case "items":
      case "contains":
      case "unique":
        return !Array.isArray(value) || this.array(value, atom);
      case "members":
      case "required":
      case "names":
      case "dependent":
        return !isObject(value) || this.object(value, atom);
      case "any":
        return atom.branches.some((branch) => this.node(value, branch));
      case "one":
        return atom.branches.filter((branch) => this.node(value, branch)).length === 1;
      case "not":
        return !this.node(value, atom.schema);
      case "if":
        return this.node(value, this.node(value, atom.test) ? atom.yes : atom.no);
      default:
        return atom satisfies never;
    }
  }

  private node(value: unknown, { atoms }: Node): boolean {
    return this.all(value, atoms);
  }

  private isWithin(value: unknown, { of, side, value: limit, exclusive }: Atom<"limit">): boolean {
    const amount = this.amount(value, of);
    if (amount === null || (amount === limit && !exclusive)) return true;
    return side === "least" ? amount > limit : amount < limit;
  }

  private amount(value: unknown, of: Measure): number | null {
    if (kindOf(value) !== of) return null;
    if (typeof value === "number") return value;
    if (typeof value !== "string") return Array.isArray(value) ? value.length : Object.keys(Object(value)).length;
    this.workshop.meter.spend(value.length * costs.char);
    return charactersIn(value);
  }

  private array(items: readonly unknown[], atom: Atom<"items" | "contains" | "unique">): boolean {
    switch (atom.rule) {
      case "items":
        return items.every((item, index) => this.node(item, atom.first[index] ?? atom.rest));
      case "contains": {
        const found = items.filter((item) => this.node(item, atom.schema)).length;
        return found >= atom.least && found <= atom.most;
      }
      case "unique":
        return new ValueSet(this.workshop.meter, items).size === items.length;
      default:
        return atom satisfies never;
    }
  }

  private object(
    members: Readonly<Record<string, unknown>>,
    atom: Atom<"members" | "required" | "names" | "dependent">,
  ): boolean {
    this.workshop.meter.spend(costs.member);
    switch (atom.rule) {
      case "members":
        this.workshop.meter.spend(Object.keys(members).length * costs.member);
        return Object.keys(members).every((name) =>
          demandsOn(atom, name).every((demand) => this.node(members[name], demand)),
        );
      case "required":
        return Object.hasOwn(members, atom.name);
      case "names":
        return Object.keys(members).every((name) => this.node(name, atom.schema));
      case "dependent":
        return !Object.hasOwn(members, atom.name) || this.node(members, atom.schema);
      default:
        return atom satisfies never;
    }
  }
}

/** Code points; half of a pair counts as one. */
export function charactersIn(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return kindOf(value) === "object";
}
