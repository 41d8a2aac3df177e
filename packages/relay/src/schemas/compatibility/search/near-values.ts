/** Numbers and strings at the edges of what is known and of what is demanded, the simplest first. */

import type { Atom } from "../atom.ts";
import { charactersIn } from "../fits.ts";
import type { Premise } from "../premise.ts";
import { stringsMatching } from "./pattern-strings.ts";

const plain_numbers = [0, 1, -1, 2, 0.5, 1.5, 10, 100, -100, 1_000_000, Number.MAX_SAFE_INTEGER, 5e-324];
const plain_strings = ["", "a", "0", "A", " ", "ab", "x-a", "a1", "abc", "\u{1f600}"];
const multiples_most = 8;

export function nearNumbers(premise: Premise, hints: readonly Atom[]): readonly number[] {
  const { least, most } = premise.ranges.number;
  const points = [least, most, ...limitsOf(hints, "number")].filter(Number.isFinite);
  const around = points.flatMap((point) => [point, point + 1, point - 1, point + 0.5, point - 0.5]);
  const ratios = [...premise.all("multiple"), ...hints].flatMap((atom) => (atom.rule === "multiple" ? [atom.of] : []));
  const all = [...plain_numbers, ...around, ...ratios.flatMap((of) => [of, -of, 2 * of, 3 * of])];
  if (premise.whole) all.push(...all.flatMap((value) => [Math.floor(value), Math.ceil(value)]));
  for (const { of } of premise.all("multiple").slice(0, multiples_most)) {
    all.push(...all.flatMap((value) => [Math.floor(value / of) * of, Math.ceil(value / of) * of]));
  }
  return [...new Set(all)].filter((value) => value >= least && value <= most).sort(bySimplicity);
}

function bySimplicity(a: number, b: number): number {
  return String(a).length - String(b).length || Math.abs(a) - Math.abs(b) || b - a;
}

export function nearStrings(
  premise: Premise,
  hints: readonly Atom[],
  random: () => number,
  most_chars: number,
): readonly string[] {
  const { least, most } = premise.ranges.string;
  const lengths = [
    least,
    least + 1,
    most,
    ...limitsOf(hints, "string").flatMap((length) => [length, length - 1, length + 1]),
  ];
  const possible = [...new Set(lengths)].filter((length) => length >= 0 && length <= most_chars);
  const sources = [...premise.all("pattern"), ...hints].flatMap((atom) =>
    atom.rule === "pattern" ? [String(atom.pattern)] : [],
  );
  const matching = [...new Set(sources)].flatMap((source) => stringsMatching(source, random, 6, most_chars));
  const listed = hints.flatMap((atom) => (atom.rule === "values" ? atom.values : [])).filter(isString);
  const texts = [...plain_strings, ...matching, ...listed, ...listed.map((text) => `${text}x`)];
  const fitted = possible.flatMap((length) => [
    "a".repeat(length),
    "\u{1f600}".repeat(Math.floor(length / 2)) + "a".repeat(Math.ceil(length / 2)),
    ...matching.slice(0, 3).map((text) => padded(text, length)),
  ]);
  const isOfLength = (text: string) => text.length >= least && charactersIn(text) <= most;
  return [...new Set([...texts, ...fitted])].filter(isOfLength).sort((a, b) => a.length - b.length);
}

function padded(text: string, length: number): string {
  const last = [...text].at(-1) ?? "a";
  return text + last.repeat(Math.max(0, length - charactersIn(text)));
}

/** The limits that these atoms set to a measure. */
export function limitsOf(atoms: readonly Atom[], of: Atom<"limit">["of"]): readonly number[] {
  return atoms.flatMap((atom) => (atom.rule === "limit" && atom.of === of ? [atom.value] : []));
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}
