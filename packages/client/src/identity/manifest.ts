/** The manifest that an agent states: what its handlers say, what connect() was told of the agent, and the costs, sealed. */

import type { Capability, Cost, Costs, ManifestContent } from "@handfast/protocol";
import { type Crypto, isName, protocolLimits, sealCost } from "@handfast/protocol/client";
import { type Duration, toMilliseconds } from "../duration.ts";
import { UsageError } from "../errors.ts";
import { shown } from "../shown.ts";

/** What a manifest says of the agent itself. */
export interface ManifestTerms {
  readonly version?: number;
  readonly discovery_endpoint?: string;
  readonly lease_seconds?: number;
}

/** Ready to be registered: `costs` stand beside what is signed, and open what it seals. */
export interface Stated {
  readonly manifest: ManifestContent;
  readonly costs: Costs;
}

export interface TermOptions {
  readonly manifestVersion?: number;
  readonly discoveryEndpoint?: string;
  readonly lease?: Duration;
}

export function readTerms({ manifestVersion, discoveryEndpoint, lease }: TermOptions): ManifestTerms {
  if (manifestVersion !== undefined && !(Number.isSafeInteger(manifestVersion) && manifestVersion >= 1)) {
    const remedy = "Give a whole number from 1 on, and a higher one whenever the manifest changes.";
    throw new UsageError(`The option manifestVersion is ${shown(manifestVersion)}.`, remedy);
  }
  if (discoveryEndpoint !== undefined && !/^https?:\/\/[!-~]+$/.test(String(discoveryEndpoint))) {
    const remedy = "Give a whole address, such as https://agents.example/research-1.";
    throw new UsageError(`The option discoveryEndpoint is ${shown(discoveryEndpoint)}.`, remedy);
  }
  return {
    ...(manifestVersion === undefined ? {} : { version: manifestVersion }),
    ...(discoveryEndpoint === undefined ? {} : { discovery_endpoint: discoveryEndpoint }),
    ...(lease === undefined ? {} : { lease_seconds: leaseSeconds(lease) }),
  };
}

function leaseSeconds(lease: Duration): number {
  const seconds = Math.ceil(toMilliseconds(lease, "The option lease") / 1_000);
  const least = protocolLimits.registration_lease_least_seconds;
  if (seconds >= least && seconds <= protocolLimits.duration_ms / 1_000) return seconds;
  throw new UsageError(`The option lease is ${shown(lease)}.`, `Give from ${least} seconds to 30 days.`);
}

/** Costs by capability, in plain; `saltOf` makes the same salt each time, or the manifest would be another each time. */
export async function stateManifest(
  crypto: Crypto,
  agent_id: string,
  terms: ManifestTerms,
  capabilities: readonly Capability[],
  costs: ReadonlyMap<string, Cost>,
  saltOf: (capability: string, cost: Cost) => Promise<string> | string,
): Promise<Stated> {
  const openings: Costs = {};
  const sealed = await Promise.all(
    capabilities.map(async (capability) => {
      const cost = costs.get(capability.name);
      if (cost === undefined || !isName(capability.name)) return capability;
      const opening = { salt: await saltOf(capability.name, cost), cost };
      openings[capability.name] = opening;
      return { ...capability, cost: sealCost(crypto, opening) };
    }),
  );
  return { manifest: { agent_id, capabilities: sealed, ...terms }, costs: openings };
}
