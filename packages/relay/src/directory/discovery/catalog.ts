/**
 * The agents of a relay as an AI Catalog (specification 1.0, a draft: github.com/Agent-Card/ai-catalog). The draft has called
 * the type of an entry `mediaType` and calls it `type` now; both are told. What does not fit into one catalog goes on in the
 * next, which is its last entry.
 */

export const catalog_type = "application/ai-catalog+json";
const card_type = "application/a2a-agent-card+json";

export interface Catalogued {
  readonly name: string;
  readonly description: string | null;
  readonly version: number | null;
  readonly tags: readonly string[];
  readonly capabilities: readonly string[];
  readonly manifest: string;
  readonly since: number;
  readonly identity: string | null;
}

export interface CatalogOf {
  /** Where the relay is known; its host names the entries. */
  readonly relay: string;
  readonly key: string;
  readonly agents: readonly Catalogued[];
  /** After which name the next catalog goes on; null: this is all. */
  readonly next: string | null;
  readonly limit: number;
}

export function catalog({ relay, key, agents, next, limit }: CatalogOf) {
  const { host } = new URL(relay);
  return {
    specVersion: "1.0",
    host: { displayName: `Handfast relay at ${host}`, identifier: relay },
    entries: [
      ...agents.map((agent) => entryOf(agent, relay, host)),
      ...(next === null ? [] : [nextEntry(relay, host, next, limit)]),
    ],
    metadata: { "dev.handfast.relay_key": key },
  };
}

function entryOf(agent: Catalogued, relay: string, host: string) {
  const { name, description, version, tags, capabilities, manifest, since, identity } = agent;
  return {
    identifier: `urn:air:${host}:agent:${name}`,
    displayName: name,
    type: card_type,
    mediaType: card_type,
    url: `${relay}/v1/discovery/${name}/agent-card.json`,
    ...(description === null ? {} : { description }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(version === null ? {} : { version: String(version) }),
    capabilities,
    updatedAt: new Date(since).toISOString(),
    metadata: {
      "dev.handfast.discovery_endpoint": `${relay}/v1/discovery/${name}`,
      "dev.handfast.manifest": manifest,
      "dev.handfast.identity": identity,
    },
  };
}

function nextEntry(relay: string, host: string, after: string, limit: number) {
  return {
    identifier: `urn:air:${host}:catalog:after-${after}`,
    displayName: `Agents after ${after}`,
    type: catalog_type,
    mediaType: catalog_type,
    url: `${relay}/.well-known/ai-catalog.json?after=${encodeURIComponent(after)}&limit=${limit}`,
  };
}
