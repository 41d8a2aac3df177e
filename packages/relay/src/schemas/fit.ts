/** Checks what a caller sent against the wire's own schemas, and names the field at fault. */

import { namePattern, noName } from "@handfast/protocol";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import type { TSchema } from "typebox";
import { Problem } from "../problem.ts";

// Only the first fault is looked for: collecting all of a hostile body's faults is work without a bound.
const options = { allErrors: false, strict: false, verbose: true, validateFormats: false } as const;
const exact = new Ajv2020(options);
/** Parameters in addresses are text; numbers and booleans among them are read as such. */
const fromText = new Ajv2020({ ...options, coerceTypes: true });

const named_fields_max = 16;

export type Fit = (value: unknown) => void;

/** `what` is how a person calls it: "body", "query", "path". */
export function fitter(schema: TSchema, what: "body" | "query" | "path"): Fit {
  const validate = (what === "body" ? exact : fromText).compile(schema);
  return (value) => {
    if (!validate(value)) throw misfit(validate, what);
  };
}

function misfit(validate: ValidateFunction, what: string): Problem {
  const error = validate.errors?.[0];
  if (error === undefined) return new Problem(400, "unfit", `The ${what} does not fit.`);
  switch (error.keyword) {
    case "additionalProperties":
      return unknownFields(error, what);
    case "required":
      return problem("missing_field", [join(error, String(error.params["missingProperty"]))], what, "is missing");
    case "maxItems":
      return tooMany(error, what);
    default:
      return problem("unfit", [error.instancePath], what, message(error));
  }
}

function unknownFields(error: ErrorObject, what: string): Problem {
  const known = new Set(Object.keys((error.parentSchema?.["properties"] as object | undefined) ?? {}));
  const unknown = Object.keys((error.data as object | null) ?? {}).filter((name) => !known.has(name));
  const paths = unknown.slice(0, named_fields_max).map((name) => join(error, name));
  const names = paths.map((path) => JSON.stringify(path)).join(", ");
  const kind = what === "body" ? "field" : "parameter";
  const are = paths.length === 1 ? `is not a ${kind}` : `are not ${kind}s`;
  const next = what === "body" ? 'put what is your own under "ext" or "labels"' : parametersOf(known);
  const detail = `${names} ${are} of this ${what}; ${next}.`;
  return new Problem(400, "unknown_field", detail, { fields: paths });
}

function parametersOf(known: ReadonlySet<string>): string {
  return known.size === 0 ? "it takes none" : `it takes ${[...known].join(", ")}`;
}

function tooMany(error: ErrorObject, what: string): Problem {
  const limit = Number(error.params["limit"]);
  const count = Array.isArray(error.data) ? error.data.length : 0;
  const detail = `${place(error.instancePath, what)} holds ${count} items; at most ${limit} are allowed.`;
  return new Problem(413, "too_many", detail, { fields: [error.instancePath], limit });
}

function problem(reason: string, paths: readonly string[], what: string, says: string): Problem {
  return new Problem(400, reason, `${place(paths[0] ?? "", what)} ${says}.`, { fields: paths });
}

function place(path: string, what: string): string {
  return path === "" ? `The ${what}` : `${JSON.stringify(path)} in the ${what}`;
}

function join(error: ErrorObject, name: string): string {
  return `${error.instancePath}/${name.replaceAll("~", "~0").replaceAll("/", "~1").slice(0, 128)}`;
}

function message(error: ErrorObject): string {
  if (error.keyword === "enum") return `must be one of ${(error.params["allowedValues"] as unknown[]).join(", ")}`;
  if (error.keyword === "const") return `must be ${JSON.stringify(error.params["allowedValue"])}`;
  if (error.keyword === "pattern" && error.params["pattern"] === namePattern) return noName(String(error.data));
  return (error.message ?? "does not fit").replace(/^must NOT/, "must not");
}
