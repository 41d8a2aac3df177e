/** Negotiations and contracts over the relay's own parts: what they ask of directory and engine, in one place. */

import { type Engine, type Store, type Surroundings, wakeKey } from "@handfast/engine";
import type { ManifestContent } from "@handfast/protocol";
import type { Logger } from "pino";
import type { Directory } from "../directory/directory.ts";
import type { Compare } from "../directory/discovery/schema-judge.ts";
import type { Records } from "../directory/records.ts";
import type { Audience } from "../identity/audience.ts";
import type { RelayLimits } from "../limits.ts";
import type { Standings } from "../routing/standings.ts";
import { canonicalJson } from "../schemas/canonical-json.ts";
import type { ManifestWord } from "./contract-record.ts";
import { Contracts, type Parties } from "./contracts.ts";
import { Negotiating } from "./negotiating.ts";
import type { Seek } from "./seek.ts";
import { Tally } from "./tally.ts";

export interface ContractParts {
  readonly namespace: string;
  readonly records: Records;
  readonly engine: Engine;
  readonly directory: Directory;
  readonly standings: Standings;
  readonly audience: Audience;
  readonly store: Store;
  readonly seek: Seek;
  readonly compare: Compare;
  readonly limits: RelayLimits;
  readonly surroundings: Surroundings;
  readonly log: Logger;
}

/** Before the engine starts: whoever counts must be told of everything that is committed. */
export async function openContracts(parts: ContractParts) {
  const { namespace, records, store, engine, directory, standings } = parts;
  const { audience, seek, compare, limits, surroundings, log } = parts;
  const now = () => engine.now();
  const commit: Parameters<typeof Contracts.open>[0]["commit"] = (entries, writes) => engine.note(entries, writes);
  const parties = partiesOf(directory, standings);
  const { wakeups } = engine;
  const negotiating = await Negotiating.open({
    namespace,
    records,
    commit,
    seek,
    parties,
    canSign: (agent) => (directory.record(agent)?.keys.length ?? 0) > 0,
    limits,
    now,
    randomBytes: (count) => surroundings.randomBytes(count),
    relay: () => audience.all()[0] ?? "",
    onAsked: (agents) => wakeups.publish(agents.map((agent) => wakeKey.proposals(namespace, agent))),
    onAnswered: (id) => wakeups.publish([wakeKey.negotiation(namespace, id)]),
  });
  const tally = await Tally.open({
    namespace,
    store,
    limits,
    put: records.put,
    schedule: (delay_ms, task) => surroundings.schedule(delay_ms, task),
    onUnwritten: (error) =>
      log.warn({ err: error }, "the counts of contracts could not be written; that is tried again"),
  });
  const contracts = await Contracts.open({ namespace, records, commit, parties, tally, compare, limits, now });
  return { negotiating, contracts, tally };
}

function partiesOf(directory: Directory, standings: Standings): Parties {
  return {
    knownSince: (agent) => directory.record(agent)?.registered_at,
    capability: (agent, name) => directory.manifest(agent)?.capabilities.find((each) => each.name === name) ?? null,
    isLapsed: (agent) => directory.isLapsed(agent),
    halfTakesMs: (agent, capability, now) => standings.of(agent, capability, now).p50_ms,
    isRival: (asker, capability) => directory.isRival(asker, capability),
    manifest: (agent) => {
      const record = directory.record(agent);
      const manifest = directory.manifest(agent);
      if (record === undefined || record.manifest === null || manifest === undefined) return null;
      return { manifest: record.manifest.digest, word: wordOf(record.registration, manifest) };
    },
    pastManifest: async (digest) => {
      const past = await directory.manifestByDigest(digest);
      return past === null ? null : { manifest: digest, word: wordOf(past.registration, past.manifest) };
    },
  };
}

/** Of an agent that cannot sign, the relay tells what it was told. */
function wordOf(registration: ManifestWord | null, manifest: ManifestContent): ManifestWord {
  return registration ?? { document: canonicalJson(manifest), proof: null };
}
