/** Discovery over the directory and what was imported: both tell it of their changes, and are asked about their agents. */

import type { Time } from "@handfast/core";
import type { Surroundings } from "@handfast/engine";
import type { Capability } from "@handfast/protocol";
import type { LivenessView, ReliabilityView } from "@handfast/protocol/wire";
import type { RelayLimits } from "../../limits.ts";
import type { Schemas } from "../../schemas/schemas.ts";
import type { Directory } from "../directory.ts";
import type { FetchForeign } from "../imports/fetch-foreign.ts";
import { Imports } from "../imports/imports.ts";
import type { Records } from "../records.ts";
import { claimOf, windowOf } from "../reliability/claim.ts";
import type { Reliability } from "../reliability/reliability.ts";
import { Discovery } from "./discovery.ts";
import type { Provider } from "./entry.ts";
import type { Facts } from "./facts.ts";
import type { Compare } from "./schema-judge.ts";

export interface OpenDiscoveryOptions {
  readonly namespace: string;
  readonly records: Records;
  readonly directory: Directory;
  readonly schemas: Schemas;
  readonly limits: RelayLimits;
  readonly surroundings: Pick<Surroundings, "schedule">;
  readonly now: () => Time;
  readonly compare: Compare;
  readonly reliability: Reliability;
  readonly fetch: FetchForeign;
  readonly onFailure: (name: string, error: unknown) => void;
}

export interface OpenDiscovery {
  readonly discovery: Discovery;
  readonly imports: Imports;
  readonly facts: Facts;
}

export async function openDiscovery(options: OpenDiscoveryOptions): Promise<OpenDiscovery> {
  const { directory, schemas, limits, compare } = options;
  const opened: { imports?: Imports } = {};
  const facts: Facts = {
    liveness: (agent) => (isForeign(agent) ? (opened.imports?.liveness(agent) ?? gone) : directory.liveness(agent)),
    reliability: (agent, capability) =>
      isForeign(agent) ? unmeasured(capability) : measured(options, agent, capability),
    cost: (agent, capability, asker) => (isForeign(agent) ? null : directory.costOpening(agent, capability, asker)),
  };
  const elapsed_ms = () => performance.now();
  const discovery = new Discovery({ facts, schemas, limits, compare, elapsed_ms });
  const readAgent = (name: string) => {
    const provider = providerOf(directory, name);
    if (provider === null) discovery.remove(name);
    else discovery.set(provider);
  };
  const imports = await Imports.open({
    ...options,
    onChange: (name, provider) => (provider === null ? discovery.remove(name) : discovery.set(provider)),
  });
  opened.imports = imports;
  directory.watch((name) => {
    if (name !== null) return readAgent(name);
    const there = new Set(directory.names());
    for (const each of discovery.names.all()) if (!there.has(each)) discovery.remove(each);
    for (const each of there) readAgent(each);
  });
  discovery.fill(directory.names(), readAgent);
  imports.start();
  return { discovery, imports, facts };
}

/** No agent that is registered here has such a name. */
function isForeign(name: string): boolean {
  return name.includes("@");
}

const gone: LivenessView = { state: "lapsed", last_seen_at: null, lease_until: 0, workers: 0 };

/** Nothing can be handed to it here, so nothing is known of what comes of it. */
function unmeasured(capability: Capability): ReliabilityView {
  const claim = claimOf(capability);
  const status = claim === null ? "unclaimed" : "unproven";
  return { claim, status, attempts: 0, lower: 0, upper: 1, p50_ms: null, p95_ms: null };
}

/** What an agent claims beside what was measured of it. */
function measured({ reliability, now }: OpenDiscoveryOptions, agent: string, capability: Capability): ReliabilityView {
  const claim = claimOf(capability);
  const { n, lower, upper, p50_ms, p95_ms, status } = reliability.of(
    agent,
    capability.name,
    now(),
    claim,
    windowOf(capability),
  );
  return { claim, status, attempts: n, lower, upper, p50_ms, p95_ms };
}

/** Null: it is not known, or says nothing of what it offers. */
function providerOf(directory: Directory, name: string): Provider | null {
  const manifest = directory.record(name)?.manifest ?? null;
  if (manifest === null) return null;
  return {
    name,
    capabilities: directory.capabilities(name),
    manifest: manifest.digest,
    signed: manifest.signed,
    discovery_endpoint: directory.manifest(name)?.discovery_endpoint ?? null,
    foreign: null,
  };
}
