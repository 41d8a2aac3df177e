// From a place in a compiled schema back to where it was written: a person looks for a fault in what they wrote.

import { compileSchema, escapePointer } from "./shorthand.ts";

/** `path`: a JSON pointer into the compiled schema. */
export function placeInShorthand(written: unknown, path: string): string {
  const steps = path.split("/").slice(1);
  let value = written;
  let at = "";
  while (steps.length > 0) {
    const read = compileSchema(value, "output");
    // In full from here on, or not to be told: the rest is as it is.
    if (!read.ok || !read.is_shorthand || typeof value !== "object" || value === null) break;
    if (Array.isArray(value)) {
      if (steps[0] !== "items") break;
      steps.shift();
      value = value[0];
      at += "/0";
    } else {
      const [keyword, name] = steps;
      if (keyword !== "properties" || name === undefined) break;
      steps.splice(0, 2);
      const members = value as Readonly<Record<string, unknown>>;
      const plain = name.replaceAll("~1", "/").replaceAll("~0", "~");
      const member = Object.hasOwn(members, plain) ? plain : `${plain}?`;
      value = members[member];
      at += `/${escapePointer(member)}`;
    }
  }
  // A type in one word has no parts to point into.
  if (typeof value === "string") return at;
  return `${at}${steps.map((step) => `/${step}`).join("")}`;
}
