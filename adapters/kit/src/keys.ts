/**
 * Idempotency keys for what a framework's run sends, equal in every run of the same step. Ids that models make up differ
 * from one run of a step to the next; what is sent does not. So a key is made of what is sent, and of how often the run has
 * sent the same before: that count is kept with the run's state, or found in it.
 */

import { createHash } from "node:crypto";

/** What the relay takes as a key: no control characters, no half of a character. */
const text_id = /^[^\p{Cc}\p{Cs}]{1,256}$/u;

/** A key out of any text: some providers put whole signatures into the ids of their calls. */
export function shortKey(text: string): string {
  return text_id.test(text) ? text : digestOf(text);
}

/** One text out of several, of which no others make the same. */
export function joined(...parts: readonly string[]): string {
  return parts.map((part) => part.replaceAll("%", "%25").replaceAll("/", "%2F")).join("/");
}

/** The keys of one run. */
export class Keys {
  readonly #run: string;
  readonly #counts: Map<string, number>;

  constructor(run: string, counts: Readonly<Record<string, number>> = {}) {
    this.#run = run;
    this.#counts = new Map(Object.entries(counts));
  }

  /** To be kept with the run's state, and given again. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  /** For something that is sent now, or was sent before. */
  next(...what: readonly unknown[]): string {
    const digest = digestOf(JSON.stringify(what, inOrder)).slice(0, 32);
    const count = this.#counts.get(digest) ?? 0;
    this.#counts.set(digest, count + 1);
    return shortKey(`${this.#run}:${digest}:${count}`);
  }
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Models say the members of an object in any order. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
