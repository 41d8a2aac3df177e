// Canonical JSON (RFC 8785): one text for one value, for digests of what came as a value and not as bytes. JavaScript
// already writes numbers and strings as the RFC demands; what is left is the order of the members.

/** The value must come from JSON and its depth must have been limited: this recurses. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  return isObject(value) ? canonicalObject(value) : JSON.stringify(value);
}

function canonicalObject(value: Readonly<Record<string, unknown>>): string {
  let text = "";
  // Without a function of our own, strings are put in the order of their UTF-16 units, which is the RFC's.
  for (const name of Object.keys(value).sort()) {
    const member = value[name];
    if (member === undefined) continue;
    text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
