/** What the demands speak of at one place: hints where values are worth a try, not demands themselves. */

import { type Atom, demandsOn, type Node } from "../atom.ts";

/** More are not looked at: they only steer the search. */
const atoms_most = 400;

/** The atoms, and those inside their choices. */
export function mentioned(atoms: readonly Atom[]): readonly Atom[] {
  const found = new Map<number, Atom>();
  const waiting = [...atoms];
  for (let atom = waiting.shift(); atom !== undefined && found.size < atoms_most; atom = waiting.shift()) {
    if (found.has(atom.id)) continue;
    found.set(atom.id, atom);
    for (const node of inside(atom)) waiting.push(...node.atoms.slice(0, atoms_most));
  }
  return [...found.values()];
}

function inside(atom: Atom): readonly Node[] {
  switch (atom.rule) {
    case "any":
    case "one":
      return atom.branches;
    case "not":
    case "dependent":
      return [atom.schema];
    case "if":
      return [atom.test, atom.yes, atom.no];
    default:
      return [];
  }
}

export function onMember(atoms: readonly Atom[], name: string): readonly Atom[] {
  return atoms.flatMap((atom) => (atom.rule === "members" ? demandsOn(atom, name).flatMap((node) => node.atoms) : []));
}

export function onItem(atoms: readonly Atom[], index: number): readonly Atom[] {
  return atoms.flatMap((atom) => (atom.rule === "items" ? (atom.first[index] ?? atom.rest).atoms : []));
}

/** Names that these atoms speak of. */
export function namesIn(atoms: readonly Atom[]): readonly string[] {
  return atoms.flatMap((atom) => {
    if (atom.rule === "members") return [...atom.named.keys()];
    return atom.rule === "required" || atom.rule === "dependent" ? [atom.name] : [];
  });
}
