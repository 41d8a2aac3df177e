/**
 * ajv's keywords, made to pay for what they do. Those that look at every character or compare whole values are
 * replaced; those that try other schemas, or walk over members, keep ajv's code and pay before it.
 */

import { _, type Ajv, type Code, type KeywordCxt, str } from "ajv";
import { costs, type MeterSlot, multipleCost } from "./meter.ts";
import { isMultiple } from "./multiple.ts";
import { ValueSet } from "./same-value.ts";

export function meterKeywords(ajv: Ajv, meter: MeterSlot): void {
  for (const [keyword, price] of Object.entries(prices)) charge(ajv, keyword, price, meter);
  replaceLengths(ajv, meter);
  replaceComparisons(ajv, meter);
  replaceMultiples(ajv, meter);
  putTuplesLast(ajv);
  refuseEmptyForContains(ajv);
  missEmptyNames(ajv);
}

/** What a keyword costs: once, and for each member or item of the value. */
type Price = (schema: unknown) => { readonly once?: number; readonly each?: number };

const branches: Price = (list) => ({ once: countOf(list) * costs.branch });
const visits: Price = (list) => ({ once: countOf(list) * costs.visit });
const names: Price = (map) => ({ once: countOf(map) * costs.name });
const one: Price = () => ({ once: costs.visit });
const members: Price = () => ({ once: costs.member / 4, each: costs.member });

const prices: Readonly<Record<string, Price>> = {
  $ref: one,
  not: one,
  if: () => ({ once: 3 * costs.visit }),
  allOf: visits,
  anyOf: branches,
  oneOf: branches,
  prefixItems: visits,
  items: () => ({ each: costs.visit }),
  contains: () => ({ each: costs.branch }),
  properties: names,
  required: names,
  dependentSchemas: names,
  dependentRequired: (map) => ({ once: (countOf(map) + deepCount(map)) * costs.name }),
  additionalProperties: members,
  propertyNames: () => ({ each: costs.member + costs.branch }),
  patternProperties: (map) => ({ each: countOf(map) * costs.member }),
  minProperties: members,
  maxProperties: members,
};

function charge(ajv: Ajv, keyword: string, price: Price, meter: MeterSlot): void {
  before(ajv, keyword, (cxt) => {
    const { once = 0, each = 0 } = price(cxt.schema);
    const pay = (value: unknown) => meter.spend(once + (each === 0 ? 0 : each * countOf(value)));
    cxt.gen.code(_`${cxt.gen.scopeValue("func", { ref: pay })}(${cxt.data})`);
  });
}

/** Something that a keyword does before its own code. */
function before(ajv: Ajv, keyword: string, first: (cxt: KeywordCxt) => void): void {
  // The definition is this instance's own copy.
  const definition = ajv.getKeyword(keyword);
  if (typeof definition !== "object" || !("code" in definition) || definition.code === undefined) {
    throw new Error(`ajv has no code for the keyword ${keyword}`);
  }
  const { code } = definition;
  definition.code = (cxt, ruleType) => {
    first(cxt);
    code(cxt, ruleType);
  };
}

function replaceLengths(ajv: Ajv, meter: MeterSlot): void {
  const params = ({ schemaCode }: { schemaCode: Code | string | number | boolean | null }) => _`{limit: ${schemaCode}}`;
  const common = { type: "string", schemaType: "number" } as const;
  ajv.removeKeyword("minLength").addKeyword({
    ...common,
    keyword: "minLength",
    error: { params, message: ({ schemaCode }) => str`must NOT have fewer than ${schemaCode} characters` },
    code: testing((least: number) => (text: string) => isLongerThan(text, least - 1, meter)),
  });
  ajv.removeKeyword("maxLength").addKeyword({
    ...common,
    keyword: "maxLength",
    error: { params, message: ({ schemaCode }) => str`must NOT have more than ${schemaCode} characters` },
    code: testing((most: number) => (text: string) => !isLongerThan(text, most, meter)),
  });
}

/** In characters, of which each is one or two UTF-16 units: mostly the number of units tells without a count. */
function isLongerThan(text: string, chars: number, meter: MeterSlot): boolean {
  if (text.length <= chars) return false;
  if (text.length > 2 * chars) return true;
  meter.spend(text.length * costs.char);
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    count++;
    if ((text.codePointAt(at) ?? 0) > 0xffff) at++;
  }
  return count > chars;
}

function replaceComparisons(ajv: Ajv, meter: MeterSlot): void {
  ajv.removeKeyword("enum").addKeyword({
    keyword: "enum",
    schemaType: "array",
    error: {
      message: "must be equal to one of the allowed values",
      params: ({ schemaCode }) => _`{allowedValues: ${schemaCode}}`,
    },
    code: testing((allowed: readonly unknown[]) => oneOf(new ValueSet(meter, allowed))),
  });
  ajv.removeKeyword("const").addKeyword({
    keyword: "const",
    error: { message: "must be equal to constant", params: ({ schemaCode }) => _`{allowedValue: ${schemaCode}}` },
    code: testing((allowed: unknown) => oneOf(new ValueSet(meter, [allowed]))),
  });
  ajv.removeKeyword("uniqueItems").addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    error: { message: "must not have the same item twice" },
    // ajv compares every pair: 2 s for 8,000 objects.
    code: testing(
      (unique: boolean) => (items: readonly unknown[]) => !unique || new ValueSet(meter, items).size === items.length,
    ),
  });
}

function replaceMultiples(ajv: Ajv, meter: MeterSlot): void {
  ajv.removeKeyword("multipleOf").addKeyword({
    keyword: "multipleOf",
    type: "number",
    schemaType: "number",
    error: {
      message: ({ schemaCode }) => str`must be multiple of ${schemaCode}`,
      params: ({ schemaCode }) => _`{multipleOf: ${schemaCode}}`,
    },
    code: testing((of: number) => {
      const price = multipleCost(of);
      return (value: number) => {
        meter.spend(price);
        return isMultiple(value, of);
      };
    }),
  });
}

/**
 * ajv skips what comes after `prefixItems` when it had no item to look at: an empty array was taken where `contains`
 * demands something. So nothing comes after it.
 */
function putTuplesLast(ajv: Ajv): void {
  const arrays = ajv.RULES.rules.find(({ type }) => type === "array");
  if (arrays === undefined) throw new Error("ajv has no keywords for arrays");
  const isTuple = ({ keyword }: { keyword: string }) => keyword === "prefixItems";
  arrays.rules = [...arrays.rules.filter((rule) => !isTuple(rule)), ...arrays.rules.filter(isTuple)];
}

/** ajv does not look at an empty array, and takes for its answer that of the array before it, if there was one. */
function refuseEmptyForContains(ajv: Ajv): void {
  before(ajv, "contains", (cxt) => {
    const { minContains = 1, maxContains } = cxt.parentSchema;
    if (minContains === 0) return;
    cxt.setParams({ min: minContains, max: maxContains });
    cxt.pass(_`${cxt.data}.length > 0`);
  });
}

/** ajv asks for the name that is missing, and takes the empty one for none. */
function missEmptyNames(ajv: Ajv): void {
  const demand = (cxt: KeywordCxt, isMet: (value: object) => boolean, params: KeywordCxt["params"]) => {
    cxt.setParams({ ...params, missingProperty: _`""` });
    cxt.pass(_`${cxt.gen.scopeValue("func", { ref: isMet })}(${cxt.data})`);
  };
  const hasIt = (value: object) => Object.hasOwn(value, "");
  before(ajv, "required", (cxt) => {
    if (lists(cxt.schema, "")) demand(cxt, hasIt, {});
  });
  before(ajv, "dependentRequired", (cxt) => {
    for (const [property, deps] of Object.entries(Object(cxt.schema))) {
      if (!lists(deps, "")) continue;
      const isMet = (value: object) => !Object.hasOwn(value, property) || hasIt(value);
      demand(cxt, isMet, { property, depsCount: 1, deps: "''" });
    }
  });
}

const oneOf = (allowed: ValueSet) => (value: unknown) => allowed.has(value);

/** The code of a keyword that is one test, made from the keyword's value. */
function testing<Value, Data>(make: (schema: Value) => (data: Data) => boolean): (cxt: KeywordCxt) => void {
  return (cxt) => {
    const ref = make(cxt.schema);
    cxt.pass(_`${cxt.gen.scopeValue("func", { ref })}(${cxt.data})`);
  };
}

/** Of a list its items, of an object its members, of anything else nothing. */
function countOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
}

function lists(list: unknown, name: string): boolean {
  return Array.isArray(list) && list.includes(name);
}

function deepCount(map: unknown): number {
  if (typeof map !== "object" || map === null) return 0;
  return Object.values(map).reduce((total: number, list: unknown) => total + countOf(list), 0);
}
