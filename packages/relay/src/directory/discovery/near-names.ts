/** Names of capabilities that somebody may have meant who spelt one wrong. */

import { distance } from "@handfast/protocol/client";
import type { RelayLimits } from "../../limits.ts";

/** A misspelling keeps about the length of a name, and one of its first two letters. */
const letters_apart = 2;

/** The nearest first. */
export function nearNames(name: string, names: Iterable<string>, limits: RelayLimits): readonly string[] {
  if (name === "") return [];
  const near: { readonly name: string; readonly apart: number }[] = [];
  let compared = 0;
  for (const known of names) {
    if (Math.abs(known.length - name.length) > letters_apart) continue;
    if (known[0] !== name[0] && known[1] !== name[1]) continue;
    compared += 1;
    if (compared > limits.discovery_names_compared) break;
    const apart = distance(name, known);
    if (apart <= letters_apart) near.push({ name: known, apart });
  }
  return near.sort((a, b) => a.apart - b.apart || (a.name < b.name ? -1 : 1)).map((each) => each.name);
}
