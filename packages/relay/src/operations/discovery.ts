/** The discovery endpoint of every agent: its signed manifest, its A2A agent card, its liveness; and all of them in a catalog. */

import { createHash } from "node:crypto";
import { agent_card, catalog_query, type DiscoveryView, discovery_view, found_name } from "@handfast/protocol/wire";
import Type from "typebox";
import { isCurrent } from "../directory/agent.ts";
import { agentCard } from "../directory/discovery/agent-card.ts";
import { type Catalogued, catalog, catalog_type } from "../directory/discovery/catalog.ts";
import type { Import } from "../directory/imports/imports.ts";
import type { Caller } from "../identity/caller.ts";
import { Problem } from "../problem.ts";
import { endpointOf, relayUrl } from "./discovery-endpoint.ts";
import { json, operation } from "./operation.ts";
import type { Relay } from "./relay.ts";

const foundParams = Type.Object({ name: found_name });

export const discovery = operation(
  {
    name: "discovery",
    method: "GET",
    path: "/v1/discovery/{name}",
    tag: "discovery",
    access: "anyone",
    summary:
      "The discovery endpoint of an agent: what it signed, its keys, its liveness, what was measured of it, its A2A agent card.",
    params: foundParams,
    replies: { 200: discovery_view },
    problems: [401, 404],
  },
  async ({ relay, visitor, params }) => {
    checkMayRead(relay, visitor);
    return json(viewOf(relay, params.name));
  },
);

export const card = operation(
  {
    name: "agent_card",
    method: "GET",
    path: "/v1/discovery/{name}/agent-card.json",
    tag: "discovery",
    access: "anyone",
    summary: "The A2A agent card of an agent, with our terms in an extension.",
    params: foundParams,
    replies: { 200: agent_card },
    problems: [401, 404],
  },
  async ({ relay, visitor, params }) => {
    checkMayRead(relay, visitor);
    return json(viewOf(relay, params.name).card);
  },
);

export const aiCatalog = operation(
  {
    name: "ai_catalog",
    method: "GET",
    path: "/.well-known/ai-catalog.json",
    tag: "discovery",
    access: "anyone",
    summary:
      "Every agent that is registered here and has not lapsed, as an AI Catalog; in pages, each the last entry of the one before.",
    query: catalog_query,
    replies: { 200: null, 304: null },
    media_type: catalog_type,
    problems: [401],
  },
  async ({ relay, visitor, query, request }) => {
    checkMayRead(relay, visitor);
    await relay.discovery.filled;
    const limit = query.limit ?? relay.limits.catalog_entries;
    const agents = cataloguedAfter(relay, query.after ?? "", limit + 1);
    const shown = agents.slice(0, limit);
    const next = agents.length > limit ? (shown.at(-1)?.name ?? null) : null;
    const text = JSON.stringify(catalog({ relay: relayUrl(relay), key: relay.key.jwk.x, agents: shown, next, limit }));
    const etag = `"${createHash("sha256").update(text).digest("base64url")}"`;
    const headers = { "content-type": catalog_type, "cache-control": "no-cache", etag };
    const is_known = request.if_none_match?.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag) === true;
    return is_known ? { kind: "text", status: 304, headers, text: "" } : { kind: "text", status: 200, headers, text };
  },
);

/** Anybody in development mode or where the operator says so; else whoever has an identity. */
function checkMayRead({ configuration }: Relay, visitor: Caller | null): void {
  if (visitor !== null || configuration.public_directory) return;
  const next = "Give a credential or a token, or have the operator start the relay with --public-directory.";
  throw new Problem(401, "directory_closed", `The directory of this relay is for those it knows. ${next}`);
}

function viewOf(relay: Relay, name: string): DiscoveryView {
  const imported = relay.imports.get(name);
  return imported === undefined ? agentView(relay, name) : importedView(relay, imported);
}

function agentView(relay: Relay, name: string): DiscoveryView {
  const { directory, configuration } = relay;
  const agent = directory.record(name);
  if (agent === undefined || agent.manifest === null) {
    throw new Problem(404, "unknown_agent", `There is no agent ${name} that says what it offers.`);
  }
  const capabilities = [...directory.capabilities(name)];
  const { version = null, discovery_endpoint = endpointOf(relay, name) } = directory.manifest(name) ?? {};
  const { digest, since, signed } = agent.manifest;
  const now = relay.engine.now();
  return {
    agent_id: name,
    identity: agent.identity,
    discovery_endpoint,
    manifest: {
      digest,
      since,
      signed,
      document: agent.registration?.document ?? null,
      proof: (agent.registration?.proof ?? null) as DiscoveryView["manifest"]["proof"],
    },
    keys: agent.keys
      .filter((key) => isCurrent(key, now))
      .map(({ thumbprint, x, valid_until }) => ({ thumbprint, x, valid_until })),
    capabilities,
    liveness: directory.liveness(name),
    reliability: capabilities.map((each) => ({ capability: each.name, ...relay.facts.reliability(name, each) })),
    foreign: null,
    card: agentCard({
      name,
      description: agent.description,
      identity: agent.identity,
      manifest: digest,
      version,
      capabilities,
      discovery_endpoint,
      relay: relayUrl(relay),
      namespace: configuration.namespace,
    }),
  };
}

/** As it was fetched: whoever reads it here can check the same signature. */
function importedView(relay: Relay, { name, url, told, fetched_at }: Import): DiscoveryView {
  const { key, registration, capabilities } = told;
  return {
    agent_id: name,
    identity: told.identity,
    discovery_endpoint: url,
    manifest: {
      digest: told.manifest,
      since: fetched_at,
      signed: key !== null,
      document: registration?.document ?? null,
      proof: (registration?.proof ?? null) as DiscoveryView["manifest"]["proof"],
    },
    keys: key === null ? [] : [{ ...key, valid_until: null }],
    capabilities: [...capabilities],
    liveness: relay.facts.liveness(name),
    reliability: capabilities.map((each) => ({ capability: each.name, ...relay.facts.reliability(name, each) })),
    foreign: { url, fetched_at, verified: key !== null },
    card: agentCard({
      name,
      description: told.description,
      identity: told.identity,
      manifest: told.manifest,
      version: told.version,
      capabilities,
      discovery_endpoint: url,
      relay: new URL(url).origin,
      namespace: relay.configuration.namespace,
    }),
  };
}

/** By name, so that pages neither skip nor repeat. */
function cataloguedAfter({ directory, discovery }: Relay, after: string, limit: number): readonly Catalogued[] {
  const found: Catalogued[] = [];
  for (const name of discovery.names.after(after)) {
    if (found.length >= limit) break;
    const agent = directory.record(name);
    if (agent === undefined || agent.manifest === null || directory.isLapsed(name)) continue;
    const capabilities = directory.capabilities(name);
    found.push({
      name,
      description: agent.description,
      version: directory.manifest(name)?.version ?? null,
      tags: [...new Set(capabilities.flatMap(({ tags = [] }) => tags))].sort(),
      capabilities: capabilities.map((each) => each.name),
      manifest: agent.manifest.digest,
      since: agent.manifest.since,
      identity: agent.identity,
    });
  }
  return found;
}
