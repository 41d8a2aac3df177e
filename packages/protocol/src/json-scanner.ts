// Judges JSON text before it is parsed: one pass over the character codes, with a stack of its own instead of
// recursion, so that depth costs nothing. The reason and the path of a fault are the protocol's, the offset is help.

export interface JsonLimits {
  max_depth: number;
  /** Of the text in UTF-8. */
  max_bytes?: number;
  /** Members of all objects together. */
  max_keys?: number;
}

export type JsonReason =
  | "syntax"
  | "not_utf8"
  | "too_large"
  | "too_deep"
  | "too_many_keys"
  | "duplicate_key"
  | "forbidden_key"
  | "lone_surrogate"
  | "number_out_of_range";

export interface JsonFault {
  reason: JsonReason;
  /** JSON pointer (RFC 6901) to the value or member at fault. */
  path: string;
  /** Where in the text, in UTF-16 code units. */
  offset: number;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const minus = 0x2d;
const open_brace = 0x7b;
const close_brace = 0x7d;
const open_bracket = 0x5b;
const close_bracket = 0x5d;

/** One open object or array. Most objects have few keys, and searching a short list beats building a set. */
interface Container {
  keys: string[] | null;
  set: Set<string> | null;
  /** The member being read; null until its key is known. */
  key: string | null;
  index: number;
}

const list_keys_max = 8;

/** By the code after the backslash: 1 where the escape is whole with it. */
const short_escapes = new Uint8Array(128);
for (const character of '"\\/bfnrt') short_escapes[character.charCodeAt(0)] = 1;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const control = /[\0-\x1f]/;

/** The first fault in the text, or null. */
export function scanJson(text: string, limits: JsonLimits): JsonFault | null {
  return new Scanner(text, limits).scan();
}

class Scanner {
  private readonly text: string;
  private readonly limits: JsonLimits;
  private readonly stack: Container[] = [];
  private top: Container | undefined = undefined;
  private at = 0;
  private keyCount = 0;
  /** Of the string last read. */
  private hasEscape = false;
  /** No control characters, no lone surrogates: then only quotes and backslashes matter within strings. */
  private readonly isTame: boolean;
  /** The next of each in a tame text, at or after where it was last asked for; the text's length where there is none. */
  private nextQuote = -1;
  private nextBackslash = -1;
  private fault: JsonFault | null = null;

  constructor(text: string, limits: JsonLimits) {
    this.text = text;
    this.limits = limits;
    this.isTame = !control.test(text) && text.isWellFormed();
  }

  /** Alternates between a value and what may follow a value, until the text ends or a fault is found. */
  scan(): JsonFault | null {
    while (this.value() && this.afterValue()) {}
    return this.fault;
  }

  private fail(reason: JsonReason, offset: number): false {
    this.fault = { reason, path: this.path(), offset };
    return false;
  }

  private path(): string {
    const steps = this.stack.map((inside) => (inside.keys === null ? String(inside.index) : inside.key));
    const known = steps.filter((step) => step !== null);
    return known.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  }

  /** The next code that is not white space; NaN at the end of the text. */
  private peek(): number {
    const { text } = this;
    let code = text.charCodeAt(this.at);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = text.charCodeAt(++this.at);
    return code;
  }

  /** Reads a scalar or an empty container, or enters a container and stands before its first value. */
  private value(): boolean {
    for (;;) {
      const code = this.peek();
      if (code === quote) return this.string();
      if (code === open_brace) {
        if (!this.enter([])) return false;
        if (this.peek() === close_brace) return this.leave();
        if (!this.key()) return false;
      } else if (code === open_bracket) {
        if (!this.enter(null)) return false;
        if (this.peek() === close_bracket) return this.leave();
      } else {
        return this.scalar(code);
      }
    }
  }

  /** Closes containers; true before a further value, false at the end or at a fault. */
  private afterValue(): boolean {
    for (;;) {
      const inside = this.top;
      const code = this.peek();
      if (inside === undefined) return Number.isNaN(code) ? false : this.fail("syntax", this.at);
      if (code === comma) {
        this.at++;
        if (inside.keys !== null) return this.key();
        inside.index++;
        return true;
      }
      if (code !== (inside.keys === null ? close_bracket : close_brace)) return this.fail("syntax", this.at);
      this.leave();
    }
  }

  private enter(keys: string[] | null): boolean {
    if (this.stack.length >= this.limits.max_depth) return this.fail("too_deep", this.at);
    this.at++;
    this.top = { keys, set: null, key: null, index: 0 };
    this.stack.push(this.top);
    return true;
  }

  private leave(): true {
    this.at++;
    this.stack.pop();
    this.top = this.stack[this.stack.length - 1];
    return true;
  }

  private scalar(code: number): boolean {
    if (code === minus || isDigit(code)) return this.number();
    for (const word of ["true", "false", "null"]) {
      if (code === word.charCodeAt(0) && this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return true;
      }
    }
    return this.fail("syntax", this.at);
  }

  private key(): boolean {
    const inside = this.top;
    if (inside === undefined) return false;
    inside.key = null;
    if (this.peek() !== quote) return this.fail("syntax", this.at);
    const start = this.at;
    if (!this.string()) return false;
    const { text, at: end } = this;
    const key: string = this.hasEscape ? JSON.parse(text.slice(start, end)) : text.slice(start + 1, end - 1);
    inside.key = key;
    if (++this.keyCount > (this.limits.max_keys ?? Number.POSITIVE_INFINITY)) return this.fail("too_many_keys", start);
    // JSON.parse itself is safe with it, but the first Object.assign over the value would swap the prototype.
    if (key === "__proto__") return this.fail("forbidden_key", start);
    if (!isNewKey(inside, key)) return this.fail("duplicate_key", start);
    if (this.peek() !== colon) return this.fail("syntax", this.at);
    this.at++;
    return true;
  }

  private string(): boolean {
    this.hasEscape = false;
    return this.isTame ? this.tameString() : this.wildString();
  }

  /** From one escape to the next, and to the quote: what is between is not looked at, which is most of most texts. */
  private tameString(): boolean {
    const { text } = this;
    let at = this.at + 1;
    for (;;) {
      // Each place is looked for once: a text full of escapes costs no more than any other.
      if (this.nextQuote < at) this.nextQuote = indexOrEnd(text, '"', at);
      if (this.nextBackslash < at) this.nextBackslash = indexOrEnd(text, "\\", at);
      if (this.nextBackslash >= this.nextQuote) break;
      const length = this.escapeLength(this.nextBackslash);
      if (length === 0) return false;
      this.hasEscape = true;
      at = this.nextBackslash + length;
    }
    if (this.nextQuote === text.length) return this.fail("syntax", text.length);
    this.at = this.nextQuote + 1;
    return true;
  }

  private wildString(): boolean {
    const { text } = this;
    for (let i = this.at + 1; ; i++) {
      const code = text.charCodeAt(i);
      // Nearly every character leaves here.
      if (code > quote && code < 0xd800 && code !== backslash) continue;
      if (code === quote) {
        this.at = i + 1;
        return true;
      }
      if (code === backslash) {
        const length = this.escapeLength(i);
        if (length === 0) return false;
        this.hasEscape = true;
        i += length - 1;
      } else if (code >= 0xd800 && code <= 0xdfff) {
        if (!isHigh(code) || !isLow(text.charCodeAt(i + 1))) return this.fail("lone_surrogate", i);
        i++;
      } else if (!(code >= 0x20)) {
        // Also the NaN past the end of an unclosed string.
        return this.fail("syntax", i);
      }
    }
  }

  /** Length of the escape at i, a pair of surrogate escapes counting as one; 0 after a fault. */
  private escapeLength(i: number): number {
    if (short_escapes[this.text.charCodeAt(i + 1)] === 1) return 2;
    const unit = unicodeEscape(this.text, i);
    if (unit === null) this.fail("syntax", i);
    else if (unit < 0xd800 || unit > 0xdfff) return 6;
    else if (isHigh(unit) && isLow(unicodeEscape(this.text, i + 6) ?? 0)) return 12;
    else this.fail("lone_surrogate", i);
    return 0;
  }

  private number(): boolean {
    const start = this.at;
    if (this.text.charCodeAt(this.at) === minus) this.at++;
    const whole = this.at;
    if (!this.digits()) return this.fail("syntax", this.at);
    if (this.at - whole > 1 && this.text.charAt(whole) === "0") return this.fail("syntax", whole);
    let isLarge = this.at - whole > 15;
    if (this.text.charAt(this.at) === ".") {
      this.at++;
      if (!this.digits()) return this.fail("syntax", this.at);
    }
    if ((this.text.charCodeAt(this.at) | 0x20) === 0x65) {
      isLarge = true;
      this.at++;
      const sign = this.text.charAt(this.at);
      if (sign === "+" || sign === "-") this.at++;
      if (!this.digits()) return this.fail("syntax", this.at);
    }
    if (!isLarge || Math.abs(Number(this.text.slice(start, this.at))) <= Number.MAX_SAFE_INTEGER) return true;
    return this.fail("number_out_of_range", start);
  }

  private digits(): boolean {
    const start = this.at;
    while (isDigit(this.text.charCodeAt(this.at))) this.at++;
    return this.at > start;
  }
}

function indexOrEnd(text: string, character: string, from: number): number {
  const at = text.indexOf(character, from);
  return at === -1 ? text.length : at;
}

/** Records a key; false when the object had it before. */
function isNewKey(inside: Container, key: string): boolean {
  const { keys } = inside;
  if (inside.set === null) {
    if (keys === null || keys.includes(key)) return false;
    keys.push(key);
    if (keys.length > list_keys_max) inside.set = new Set(keys);
    return true;
  }
  const before = inside.set.size;
  return inside.set.add(key).size > before;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

/** The code unit of a \uXXXX at i, or null when there is none. */
function unicodeEscape(text: string, i: number): number | null {
  const digits = text.startsWith("\\u", i) ? text.slice(i + 2, i + 6) : "";
  return /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : null;
}
