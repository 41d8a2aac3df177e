/** `anyOf`, `oneOf`, `not` and `if` on the right. */

import type { Atom, Node } from "./atom.ts";
import type { Premise } from "./premise.ts";
import type { Gap, Prover } from "./prover.ts";

export function gapInChoice(prover: Prover, premise: Premise, atom: Atom<"any" | "one" | "not" | "if">): Gap | null {
  switch (atom.rule) {
    case "any":
      if (atom.branches.some((branch) => fitsWhole(prover, premise, branch))) return null;
      return { path: atom.path, because: "no branch takes all that may come" };
    case "one":
      return gapInOne(prover, premise, atom);
    case "not":
      if (excludes(prover, premise, atom.schema)) return null;
      return { path: atom.path, because: "what must not fit may come" };
    case "if":
      return gapInIf(prover, premise, atom);
    default:
      return atom satisfies never;
  }
}

/** Cases are told apart once, around all branches, not again for each of them. */
function fitsWhole(prover: Prover, premise: Premise, branch: Node): boolean {
  return prover.gap(premise, branch, false) === null;
}

function excludes(prover: Prover, premise: Premise, schema: Node): boolean {
  return prover.isImpossible(prover.assume(premise.atoms, schema.atoms));
}

function gapInOne(prover: Prover, premise: Premise, { branches, path }: Atom<"one">): Gap | null {
  const fitting = branches.findIndex((branch) => fitsWhole(prover, premise, branch));
  if (fitting === -1) return { path, because: "no branch takes all that may come" };
  // By their places: the same branch may be there twice, and then nothing fits exactly one.
  const others = branches.toSpliced(fitting, 1);
  if (others.every((branch) => excludes(prover, premise, branch))) return null;
  return { path, because: "more than one branch may fit" };
}

function gapInIf(prover: Prover, premise: Premise, { test, yes, no, path }: Atom<"if">): Gap | null {
  const untrue = prover.workshop.atom({ rule: "not", schema: test }, path);
  return (
    prover.gap(prover.assume(premise.atoms, test.atoms), yes) ?? prover.gap(prover.assume(premise.atoms, [untrue]), no)
  );
}
