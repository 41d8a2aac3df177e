/**
 * Strings that match a simple pattern: literals, classes, groups, choices and repetitions. Whether they really match
 * is checked by whoever uses them; a pattern with anything else in it gives none.
 */

type Part =
  | { readonly part: "set"; readonly chars: readonly string[] }
  | { readonly part: "choice"; readonly branches: readonly (readonly Repeated[])[] };

interface Repeated {
  readonly inner: Part;
  readonly least: number;
  readonly most: number;
}

const lower = "abcdefghijklmnopqrstuvwxyz";
const digits = "0123456789";
const classes: Readonly<Record<string, string>> = {
  d: digits,
  D: "a_ ",
  w: `${lower}${lower.toUpperCase()}${digits}_`,
  W: " -",
  s: " \t",
  S: "a0_",
  n: "\n",
  t: "\t",
  r: "\r",
};
const any = ["a", "0", " "];

/** A repetition without an end goes so much beyond its least. */
const beyond_least = 3;

class NotSimple extends Error {}

export function stringsMatching(source: string, random: () => number, count: number, most_chars: number): string[] {
  let pattern: Part;
  try {
    pattern = new PatternReader(source).whole();
  } catch (error) {
    if (error instanceof NotSimple) return [];
    throw error;
  }
  const found = new Set<string>();
  for (let n = 0; n < count; n++) {
    // First the shortest, then the one with all that is optional, then by chance.
    const chance = n === 0 ? () => 0 : n === 1 ? () => 0.999 : random;
    const text = write(pattern, chance, most_chars);
    if (text.length <= most_chars) found.add(text);
  }
  return [...found];
}

function write(part: Part, chance: () => number, most_chars: number): string {
  if (part.part === "set") return pick(part.chars, chance);
  let text = "";
  for (const { inner, least, most } of pick(part.branches, chance)) {
    const times = least + Math.floor(chance() * (Math.min(most, least + beyond_least) - least + 1));
    for (let n = 0; n < times && text.length <= most_chars; n++) text += write(inner, chance, most_chars);
  }
  return text;
}

function pick<Item>(items: readonly Item[], chance: () => number): Item {
  const item = items[Math.floor(chance() * items.length)];
  if (item === undefined) throw new Error("there is nothing to pick from");
  return item;
}

class PatternReader {
  private readonly chars: readonly string[];
  private at = 0;

  constructor(source: string) {
    this.chars = [...source];
  }

  whole(): Part {
    const part = this.choice();
    if (this.at < this.chars.length) throw new NotSimple();
    return part;
  }

  private choice(): Part {
    const branches = [this.sequence()];
    while (this.skip("|")) branches.push(this.sequence());
    return { part: "choice", branches };
  }

  private sequence(): readonly Repeated[] {
    const parts: Repeated[] = [];
    for (let next = this.peek(); next !== "" && next !== "|" && next !== ")"; next = this.peek()) {
      if (this.skip("^") || this.skip("$")) continue;
      const inner = this.piece();
      parts.push({ inner, ...this.repetition() });
    }
    return parts;
  }

  private piece(): Part {
    const char = this.take();
    switch (char) {
      case "(":
        return this.group();
      case "[":
        return { part: "set", chars: this.set() };
      case ".":
        return { part: "set", chars: any };
      case "\\":
        return { part: "set", chars: this.escaped() };
      case "*":
      case "+":
      case "?":
      case "{":
        throw new NotSimple();
      default:
        return { part: "set", chars: [char] };
    }
  }

  private group(): Part {
    if (this.skip("?") && !this.skip(":")) throw new NotSimple();
    const inner = this.choice();
    if (!this.skip(")")) throw new NotSimple();
    return inner;
  }

  private escaped(): readonly string[] {
    const char = this.take();
    const named = classes[char];
    if (named !== undefined) return [...named];
    if (/[\w]/.test(char)) throw new NotSimple();
    return [char];
  }

  private set(): readonly string[] {
    const isNegated = this.skip("^");
    const chars: string[] = [];
    while (!this.skip("]")) {
      const next = this.take();
      const from = next === "\\" ? this.escaped() : [next];
      const [first = ""] = from;
      if (from.length === 1 && this.peek() === "-" && this.peek(1) !== "]") {
        this.at++;
        chars.push(...span(first, this.take()));
      } else chars.push(...from);
    }
    const found = isNegated ? ["a", "0", " ", "-", "\u{1f600}"].filter((char) => !chars.includes(char)) : chars;
    if (found.length === 0) throw new NotSimple();
    return found;
  }

  private repetition(): { readonly least: number; readonly most: number } {
    const found = this.bareRepetition();
    // Lazy or not makes no difference to what matches.
    this.skip("?");
    return found;
  }

  private bareRepetition(): { readonly least: number; readonly most: number } {
    if (this.skip("*")) return { least: 0, most: Number.POSITIVE_INFINITY };
    if (this.skip("+")) return { least: 1, most: Number.POSITIVE_INFINITY };
    if (this.skip("?")) return { least: 0, most: 1 };
    if (!this.skip("{")) return { least: 1, most: 1 };
    const [, least = "", comma = "", most = ""] = /^(\d+)(,?)(\d*)\}/.exec(this.chars.slice(this.at).join("")) ?? [];
    if (least === "") throw new NotSimple();
    this.at += least.length + comma.length + most.length + 1;
    if (comma === "") return { least: Number(least), most: Number(least) };
    return { least: Number(least), most: most === "" ? Number.POSITIVE_INFINITY : Number(most) };
  }

  private peek(ahead = 0): string {
    return this.chars[this.at + ahead] ?? "";
  }

  private take(): string {
    const char = this.peek();
    if (char === "") throw new NotSimple();
    this.at++;
    return char;
  }

  private skip(char: string): boolean {
    if (this.peek() !== char) return false;
    this.at++;
    return true;
  }
}

/** The ends of a span and what is between, up to a few. */
function span(from: string, to: string): readonly string[] {
  const [first, last] = [from.codePointAt(0) ?? 0, to.codePointAt(0) ?? 0];
  if (last < first || to === "\\") throw new NotSimple();
  const middle = Array.from({ length: Math.min(last - first, 10) }, (_, n) => String.fromCodePoint(first + n));
  return [...middle, to];
}
