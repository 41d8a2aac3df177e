/**
 * Semantic versions (semver.org) and ranges of them, as npm writes them: `^1.2`, `~1.2.3`, `>=2 <4`, `1.x`, `*`, `1.2.3`,
 * and alternatives with `||`. A version that is not semantic is in no range but its own text.
 */

export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** `rc.1` as its parts; empty: released. */
  readonly prerelease: readonly (number | string)[];
}

/** Null: it is not a semantic version. Build metadata (`+…`) is allowed and means nothing. */
export function readVersion(text: string): Version | null {
  const [, major, minor, patch, prerelease] = full.exec(text) ?? [];
  if (major === undefined || minor === undefined || patch === undefined) return null;
  const numbers = [Number(major), Number(minor), Number(patch)] as const;
  if (!numbers.every(Number.isSafeInteger)) return null;
  return { major: numbers[0], minor: numbers[1], patch: numbers[2], prerelease: partsOf(prerelease) };
}

export function isSemantic(text: string): boolean {
  return readVersion(text) !== null;
}

/** Below 0: the first is older. */
export function compareVersions(one: Version, other: Version): number {
  return (
    one.major - other.major ||
    one.minor - other.minor ||
    one.patch - other.patch ||
    comparePrereleases(one.prerelease, other.prerelease)
  );
}

/** One of these alternatives must hold; of each, all comparisons. */
export type VersionRange = readonly (readonly Comparison[])[];

interface Comparison {
  readonly is: "<" | "<=" | ">" | ">=" | "=";
  readonly than: Version;
}

/** Null: it is not a range. */
export function readRange(text: string): VersionRange | null {
  if (text.length > range_chars) return null;
  const alternatives: Comparison[][] = [];
  for (const part of text.split("||")) {
    const comparisons = readAlternative(part.trim());
    if (comparisons === null) return null;
    alternatives.push(comparisons);
  }
  return alternatives;
}

/** Whether a version is in a range. The very same text always is; without a version, only `*` is met. */
export function isInRange(version: string | undefined, range: string): boolean {
  if (version === undefined) return range.trim() === "*";
  if (version === range) return true;
  const read = readVersion(version);
  const alternatives = read === null ? null : readRange(range);
  if (read === null || alternatives === null) return false;
  return alternatives.some((comparisons) => holds(comparisons, read));
}

const range_chars = 256;
const number = "(0|[1-9]\\d{0,15})";
const identifier = "(?:0|[1-9]\\d{0,15}|\\d*[A-Za-z-][0-9A-Za-z-]*)";
const suffix = `(?:-(${identifier}(?:\\.${identifier})*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?`;
const full = new RegExp(`^${number}\\.${number}\\.${number}${suffix}$`);
const wild = `(?:${number}|[xX*])`;
/** An operator, and a version of which the last numbers may be left out or written x. */
const partial = new RegExp(`^(\\^|~|>=|<=|>|<|=)?\\s*v?${wild}(?:\\.${wild}(?:\\.${wild}${suffix})?)?$`);

function partsOf(prerelease: string | undefined): readonly (number | string)[] {
  if (prerelease === undefined) return [];
  return prerelease.split(".").map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

/** A release is newer than what came before it; numbers are older than words. */
function comparePrereleases(one: Version["prerelease"], other: Version["prerelease"]): number {
  if (one.length === 0 || other.length === 0) return other.length - one.length;
  for (let i = 0; i < Math.min(one.length, other.length); i++) {
    const order = comparePart(one[i] ?? 0, other[i] ?? 0);
    if (order !== 0) return order;
  }
  return one.length - other.length;
}

function comparePart(one: number | string, other: number | string): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  if (typeof one === "number") return -1;
  if (typeof other === "number") return 1;
  return one === other ? 0 : one < other ? -1 : 1;
}

function readAlternative(text: string): Comparison[] | null {
  const hyphenated = /^(\S+)\s+-\s+(\S+)$/.exec(text);
  if (hyphenated !== null) {
    const [, low = "", high = ""] = hyphenated;
    return joined([`>=${low}`, `<=${high}`]);
  }
  // An operator may stand apart from its version.
  return text === "" ? null : joined(text.replaceAll(/([\^~<>=])\s+/g, "$1").split(/\s+/));
}

function joined(words: readonly string[]): Comparison[] | null {
  const all: Comparison[] = [];
  for (const word of words) {
    const comparisons = readWord(word);
    if (comparisons === null) return null;
    all.push(...comparisons);
  }
  return all;
}

function readWord(word: string): readonly Comparison[] | null {
  const match = partial.exec(word);
  if (match === null) return null;
  const [, operator = "", major, minor, patch, prerelease] = match;
  if (major === undefined) return operator === "<" || operator === ">" ? [nothing] : [];
  // After an x only x may follow: 1.x.3 says nothing.
  if (minor === undefined && patch !== undefined) return null;
  const low: Version = {
    major: Number(major),
    minor: Number(minor ?? 0),
    patch: Number(patch ?? 0),
    prerelease: partsOf(prerelease),
  };
  if (![low.major, low.minor, low.patch].every(Number.isSafeInteger)) return null;
  return comparisonsOf(operator, low, minor === undefined ? 1 : patch === undefined ? 2 : 3);
}

/** `given`: how many of the three numbers were written; the rest may be anything. */
function comparisonsOf(operator: string, low: Version, given: 1 | 2 | 3): readonly Comparison[] {
  const within = (next: Version): readonly Comparison[] => [
    { is: ">=", than: low },
    { is: "<", than: next },
  ];
  const afterGiven = given === 1 ? nextMajor(low) : nextMinor(low);
  switch (operator) {
    case "^":
      return within(caretEnd(low, given));
    case "~":
      return within(given === 1 ? nextMajor(low) : nextMinor(low));
    case ">=":
    case "<":
      return [{ is: operator, than: low }];
    case ">":
      return given === 3 ? [{ is: ">", than: low }] : [{ is: ">=", than: afterGiven }];
    case "<=":
      return given === 3 ? [{ is: "<=", than: low }] : [{ is: "<", than: afterGiven }];
    default:
      return given === 3 ? [{ is: "=", than: low }] : within(afterGiven);
  }
}

/** The first number that is not 0 is the one that must stay. */
function caretEnd(low: Version, given: 1 | 2 | 3): Version {
  if (low.major > 0 || given === 1) return nextMajor(low);
  if (low.minor > 0 || given === 2) return nextMinor(low);
  return { major: 0, minor: 0, patch: low.patch + 1, prerelease: [] };
}

function nextMajor({ major }: Version): Version {
  return { major: major + 1, minor: 0, patch: 0, prerelease: [] };
}

function nextMinor({ major, minor }: Version): Version {
  return { major, minor: minor + 1, patch: 0, prerelease: [] };
}

/** Older than the oldest: never met. */
const nothing: Comparison = { is: "<", than: { major: 0, minor: 0, patch: 0, prerelease: [0] } };

function holds(comparisons: readonly Comparison[], version: Version): boolean {
  if (!comparisons.every((comparison) => meets(version, comparison))) return false;
  // What came before a release is meant only by a range that speaks of that very release.
  return (
    version.prerelease.length === 0 ||
    comparisons.some(({ than }) => than.prerelease.length > 0 && sameRelease(than, version))
  );
}

function sameRelease(one: Version, other: Version): boolean {
  return one.major === other.major && one.minor === other.minor && one.patch === other.patch;
}

function meets(version: Version, { is, than }: Comparison): boolean {
  const order = compareVersions(version, than);
  switch (is) {
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
    case "=":
      return order === 0;
    default:
      return is satisfies never;
  }
}
