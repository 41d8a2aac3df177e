/** What of a capability is not as it was agreed on: field by field, from what to what. */

import type { Capability } from "@handfast/protocol";
import { canonicalDigest, canonicalJson } from "../schemas/canonical-json.ts";

export interface ChangedField {
  readonly field: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

/** Longer values are told by their digest: two schemas of 64 KB would drown the rest. */
const most_chars = 1_000;

/** `now` null: it is not offered any more. The seal of the price is left out: the price stands in the terms. */
export function changedFields(agreed: Capability, now: Capability | null): readonly ChangedField[] {
  if (now === null) return [{ field: "name", from: agreed.name }];
  const [before, after] = [membersOf(agreed), membersOf(now)];
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names
    .filter((name) => before.get(name) !== after.get(name))
    .map((field) => ({ field, ...told("from", before.get(field)), ...told("to", after.get(field)) }));
}

/** Each member's canonical text. */
function membersOf({ cost: _sealed, ...said }: Capability): ReadonlyMap<string, string> {
  return new Map(Object.entries(said).map(([name, value]) => [name, canonicalJson(value)]));
}

function told(name: "from" | "to", text: string | undefined): Partial<ChangedField> {
  if (text === undefined) return {};
  const value: unknown = JSON.parse(text);
  return { [name]: text.length <= most_chars ? value : { sha256: canonicalDigest(value), size: text.length } };
}
