/**
 * Looks for values that fit what is known and break what is demanded: at the edges of both, in every branch, with each
 * member there and not there, one place after the other. Places where a proof is at hand get one value, and no more.
 */

import { canonicalJson } from "../../canonical-json.ts";
import { costs, TooCostly } from "../../meter.ts";
import { type Atom, type Kind, kindOf, type Node } from "../atom.ts";
import { canCome } from "../json-domain.ts";
import type { Premise } from "../premise.ts";
import type { Prover } from "../prover.ts";
import { alternatives, splitByAlternatives } from "../split.ts";
import { arraysAt } from "./arrays.ts";
import { mentioned } from "./mentioned.ts";
import { nearNumbers, nearStrings } from "./near-values.ts";
import { objectsAt } from "./objects.ts";
import { sizeOf } from "./size.ts";

export interface SearchLimits {
  /** Values that are tried, those inside others included. */
  readonly samples: number;
  readonly sample_bytes: number;
  readonly depth: number;
}

/** What is known of a value, what is demanded of it, and what else is spoken of at its place. */
export interface Place {
  readonly premise: Premise;
  readonly demand: readonly Atom[];
  readonly hints: readonly Atom[];
}

/** Values that fit what is known, by whether they meet the demand. */
export interface Found {
  readonly breaking: unknown[];
  readonly plain: unknown[];
}

/** A place that is looked at, besides the values that are tried there. */
const visit_cost = 10_000;

/** Of one place. */
const breaking_most = 16;
/** Of each kind. */
const plain_most = 6;
/** An enumeration has no more. */
const listed_most = 500;
/** Ways through the open choices of a premise, besides one for each branch of the first. */
const ways_most = 32;
const choices_most = 16;

export class Explorer {
  readonly prover: Prover;
  readonly random: () => number;
  readonly limits: SearchLimits;
  private readonly found = new Map<string, Found>();
  /** Where it did not, asking for a proof again would use up the search too. */
  private readonly has_proof_ended: boolean;
  private samples = 0;
  private depth = 0;

  constructor(prover: Prover, has_proof_ended: boolean, random: () => number, limits: SearchLimits) {
    this.prover = prover;
    this.has_proof_ended = has_proof_ended;
    this.random = random;
    this.limits = limits;
  }

  /** Not thorough: until there is one value that fits both. What was found before a limit was met stays in `found`. */
  explore(place: Place, thorough: boolean, found: Found = { breaking: [], plain: [] }): Found {
    const { workshop } = this.prover;
    workshop.meter.spend(visit_cost);
    const ids = [place.premise, workshop.node(place.demand), workshop.node(place.hints)].map(({ id }) => id);
    const key = `${ids}:${thorough}`;
    const known = this.found.get(key);
    if (known !== undefined) return known;
    this.found.set(key, found);
    if (this.depth >= this.limits.depth) return found;
    this.depth++;
    this.collect(place, thorough, found);
    this.depth--;
    return found;
  }

  place(premise: Premise, demand: readonly Atom[], spoken_of: readonly Atom[]): Place {
    return { premise, demand, hints: mentioned(spoken_of) };
  }

  /** Whether a value of this place may be what breaks the demand. */
  isInQuestion({ premise, demand, hints }: Place): boolean {
    const { workshop } = this.prover;
    workshop.meter.spend(visit_cost);
    if (workshop.node(mentioned(demand)).id !== workshop.node(hints).id) return true;
    return !this.isProven(premise, workshop.node(demand));
  }

  pick<Item>(items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.random() * items.length)];
  }

  private collect(place: Place, thorough: boolean, found: Found): void {
    const { fits } = this.prover;
    const seen = new Set<string>();
    const counts = new Map<Kind, number>();
    for (const value of this.candidates(place)) {
      if (!this.isNew(value, seen) || !fits.all(value, place.premise.atoms)) continue;
      const fitting = fits.all(value, place.demand);
      const count = counts.get(kindOf(value)) ?? 0;
      if (fitting && count < plain_most) found.plain.push(value);
      if (fitting) counts.set(kindOf(value), count + 1);
      if (!fitting && found.breaking.length < breaking_most) found.breaking.push(value);
      const isEnough = thorough ? found.breaking.length >= breaking_most : found.plain.length > 0;
      if (isEnough) return;
    }
  }

  private isNew(value: unknown, seen: Set<string>): boolean {
    const { meter } = this.prover.workshop;
    this.samples++;
    if (this.samples > this.limits.samples) throw new TooCostly();
    const size = sizeOf(value, this.limits.sample_bytes);
    meter.spend(costs.compared_compound + 2 * size * costs.compared_char);
    if (size > this.limits.sample_bytes || !canCome(value)) return false;
    const text = canonicalJson(value);
    if (seen.has(text)) return false;
    seen.add(text);
    return true;
  }

  private *candidates(place: Place): Generator<unknown> {
    const sources = [...this.ways(place), ...this.towards(place)].flatMap((way) => {
      const values = this.prover.values(way);
      if (values !== null) return [values.slice(0, listed_most).values()];
      return [...this.prover.kinds(way)].map((kind) => this.ofKind(kind, { ...place, premise: way }));
    });
    yield* inTurns(sources);
    for (const atom of place.hints) if (atom.rule === "values") yield* atom.values.slice(0, listed_most);
  }

  private *ofKind(kind: Kind, place: Place): Generator<unknown> {
    const { premise, hints } = place;
    switch (kind) {
      case "null":
        return yield null;
      case "boolean":
        return yield* [false, true];
      case "number":
        return yield* nearNumbers(premise, hints);
      case "string":
        return yield* nearStrings(premise, hints, this.random, this.limits.sample_bytes / 4);
      case "array":
        return yield* arraysAt(this, place);
      case "object":
        return yield* objectsAt(this, place);
      default:
        return kind satisfies never;
    }
  }

  /** The premise with its open choices made, each time differently; without those that a proof is at hand for. */
  private ways({ premise, demand }: Place): readonly Premise[] {
    const starts = this.starts(premise, this.prover.workshop.node(demand));
    const found = new Map<number, Premise>();
    const each_most = Math.ceil(ways_most / starts.length);
    for (const start of starts) {
      for (let n = 0; n < each_most; n++) {
        const way = this.way(start, n < each_most / 2 + 1 ? inOrder(n) : (count) => Math.floor(this.random() * count));
        if (way === null) continue;
        found.set(way.id, way);
        if (way.id === start.id) break;
      }
    }
    return [...found.values()];
  }

  private starts(premise: Premise, demand: Node): readonly Premise[] {
    const [branches] = alternatives(premise, this.prover.workshop, ["any", "one", "if", "dependent"]);
    if (branches === undefined) return [premise];
    const cases = splitByAlternatives(this.prover, premise, branches);
    const unproven = cases.filter((each) => !this.isProven(each, demand));
    return unproven.length === 0 ? cases : unproven;
  }

  private isProven(premise: Premise, demand: Node): boolean {
    return this.has_proof_ended && this.prover.gap(premise, demand) === null;
  }

  /** The premise with what the demands treat differently: what fits two branches, or what must not be. */
  private towards({ premise, hints }: Place): readonly Premise[] {
    const found = new Map<number, Premise>();
    for (const node of hints.flatMap(turningPoints).slice(0, ways_most)) {
      const toward = this.way(this.prover.assume(premise.atoms, node.atoms), inOrder(0));
      if (toward !== null && !this.prover.isImpossible(toward)) found.set(toward.id, toward);
    }
    return [...found.values()];
  }

  private way(from: Premise, choose: (count: number) => number): Premise | null {
    let premise = from;
    for (let n = 0; n < choices_most; n++) {
      const [branches] = alternatives(premise, this.prover.workshop, ["any", "one", "if", "dependent"]);
      if (branches === undefined) return premise;
      const first = choose(branches.length);
      const next = [...branches.slice(first), ...branches.slice(0, first)]
        .map(({ atoms }) => this.prover.assume(premise.atoms, atoms))
        .find((each) => !this.prover.isImpossible(each));
      if (next === undefined) return null;
      premise = next;
    }
    return premise;
  }
}

function turningPoints(atom: Atom): readonly Node[] {
  switch (atom.rule) {
    case "one":
      return atom.branches;
    case "not":
      return [atom.schema];
    case "if":
      return [atom.test];
    default:
      return [];
  }
}

/** The choices of the nth way: as the digits of a number, so that all ways have their turn. */
function inOrder(n: number): (count: number) => number {
  let left = n;
  return (count) => {
    const chosen = left % count;
    left = Math.floor(left / count);
    return chosen;
  };
}

/** One of each, then the next of each. */
function* inTurns(sources: readonly Iterator<unknown>[]): Generator<unknown> {
  let going = sources;
  while (going.length > 0) {
    const still: Iterator<unknown>[] = [];
    for (const source of going) {
      const next = source.next();
      if (next.done === true) continue;
      still.push(source);
      yield next.value;
    }
    going = still;
  }
}
