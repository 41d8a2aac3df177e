/**
 * Whether a value can be sent as JSON and arrive as the same value. `JSON.stringify` drops functions, makes NaN null and
 * a Map an empty object, all without a word; the relay refuses what readers could understand differently. Both are said
 * here, with the path, before anything is sent.
 */

import { toUtf8 } from "@handfast/protocol/client";
import { UsageError } from "../errors.ts";
import { messageOf } from "../serve/faults.ts";
import { usage } from "./faults.ts";
import { sendLimits } from "./limits.ts";

const as_artifact =
  "Send it as an artifact: { artifacts: [{ bytes, mediaType }] }, and refer to it in the input by its SHA-256.";

/** Throws a UsageError that names what cannot be sent and where it is. */
export function checkJson(value: unknown, what = "The input"): void {
  const chars = new Walk(what).visit(value);
  // At most six bytes a character, by escapes: only what may be too large is written out to be counted.
  if (chars * 6 > sendLimits.inline_bytes) checkSize(toUtf8(JSON.stringify(value)).length, what);
}

/** Throws a UsageError for what is not text, cannot be UTF-8, or is too large. */
export function checkText(value: unknown, what = "The input"): asserts value is string {
  if (typeof value !== "string") {
    throw usage(`${what} is ${kindOf(value)}, and { text: true } sends a string.`, "Leave the option text out.");
  }
  if (!value.isWellFormed()) throw loneSurrogate(what, "");
  if (value.length * 3 > sendLimits.inline_bytes) checkSize(toUtf8(value).length, what);
}

function checkSize(bytes: number, what: string): void {
  if (bytes <= sendLimits.inline_bytes) return;
  throw usage(`${what} has ${bytes} bytes; at most ${sendLimits.inline_bytes} go inline.`, as_artifact);
}

class Walk {
  readonly #what: string;
  /** The way down to where the walk is: an object that meets itself on it is a cycle. */
  readonly #above: object[] = [];
  /** The same way by its names, from which the path is made where something is wrong. */
  readonly #names: (string | number)[] = [];

  constructor(what: string) {
    this.#what = what;
  }

  /** About how many characters it takes. */
  visit(value: unknown): number {
    if (typeof value !== "object" || value === null) return this.#plain(value);
    try {
      // As JSON.stringify asks: once, and not what that gave again.
      const is_own_writer = "toJSON" in value && typeof value.toJSON === "function";
      const said: unknown = is_own_writer ? (value as { toJSON(): unknown }).toJSON() : value;
      return typeof said === "object" && said !== null ? this.#object(said) : this.#plain(said);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      // Getters, proxies and toJSON may throw whatever they like.
      const found = `an object that cannot be read (${messageOf(error)})`;
      throw this.#unfit(found, "Mend what it says of itself, or send a plain object of what is meant.");
    }
  }

  #plain(value: unknown): number {
    switch (typeof value) {
      case "string":
        if (!value.isWellFormed()) throw loneSurrogate(this.#what, this.#path());
        return value.length + 2;
      case "number":
        if (!Number.isFinite(value)) throw this.#unfit(`${value}, which JSON has not`, "Send null or a string.");
        if (Math.abs(value) > Number.MAX_SAFE_INTEGER) {
          throw this.#unfit(`${value}, which is beyond 2^53 - 1`, "Send it as a string.");
        }
        return 20;
      case "boolean":
        return 5;
      case "object":
        return 4;
      case "bigint":
        throw this.#unfit(`the BigInt ${value}`, "Send it as a string.");
      default:
        throw this.#unfit(kindOf(value), "Leave it out, or send what it stands for.");
    }
  }

  #object(value: object): number {
    if (this.#above.length >= sendLimits.json_depth) {
      throw usage(`${this.#what} is deeper than ${sendLimits.json_depth} levels.`, "Make it flatter.");
    }
    if (this.#above.includes(value)) throw this.#unfit("an object that contains itself", "Refer to it by an id.");
    this.#above.push(value);
    const chars = Array.isArray(value) ? this.#array(value) : this.#record(value);
    this.#above.pop();
    return chars;
  }

  #array(items: readonly unknown[]): number {
    let chars = 2;
    for (let index = 0; index < items.length; index++) chars += 1 + this.#member(index, items[index]);
    return chars;
  }

  #record(value: object): number {
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
      throw this.#unfit("bytes, which JSON has not", as_artifact);
    }
    if (!isPlain(value)) {
      throw this.#unfit(`a ${value.constructor.name || "class instance"}`, "Send a plain object or an array.");
    }
    let chars = 2;
    for (const [name, member] of Object.entries(value)) {
      if (name === "__proto__") throw this.#unfit("a member of this name", "Give it another name.", name);
      if (!name.isWellFormed()) throw loneSurrogate(this.#what, this.#path(name));
      // As everywhere in JavaScript: a member that is undefined is one that is not there.
      if (member !== undefined) chars += name.length + 4 + this.#member(name, member);
    }
    return chars;
  }

  #member(name: string | number, value: unknown): number {
    this.#names.push(name);
    const chars = this.visit(value);
    this.#names.pop();
    return chars;
  }

  #path(...below: readonly string[]): string {
    const names = [...this.#names, ...below].map((name) => `${name}`.replaceAll("~", "~0").replaceAll("/", "~1"));
    return names.map((name) => `/${name}`).join("");
  }

  #unfit(found: string, remedy: string, ...below: readonly string[]): Error {
    const path = this.#path(...below);
    const where = path === "" ? "" : ` at ${path}`;
    return usage(`${this.#what} cannot be sent as JSON:${where} it has ${found}.`, remedy);
  }
}

/** Instances of classes of one's own pass as the records they are; those with a hidden content would arrive empty. */
function isPlain(value: object): boolean {
  if (Object.getPrototypeOf(value) === Object.prototype) return true;
  return !(
    value instanceof Map ||
    value instanceof Set ||
    value instanceof WeakMap ||
    value instanceof WeakSet ||
    value instanceof Promise ||
    value instanceof RegExp ||
    value instanceof Error ||
    // JSON.stringify writes these by what they show of themselves, and a Number that is none as null.
    value instanceof String ||
    value instanceof Number ||
    value instanceof Boolean ||
    value instanceof BigInt ||
    value instanceof Symbol
  );
}

function loneSurrogate(what: string, path: string): Error {
  const where = path === "" ? "" : ` at ${path}`;
  return usage(`${what} is not Unicode text:${where} it has half a surrogate pair.`, "Use .toWellFormed() on it.");
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  return typeof value === "function" ? "a function" : `a ${typeof value}`;
}
