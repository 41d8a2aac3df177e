/** Bounds of numbers, lengths, items and members, and multiples. */

import type { Atom, Measure } from "./atom.ts";
import type { Premise } from "./premise.ts";
import type { Gap, Prover } from "./prover.ts";

const what: Readonly<Record<Measure, readonly [less: string, more: string]>> = {
  number: ["may be less", "may be more"],
  string: ["may be shorter", "may be longer"],
  array: ["may have fewer items", "may have more items"],
  object: ["may have fewer members", "may have more members"],
};

export function gapInLimit(prover: Prover, premise: Premise, atom: Atom<"limit">): Gap | null {
  const { of, side, value, exclusive, path } = atom;
  const { least, least_exclusive, most_exclusive } = premise.ranges[of];
  if (side === "least") {
    if (least > value || (least === value && (!exclusive || least_exclusive))) return null;
    return { path, because: `${what[of][0]} than ${value}` };
  }
  const most = mostOf(prover, premise, of);
  if (most < value || (most === value && (!exclusive || most_exclusive))) return null;
  return { path, because: `${what[of][1]} than ${value}` };
}

function mostOf(prover: Prover, premise: Premise, of: Measure): number {
  if (of === "array") return prover.mostItems(premise);
  return of === "object" ? prover.mostMembers(premise) : premise.ranges[of].most;
}

export function gapInMultiple(premise: Premise, { of, path }: Atom<"multiple">): Gap | null {
  const promised = premise.all("multiple").map((atom) => atom.of);
  const whole = [...promised.filter(Number.isInteger), ...(premise.whole ? [1] : [])];
  if (Number.isInteger(of) && whole.reduce(leastCommonMultiple, 1) % of === 0 && whole.length > 0) return null;
  if (premise.whole && isHalved(of)) return null;
  return { path, because: `may not be a multiple of ${of}` };
}

/** Whole numbers that the relay takes are multiples of 1/2, 1/4 …: the division only moves the point. */
function isHalved(of: number): boolean {
  const parts = 1 / of;
  return Number.isInteger(parts) && parts <= 2 ** 16 && Number.isInteger(Math.log2(parts));
}

/** Of what can be told exactly; else the first, which is as true. */
function leastCommonMultiple(a: number, b: number): number {
  let [divisor, rest] = [a, b];
  while (rest !== 0) [divisor, rest] = [rest, divisor % rest];
  const multiple = (a / divisor) * b;
  return Number.isSafeInteger(multiple) ? multiple : a;
}
