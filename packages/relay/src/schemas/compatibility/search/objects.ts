/** Objects to try: with no more than is required, with each other member, with names that nobody knows. */

import { costs } from "../../meter.ts";
import type { Explorer, Found, Place } from "./explorer.ts";
import { mentioned, namesIn, onMember } from "./mentioned.ts";
import { limitsOf, nearStrings } from "./near-values.ts";
import { stringsMatching } from "./pattern-strings.ts";
import { varied } from "./varied.ts";

type Members = Readonly<Record<string, unknown>>;

/** Of one member. */
const tried_most = 6;
const strange_names = ["x", "y"];
const names_most = 16;
const name_chars_most = 64;
/** Members added to pass a limit on their number. */
const added_most = 200;
const by_chance = 8;

export function* objectsAt(explorer: Explorer, place: Place): Generator<Members> {
  const { premise, hints } = place;
  const required = plainMembers(explorer, place, premise.required);
  if (required === null) return;
  const base = filled(explorer, place, required, premise.ranges.object.least);
  yield base;
  const found = new Map<string, Found>();
  for (const name of namesToTry(explorer, place)) {
    const member = memberPlace(explorer, place, name);
    if (explorer.prover.isImpossible(member.premise)) continue;
    const values = explorer.explore(member, explorer.isInQuestion(member));
    found.set(name, values);
    for (const value of [...varied(values.breaking, tried_most), ...varied(values.plain, tried_most)]) {
      yield extended(explorer, base, name, value);
    }
  }
  yield* combined(explorer, base, found);
  for (const limit of limitsOf(hints, "object")) yield filled(explorer, place, base, limit + 1);
}

function memberPlace(explorer: Explorer, { premise, demand, hints }: Place, name: string): Place {
  return explorer.place(explorer.prover.member(premise, name), onMember(demand, name), onMember(hints, name));
}

/** Null: there is no value for one of them, as far as is known. */
function plainMembers(explorer: Explorer, place: Place, names: Iterable<string>): Members | null {
  const entries: [string, unknown][] = [];
  for (const name of names) {
    const { plain, breaking } = explorer.explore(memberPlace(explorer, place, name), false);
    const [value] = [...plain, ...breaking];
    if (value === undefined) return null;
    entries.push([name, value]);
  }
  return Object.fromEntries(entries);
}

function extended(explorer: Explorer, base: Members, name: string, value: unknown): Members {
  explorer.prover.workshop.meter.spend(Object.keys(base).length * costs.visit);
  return { ...base, [name]: value };
}

function namesToTry(explorer: Explorer, { premise, hints }: Place): ReadonlySet<string> {
  const { known, isOpen } = explorer.prover.names(premise);
  const spoken_of = [...known, ...namesIn(hints)];
  return new Set(isOpen ? [...spoken_of, ...strange_names, ...oddNames(explorer, { premise, hints })] : spoken_of);
}

/** Names that patterns ask for, and names at the edges of what names may be. */
function oddNames(explorer: Explorer, { premise, hints }: Pick<Place, "premise" | "hints">): readonly string[] {
  const patterned = [...premise.all("members"), ...hints].flatMap((atom) =>
    atom.rule === "members" ? atom.patterned.map(({ pattern }) => String(pattern)) : [],
  );
  const matching = [...new Set(patterned)].flatMap((source) =>
    stringsMatching(source, explorer.random, 3, name_chars_most),
  );
  const demands = hints.flatMap((atom) => (atom.rule === "names" ? atom.schema.atoms : []));
  const name = explorer.prover.nameOf(premise);
  if (demands.length === 0 && premise.all("names").length === 0) return matching;
  const near = nearStrings(name, mentioned(demands), explorer.random, name_chars_most);
  return [...matching, ...near.filter((each) => explorer.prover.fits.all(each, name.atoms)).slice(0, names_most)];
}

/** With as many members as asked for, of known names first. */
function filled(explorer: Explorer, place: Place, base: Members, count: number): Members {
  const more = new Map(Object.entries(base));
  for (const name of more.size < count ? namesToAdd(explorer, place) : []) {
    if (more.size >= count) break;
    const value = plainMembers(explorer, place, [name])?.[name];
    if (value !== undefined) more.set(name, value);
  }
  return Object.fromEntries(more);
}

function* namesToAdd(explorer: Explorer, place: Place): Generator<string> {
  yield* namesToTry(explorer, place);
  for (let n = 0; n < added_most; n++) yield `x${n}`;
}

/** All that is optional at once, and some of it by chance. */
function* combined(explorer: Explorer, base: Members, found: ReadonlyMap<string, Found>): Generator<Members> {
  const firsts = [...found].flatMap(([name, { plain }]) => (plain.length === 0 ? [] : [[name, plain[0]] as const]));
  yield { ...base, ...Object.fromEntries(firsts) };
  for (let n = 0; n < by_chance; n++) {
    const more = new Map(Object.entries(base));
    for (const [name, { plain, breaking }] of found) {
      const value = explorer.random() < 0.5 ? explorer.pick([...plain, ...breaking]) : undefined;
      if (value !== undefined) more.set(name, value);
    }
    yield Object.fromEntries(more);
  }
}
