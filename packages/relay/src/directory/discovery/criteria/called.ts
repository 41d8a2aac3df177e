/** What it is called: by name, version and tags. */

import { isInRange } from "@handfast/protocol";
import type { Need } from "@handfast/protocol/wire";
import { type Criterion, type Looked, listed } from "../criterion.ts";
import { hasTag } from "../entry.ts";

export function calledCriteria({ capability, version, tags = [] }: Need): readonly Criterion<Looked>[] {
  return [
    ...(capability === undefined ? [] : [named(capability)]),
    ...(version === undefined ? [] : [versioned(version)]),
    ...(tags.length === 0 ? [] : [tagged(tags)]),
  ];
}

function named(name: string): Criterion<Looked> {
  return {
    distance: 4,
    meets: ({ entry }) => entry.capability.name === name,
    why: () => `It is called ${name}.`,
    lacks: ({ entry }) => `It is called ${entry.capability.name}, not ${name}.`,
  };
}

function versioned(range: string): Criterion<Looked> {
  return {
    meets: ({ entry }) => isInRange(entry.capability.version, range),
    why: ({ entry }) => `Its version ${entry.capability.version ?? ""} is in ${range}.`,
    lacks: ({ entry: { capability } }) =>
      capability.version === undefined
        ? `It states no version, and ${range} is asked for.`
        : `Its version ${capability.version} is not in ${range}.`,
  };
}

function tagged(tags: readonly string[]): Criterion<Looked> {
  return {
    meets: ({ entry }) => tags.every((tag) => hasTag(entry, tag)),
    why: () => `It has ${tags.length === 1 ? "the tag" : "the tags"} ${listed(tags)}.`,
    lacks: ({ entry }) => {
      const missing = tags.filter((tag) => !hasTag(entry, tag));
      return `It lacks ${missing.length === 1 ? "the tag" : "the tags"} ${listed(missing)}.`;
    },
  };
}
