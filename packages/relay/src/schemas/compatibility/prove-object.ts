/** Members: those of known names, those of all other names, and which of them must be there. */

import { type Atom, demandsOn } from "./atom.ts";
import type { Premise } from "./premise.ts";
import type { Gap, Prover } from "./prover.ts";

export function gapInObject(
  prover: Prover,
  premise: Premise,
  atom: Atom<"members" | "required" | "names" | "dependent">,
): Gap | null {
  switch (atom.rule) {
    case "members":
      return gapInKnownMembers(prover, premise, atom) ?? gapInOtherMembers(prover, premise, atom);
    case "required":
      if (premise.required.has(atom.name)) return null;
      return { path: atom.path, because: `${JSON.stringify(atom.name)} may be missing` };
    case "names":
      return gapInNames(prover, premise, atom);
    case "dependent":
      return gapInDependent(prover, premise, atom);
    default:
      return atom satisfies never;
  }
}

function gapInKnownMembers(prover: Prover, premise: Premise, atom: Atom<"members">): Gap | null {
  for (const name of new Set([...prover.names(premise).known, ...atom.named.keys()])) {
    const member = prover.member(premise, name);
    for (const demand of demandsOn(atom, name)) {
      const gap = prover.gap(member, demand);
      if (gap !== null) return gap;
    }
  }
  return null;
}

/** Of names that neither side knows it is only known which patterns they match, or do not. */
function gapInOtherMembers(prover: Prover, premise: Premise, atom: Atom<"members">): Gap | null {
  if (!prover.names(premise).isOpen) return null;
  for (const { pattern, schema } of atom.patterned) {
    const gap = prover.gap(prover.otherMember(premise, String(pattern)), schema);
    if (gap !== null) return gap;
  }
  const unmatched = new Set(atom.patterned.map(({ pattern }) => String(pattern)));
  return prover.gap(prover.otherMember(premise, null, unmatched), atom.others);
}

function gapInNames(prover: Prover, premise: Premise, { path, schema }: Atom<"names">): Gap | null {
  const { known, isOpen } = prover.names(premise);
  const unfit = [...known].find(
    (name) => !prover.isImpossible(prover.member(premise, name)) && !prover.fits.all(name, schema.atoms),
  );
  if (unfit !== undefined) return { path, because: `a member ${JSON.stringify(unfit)} may come` };
  if (!isOpen || prover.isImpossible(prover.otherMember(premise))) return null;
  return prover.gap(prover.nameOf(premise), schema);
}

function gapInDependent(prover: Prover, premise: Premise, { name, schema, path }: Atom<"dependent">): Gap | null {
  if (prover.isImpossible(prover.member(premise, name))) return null;
  const isThere = prover.workshop.atom({ rule: "required", name }, path);
  return prover.gap(prover.assume(premise.atoms, [prover.ofKind("object"), isThere]), schema);
}
