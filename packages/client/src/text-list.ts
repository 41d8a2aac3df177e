/** A list of texts that somebody gives. */

import { UsageError } from "./errors.ts";
import { shown } from "./shown.ts";

/** A text can be read as the list of its letters, which nobody means. */
export function textList(given: readonly string[], what: string): string[] {
  if (typeof given !== "string" && typeof given?.[Symbol.iterator] === "function") return [...given];
  throw new UsageError(`${what} is ${shown(given)}, which is no list.`, `Give a list, such as [${example(given)}].`);
}

function example(given: unknown): string {
  return typeof given === "string" ? shown(given) : '"one", "another"';
}
