/** Ways to split what is known into cases that together cover it. */

import type { Atom, Members, Node } from "./atom.ts";
import type { Premise } from "./premise.ts";
import type { Prover } from "./prover.ts";
import type { Workshop } from "./workshop.ts";

type Splitting = "any" | "one" | "if" | "dependent";

/** A member with more values than this is not told apart by them. */
const values_most = 32;

/** Of more branches it is not used that no other of them holds: what that costs grows with their square. */
const exact_branches_most = 8;

/** For each choice that is still open: the branches, of which at least one holds. */
export function alternatives(
  premise: Premise,
  workshop: Workshop,
  rules: readonly Splitting[],
): readonly (readonly Node[])[] {
  return rules
    .flatMap((rule) => premise.all(rule))
    .map((atom) => branchesOf(atom, workshop))
    .filter((branches) => !branches.some(({ atoms }) => atoms.every(({ id }) => premise.ids.has(id))));
}

function branchesOf(atom: Atom<Splitting>, workshop: Workshop): readonly Node[] {
  switch (atom.rule) {
    case "any":
      return atom.branches;
    case "one":
      if (atom.branches.length > exact_branches_most) return atom.branches;
      return atom.branches.map((branch, place) => {
        const others = atom.branches.toSpliced(place, 1).map((schema) => not(workshop, schema, atom.path));
        return workshop.node([...branch.atoms, ...others]);
      });
    case "if": {
      const untrue = not(workshop, atom.test, atom.path);
      return [workshop.node([...atom.test.atoms, ...atom.yes.atoms]), workshop.node([untrue, ...atom.no.atoms])];
    }
    case "dependent": {
      const present = workshop.atom({ rule: "required", name: atom.name }, atom.path);
      return [
        workshop.node([memberAtom(workshop, atom.name, workshop.nothing)]),
        workshop.node([present, ...atom.schema.atoms]),
      ];
    }
    default:
      return atom satisfies never;
  }
}

function not(workshop: Workshop, schema: Node, path: string): Atom {
  return workshop.atom({ rule: "not", schema }, path);
}

export function splitByAlternatives(prover: Prover, premise: Premise, branches: readonly Node[]): readonly Premise[] {
  return branches.map(({ atoms }) => prover.assume(premise.atoms, atoms)).filter((each) => !prover.isImpossible(each));
}

/**
 * By a member that what is left to prove speaks of: whether it is there, or what it is. This is how a choice by a
 * discriminator (`kind: "a"` or `kind: "b"`) is seen to be covered.
 */
export function splitByMember(prover: Prover, premise: Premise, left: readonly Atom[]): readonly Premise[] | null {
  const { workshop } = prover;
  for (const name of namesIn(left)) {
    const member = prover.member(premise, name);
    if (prover.isImpossible(member)) continue;
    const isThere = workshop.atom({ rule: "required", name }, "");
    if (!premise.ids.has(isThere.id)) {
      const absent = memberAtom(workshop, name, workshop.nothing);
      return [prover.assume(premise.atoms, [absent]), prover.assume(premise.atoms, [isThere])];
    }
    const cases = memberCases(prover, member);
    if (cases === null) continue;
    return cases.map(({ atoms }) => prover.assume(premise.atoms, [memberAtom(workshop, name, workshop.node(atoms))]));
  }
  return null;
}

function memberCases(prover: Prover, member: Premise): readonly Premise[] | null {
  const values = prover.values(member);
  if (values !== null) {
    if (values.length === 1 || values.length > values_most) return null;
    return values.map((value) => prover.assume(member.atoms, [prover.workshop.values([value], "")]));
  }
  const [choice] = alternatives(member, prover.workshop, ["any", "one", "if"]);
  if (choice !== undefined) return splitByAlternatives(prover, member, choice);
  const possible = [...prover.kinds(member)];
  return possible.length > 1 ? possible.map((kind) => prover.assume(member.atoms, [prover.ofKind(kind)])) : null;
}

/** Of members only what choices speak of: nothing else is gained by telling them apart. */
function namesIn(left: readonly Atom[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const atom of left) for (const { atoms } of choicesOf(atom)) for (const each of atoms) collect(each, names);
  return names;
}

function choicesOf(atom: Atom): readonly Node[] {
  switch (atom.rule) {
    case "any":
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

function collect(atom: Atom, names: Set<string>): void {
  if (atom.rule === "required") names.add(atom.name);
  if (atom.rule === "members") for (const name of atom.named.keys()) names.add(name);
}

function memberAtom(workshop: Workshop, name: string, node: Node): Atom {
  const rule: Members = { rule: "members", named: new Map([[name, node]]), patterned: [], others: workshop.anything };
  return workshop.atom(rule, "");
}
