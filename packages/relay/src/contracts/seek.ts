/** Whom a negotiation may ask: those that a search for the same need finds, each with what is known of it. */

import type { Capability } from "@handfast/protocol";
import type { Miss, Need, OfferView, ReliabilityView } from "@handfast/protocol/wire";
import type { Asker, Directory } from "../directory/directory.ts";
import type { SeenCost } from "../directory/discovery/candidate.ts";
import type { Discovery } from "../directory/discovery/discovery.ts";
import type { Merit } from "../directory/discovery/rank.ts";
import type { RelayLimits } from "../limits.ts";
import { readNeed, showMiss } from "../operations/discover.ts";
import type { Schemas } from "../schemas/schemas.ts";

export interface Candidate {
  readonly agent_id: string;
  /** As it stands in the manifest. */
  readonly capability: Capability;
  readonly manifest: string;
  readonly cost: SeenCost;
  readonly reliability: ReliabilityView;
  readonly schemas: OfferView["schemas"];
  readonly merit: Merit;
}

interface Sought {
  readonly candidates: readonly Candidate[];
  readonly near: readonly Miss[];
}

export type { Asker };

/** The best first. `only`: nobody but these. */
export type Seek = (need: Need, asker: Asker, only: ReadonlySet<string> | null) => Promise<Sought>;

export interface SeekOptions {
  readonly directory: Directory;
  readonly discovery: Discovery;
  readonly schemas: Schemas;
  readonly limits: RelayLimits;
}

export function seekBy({ directory, discovery, schemas, limits }: SeekOptions): Seek {
  return async (asked, asker, only) => {
    const { hits, near } = await discovery.find(readNeed({ schemas }, asked), asker, limits.hits_most, only);
    const candidates = hits.flatMap(({ candidate, verdicts, merit }): readonly Candidate[] => {
      const { entry, cost, reliability } = candidate;
      const { name: agent_id, manifest, foreign } = entry.provider;
      // Nothing can be handed to one that is registered elsewhere.
      if (foreign !== null) return [];
      const written = directory.manifest(agent_id)?.capabilities.find(({ name }) => name === entry.capability.name);
      return written === undefined
        ? []
        : [{ agent_id, capability: written, manifest, cost, reliability, schemas: verdicts, merit }];
    });
    const misses = near.map(showMiss);
    const isKnown = (name: string) => directory.manifest(name) !== undefined;
    return { candidates, near: [...misses, ...unfound(only, candidates, misses, isKnown)] };
  };
}

/** Those that were to be asked and are among neither. */
function unfound(
  only: ReadonlySet<string> | null,
  candidates: readonly Candidate[],
  misses: readonly Miss[],
  isKnown: (name: string) => boolean,
): readonly Miss[] {
  const known = new Set([...candidates, ...misses].map(({ agent_id }) => agent_id));
  return [...(only ?? [])]
    .filter((name) => !known.has(name))
    .map((agent_id) => {
      const lack = isKnown(agent_id) ? "It offers nothing like it." : "It is not known here.";
      return { agent_id, capability: "", version: null, lacks: [lack] };
    });
}
