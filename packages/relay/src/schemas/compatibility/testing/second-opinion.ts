/**
 * Whether a value fits a schema, by ajv as it comes: nothing of the relay's own is in it. It abstains where ajv is known to be
 * wrong: of `contains` it takes an empty array for the array before it, its division fails for the smallest and the largest
 * numbers and by fractions, no two objects with a member `constructor` are equal to it unless they share that member, with `uniqueItems` beside
 * `prefixItems` it compares only what is of the types that `items` names, and to it the empty name is never missing.
 */

import { Ajv2020 } from "ajv/dist/2020.js";
import type { DrawnSchema } from "./draw-schema.ts";

export interface SecondOpinion {
  /** Null: it has none. */
  fits(value: unknown): boolean | null;
}

const options = {
  strict: false,
  validateFormats: false,
  // Or `required: ["constructor"]` would be met by every object.
  ownProperties: true,
  meta: false,
  validateSchema: false,
  logger: false,
} as const;

export function secondOpinion(schema: DrawnSchema): SecondOpinion {
  const text = JSON.stringify(schema);
  const isHalfCompared = text.includes('"uniqueItems"') && text.includes('"prefixItems"');
  const demandsEmptyName = /"(required|dependentRequired)"/.test(text) && /[[,]""[,\]]/.test(text);
  if (isHalfCompared || demandsEmptyName || text.includes('"contains"')) return { fits: () => null };
  const ajv = new Ajv2020(options);
  // Or its code can throw: {patternProperties: {b: true}, anyOf: [{properties: {a: true}, dependentRequired: {b: ["c"]}}, true]}.
  ajv.opts.unevaluated = false;
  const validate = ajv.compile(schema);
  const isDivided = text.includes('"multipleOf"');
  const isDividedFinely = /"multipleOf":[\d.]*[.e]/.test(text);
  const isCompared = /"(enum|const|uniqueItems)"/.test(text);
  const isBeyond = (value: unknown) =>
    (isDivided && hasExtreme(value)) || (isDividedFinely && isRounded(value)) || (isCompared && hasConstructor(value));
  return { fits: (value) => (isBeyond(value) ? null : validate(value)) };
}

function hasConstructor(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const own = Object.hasOwn(value, "constructor") ? Reflect.get(value, "constructor") : null;
  return (typeof own === "object" && own !== null) || Object.values(value).some(hasConstructor);
}

/** A fraction, or so large that its quotient is rounded to a whole number. */
function isRounded(value: unknown): boolean {
  if (typeof value === "number") return !Number.isInteger(value) || Math.abs(value) > 1e12;
  return typeof value === "object" && value !== null && Object.values(value).some(isRounded);
}

function hasExtreme(value: unknown): boolean {
  if (typeof value === "number") return value !== 0 && (Math.abs(value) < 1e-300 || Math.abs(value) >= 1e21);
  return typeof value === "object" && value !== null && Object.values(value).some(hasExtreme);
}
