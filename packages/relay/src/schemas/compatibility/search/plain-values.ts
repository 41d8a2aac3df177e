/**
 * The plainest values that a schema seems to allow: with no more than it demands, with all that it names, and with what only the other schema
 * names, of a type that one does not want. Most pairs of schemas that do not fit differ by one of these, and trying them costs no search. They are
 * guesses: whoever tries one checks it.
 */

/** Of one schema, all levels together. */
const most_parts = 100;

type Wanted = "demanded" | "named";

export function plainValues(schema: unknown, other: unknown): readonly unknown[] {
  const plain = (["demanded", "named"] as const).map((wanted) => new Maker(wanted).make(schema));
  const made = [...plain, withStrangers(plain[0], schema, other)];
  const texts = new Set<string>();
  return made.filter((value) => value !== nothing && isNew(texts, JSON.stringify(value)));
}

const nothing = Symbol("no value");

/** A schema that lets in what it does not name lets it in as anything. */
function withStrangers(plainest: unknown, schema: unknown, other: unknown): unknown {
  if (!isObject(schema) || !isObject(other) || !isObject(plainest)) return nothing;
  const [named, wanted] = [schema["properties"] ?? {}, other["properties"]];
  if (schema["additionalProperties"] === false || !isObject(named) || !isObject(wanted)) return nothing;
  const strangers = Object.entries(wanted)
    .filter(([name]) => !Object.hasOwn(named, name))
    .slice(0, most_parts)
    .map(([name, each]) => [name, isObject(each) && each["type"] === "string" ? 0 : ""]);
  return strangers.length === 0 ? nothing : Object.assign(Object.fromEntries(strangers), plainest);
}

class Maker {
  readonly #wanted: Wanted;
  #parts = 0;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  make(schema: unknown): unknown {
    this.#parts += 1;
    if (schema === true) return 0;
    if (this.#parts > most_parts || !isObject(schema)) return nothing;
    if ("const" in schema) return schema["const"];
    const { enum: values, type } = schema;
    if (Array.isArray(values)) return values.length === 0 ? nothing : values[0];
    const first = Array.isArray(type) ? type[0] : type;
    switch (first) {
      case "string":
        return "";
      case "integer":
      case "number":
        return 0;
      case "boolean":
        return false;
      case "array":
        return this.#array(schema);
      case "object":
        return this.#object(schema);
      case undefined:
        return isObject(schema["properties"]) ? this.#object(schema) : nothing;
      case "null":
        return null;
      default:
        return nothing;
    }
  }

  #array({ items, minItems }: Readonly<Record<string, unknown>>): unknown {
    if (this.#wanted === "demanded" && !(typeof minItems === "number" && minItems > 0)) return [];
    const item = this.make(items ?? true);
    return item === nothing ? [] : [item];
  }

  #object({ properties, required }: Readonly<Record<string, unknown>>): unknown {
    const named = isObject(properties) ? properties : {};
    const demanded = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
    const names = this.#wanted === "named" ? new Set([...demanded, ...Object.keys(named)]) : new Set(demanded);
    const members: [string, unknown][] = [];
    for (const name of names) {
      const member = this.make(Object.hasOwn(named, name) ? named[name] : true);
      if (member !== nothing) members.push([name, member]);
    }
    return Object.fromEntries(members);
  }
}

function isNew(texts: Set<string>, text: string): boolean {
  if (texts.has(text)) return false;
  texts.add(text);
  return true;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
