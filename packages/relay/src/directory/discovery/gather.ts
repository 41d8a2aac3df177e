/**
 * Where the candidates of a need are looked for: the smallest of the sets that must hold all who meet it. What is too many
 * is cut, the newest registrations first, and said to be.
 */

import type { Need } from "@handfast/protocol/wire";
import type { RelayLimits } from "../../limits.ts";
import type { CapabilityIndex } from "./capability-index.ts";
import type { Entry, SharedSchema, SharedText } from "./entry.ts";
import type { Glance } from "./glance.ts";
import type { Side } from "./shape-index.ts";
import type { Wanted } from "./word-index.ts";

export interface Gathered {
  readonly entries: readonly Entry[];
  /** False: there were more than are looked at in one call. */
  readonly is_whole: boolean;
  /** How well texts fit the words, where that is known already. */
  readonly scores?: ReadonlyMap<SharedText, number>;
}

export interface Sought {
  readonly need: Need;
  readonly wanted: Wanted<SharedText> | null;
  readonly glance: Glance | null;
}

export function gather(index: CapabilityIndex, { need, wanted, glance }: Sought, limits: RelayLimits): Gathered {
  const { capability, tags = [] } = need;
  const sets = [
    ...(capability === undefined ? [] : [index.named(capability)]),
    ...tags.map((tag) => index.tagged(tag)),
  ].sort((a, b) => a.size - b.size);
  const [smallest] = sets;
  if (smallest !== undefined && (wanted === null || smallest.size <= wanted.places)) {
    return upTo(smallest, limits.discovery_scanned);
  }
  if (wanted !== null) return byWords(wanted, limits);
  if (glance !== null) return bySchemas(index, glance, limits);
  return upTo(index.all(), limits.discovery_scanned);
}

/** Those first whose schemas seem to fit; where they are few, others after them. */
function bySchemas(index: CapabilityIndex, glance: Glance, limits: RelayLimits): Gathered {
  const fitting = new Set<Entry>();
  for (const entry of fittingOn(index, glance, narrowerSide(index, glance, limits), limits)) {
    if (fitting.size >= limits.discovery_ranked) return { entries: [...fitting], is_whole: false };
    if (glance.misfitsOf(entry) === 0) fitting.add(entry);
  }
  const others = upTo(index.all(), limits.discovery_ranked);
  const entries = new Set([...fitting, ...others.entries]);
  return { entries: [...entries], is_whole: others.is_whole };
}

/** The side that is asked for, and of both that on which fewer seem to fit. */
function narrowerSide(index: CapabilityIndex, glance: Glance, limits: RelayLimits): Side {
  if (!glance.asks("output")) return "input";
  if (!glance.asks("input")) return "output";
  const count = (side: Side) =>
    schemasFitting(index, glance, side, limits).reduce((sum, each) => sum + each[side].size, 0);
  return count("input") < count("output") ? "input" : "output";
}

function* fittingOn(index: CapabilityIndex, glance: Glance, side: Side, limits: RelayLimits): Generator<Entry> {
  for (const shared of schemasFitting(index, glance, side, limits)) yield* shared[side];
  yield* index.shapes.silent[side];
}

function schemasFitting(
  { shapes }: CapabilityIndex,
  glance: Glance,
  side: Side,
  limits: RelayLimits,
): readonly SharedSchema[] {
  const fitting: SharedSchema[] = [];
  let visited = 0;
  for (const shared of shapes.all()) {
    if (visited >= limits.discovery_shapes_visited) break;
    visited += 1;
    if (shared[side].size > 0 && glance.misfits(side, shared.shape) === 0) fitting.push(shared);
  }
  return fitting;
}

/** The best texts first, each with all who share it. */
export function byWords(wanted: Wanted<SharedText>, limits: RelayLimits): Gathered {
  const { scores, is_whole } = wanted.search(limits.discovery_texts_visited);
  const texts = [...scores].sort(([, one], [, other]) => other - one).map(([text]) => text);
  const found: Entry[] = [];
  for (const { entries } of texts) {
    for (const entry of entries) {
      if (found.length >= limits.discovery_scanned) return { entries: found, is_whole: false, scores };
      found.push(entry);
    }
  }
  return { entries: found, is_whole, scores };
}

function upTo(entries: Iterable<Entry>, most: number): Gathered {
  const taken: Entry[] = [];
  for (const entry of entries) {
    if (taken.length >= most) return { entries: taken, is_whole: false };
    taken.push(entry);
  }
  return { entries: taken, is_whole: true };
}
