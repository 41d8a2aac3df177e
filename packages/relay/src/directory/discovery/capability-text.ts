/** What of a capability is searched by words, the telling parts first. All of it is bounded: it comes from strangers. */

import type { Capability } from "@handfast/protocol";
import type { RelayLimits } from "../../limits.ts";

/** A word in the name says more than one in an example. The order is the order of the search. */
export const boosts = { name: 8, tags: 5, description: 3, properties: 2, examples: 1 } as const;
export type TextField = keyof typeof boosts;
export const textFields = Object.keys(boosts) as readonly TextField[];

export type CapabilityText = Readonly<Record<TextField, string>>;

export function capabilityText(capability: Capability, limits: RelayLimits): CapabilityText {
  const { name, tags = [], description = "", examples = [], input_schema, output_schema } = capability;
  const most = limits.discovery_text_chars;
  return {
    name,
    tags: tags.join(" "),
    description: description.slice(0, most),
    properties: [...propertyNames([input_schema, output_schema], limits.discovery_properties)].join(" ").slice(0, most),
    examples: stringsIn(examples, most),
  };
}

/** Wherever a schema names properties, in the order of its levels. */
function propertyNames(schemas: readonly unknown[], most: number): ReadonlySet<string> {
  const names = new Set<string>();
  const level: unknown[] = [...schemas];
  for (let index = 0; index < level.length && index < 8 * most && names.size < most; index += 1) {
    const schema = level[index];
    if (typeof schema !== "object" || schema === null) continue;
    for (const [keyword, value] of Object.entries(schema)) {
      if (typeof value !== "object" || value === null) continue;
      if (keyword === "properties") for (const name of Object.keys(value)) if (names.size < most) names.add(name);
      level.push(...Object.values(value), value);
    }
  }
  return names;
}

/** Names and texts of JSON values, as far as there is room. */
function stringsIn(values: readonly unknown[], most: number): string {
  let text = "";
  const rest: unknown[] = [...values];
  for (let index = 0; index < rest.length && index < most && text.length < most; index += 1) {
    const value = rest[index];
    if (typeof value === "string") text += ` ${value.slice(0, most)}`;
    else if (typeof value === "object" && value !== null) {
      if (!Array.isArray(value)) text += ` ${Object.keys(value).join(" ").slice(0, most)}`;
      rest.push(...Object.values(value).slice(0, most));
    }
  }
  return text.slice(0, most);
}
