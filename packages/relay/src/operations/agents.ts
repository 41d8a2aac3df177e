/** Who is there: registration, keys, manifests, tokens. The rules are those of identity and directory. */

import { closed, fields } from "@handfast/protocol";
import {
  agent_page,
  agent_query,
  agent_view,
  capabilities_body,
  challenge_reply,
  manifest_reply,
  registered,
  registration,
  rotation,
  type Static,
  token_query,
  token_reply,
  token_request,
  token_view,
} from "@handfast/protocol/wire";
import Type from "typebox";
import type { AgentView, ManifestRef } from "../directory/agent.ts";
import { limits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { endpointOf } from "./discovery-endpoint.ts";
import { json, operation } from "./operation.ts";
import { agentOf } from "./parties.ts";
import type { Relay } from "./relay.ts";

const nameParams = Type.Object({ name: fields.name });
const done = Type.Object({ done: Type.Literal(true) });

export const challenge = operation(
  {
    name: "challenge",
    method: "POST",
    path: "/v1/agents/challenge",
    tag: "agents",
    access: "anyone",
    summary: "A challenge for a registration or a rotation to answer.",
    body: Type.Object({}, closed),
    replies: { 200: challenge_reply },
  },
  async ({ relay }) => json(relay.registration.challenge()),
);

export const register = operation(
  {
    name: "register",
    method: "POST",
    path: "/v1/agents",
    tag: "agents",
    access: "anyone",
    summary:
      "Become known, or renew a manifest: a registration document signed by the agent's key. An operator admits.",
    body: registration,
    replies: { 200: registered, 201: registered },
    problems: [401, 403, 409, 413, 507],
  },
  async ({ relay, body, visitor }) => {
    const answer = await relay.registration.register(body.signed, visitor, body.costs);
    return json(answer, answer.created ? 201 : 200);
  },
);

export const listAgents = operation(
  {
    name: "agents",
    method: "GET",
    path: "/v1/agents",
    tag: "agents",
    access: "caller",
    summary: "The agents that are known, by name, with what they offer.",
    query: agent_query,
    replies: { 200: agent_page },
  },
  async ({ relay, query }) => {
    const { capability, after, limit = limits.page_size_default } = query;
    const found = relay.directory
      .agents()
      .filter(({ name }) => after === undefined || name > after)
      .filter(({ capabilities }) => capability === undefined || capabilities.some(({ name }) => name === capability))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const page = found.slice(0, limit);
    return json({
      agents: page.map((agent) => showAgent(relay, agent)),
      after: found.length > limit ? (page.at(-1)?.name ?? null) : null,
    });
  },
);

export const getAgent = operation(
  {
    name: "agent",
    method: "GET",
    path: "/v1/agents/{name}",
    tag: "agents",
    access: "caller",
    summary: "One agent: its keys, its manifest, when it was last seen.",
    params: nameParams,
    replies: { 200: agent_view },
    problems: [404],
  },
  async ({ relay, params }) => {
    const agent = relay.directory.agent(params.name);
    if (agent === undefined) throw new Problem(404, "unknown_agent", `There is no agent ${params.name}.`);
    return json(showAgent(relay, agent));
  },
);

function showAgent(relay: Relay, agent: AgentView) {
  const { directory } = relay;
  const { name, identity, description, registered_at, discovery_endpoint, last_seen_at, keys } = agent;
  const workers = agent.workers.map(({ worker, last_seen_at }) => {
    return { worker, last_seen_at, asking: directory.isAsking(name, worker) };
  });
  return {
    name,
    identity,
    description,
    registered_at,
    // Schemas in full, for whoever checks or shows them; as they were written they are in the manifest.
    capabilities: directory.capabilities(name),
    manifest: agent.manifest === null ? null : showManifestRef(agent.manifest),
    discovery_endpoint: discovery_endpoint ?? endpointOf(relay, name),
    liveness: directory.liveness(name),
    last_seen_at,
    workers,
    keys,
  };
}

function showManifestRef({ digest, since, signed, version }: ManifestRef): Static<typeof manifest_reply> {
  return { digest, since, signed, version: version ?? null };
}

export const forgetAgent = operation(
  {
    name: "forget_agent",
    method: "DELETE",
    path: "/v1/agents/{name}",
    tag: "agents",
    access: "caller",
    summary: "Forget an agent, its keys and its tokens. Its handoffs stay.",
    params: nameParams,
    replies: { 200: done },
    problems: [403, 404],
  },
  async ({ relay, caller, params }) => {
    await relay.registration.forget(caller, params.name);
    return json({ done: true });
  },
);

export const rotateKey = operation(
  {
    name: "rotate_key",
    method: "POST",
    path: "/v1/agents/{name}/keys",
    tag: "agents",
    access: "anyone",
    summary: "Put a new key in the place of an old one: signed by both.",
    params: nameParams,
    body: rotation,
    replies: { 200: registered },
    problems: [401, 403, 404, 409],
  },
  async ({ relay, params, body }) => json(await relay.registration.rotate(params.name, body.signed)),
);

export const revokeKey = operation(
  {
    name: "revoke_key",
    method: "DELETE",
    path: "/v1/agents/{name}/keys/{thumbprint}",
    tag: "agents",
    access: "caller",
    summary: "Revoke a key, at once and for good.",
    params: Type.Object({ name: fields.name, thumbprint: fields.proof.properties.key }),
    replies: { 200: done },
    problems: [403, 404],
  },
  async ({ relay, caller, params }) => {
    await relay.registration.revoke(caller, params.name, params.thumbprint);
    return json({ done: true });
  },
);

export const setCapabilities = operation(
  {
    name: "set_capabilities",
    method: "PUT",
    path: "/v1/agents/{name}/capabilities",
    tag: "agents",
    access: "caller",
    summary:
      "Say what an agent offers, for callers that cannot sign a registration. An agent with a key does it by that key.",
    params: nameParams,
    body: capabilities_body,
    replies: { 200: manifest_reply },
    problems: [403, 404, 409, 413, 507],
  },
  async ({ relay, caller, params, body }) => {
    const { capabilities, ...besides } = body;
    const ref = await relay.registration.setCapabilities(caller, params.name, capabilities, besides);
    return json(showManifestRef(ref));
  },
);

export const createToken = operation(
  {
    name: "create_token",
    method: "POST",
    path: "/v1/tokens",
    tag: "agents",
    access: "anyone",
    summary:
      "A token for a caller that cannot sign. An operator makes it; in development mode anyone, for a new name, and then whoever has its token.",
    body: token_request,
    replies: { 201: token_reply },
    problems: [401, 403, 409, 413, 507],
  },
  async ({ relay, visitor, body }) => {
    const { agent, capabilities, costs, label, life_ms } = body;
    const options = {
      ...(capabilities === undefined ? {} : { capabilities }),
      ...(costs === undefined ? {} : { costs }),
      ...(label === undefined ? {} : { label }),
      ...(life_ms === undefined ? {} : { life_ms }),
    };
    return json(await relay.registration.createToken(visitor, agent, options), 201);
  },
);

export const listTokens = operation(
  {
    name: "tokens",
    method: "GET",
    path: "/v1/tokens",
    tag: "agents",
    access: "caller",
    summary: "An agent's tokens, without the tokens themselves.",
    query: token_query,
    replies: { 200: Type.Object({ tokens: Type.Array(token_view) }) },
    problems: [403],
  },
  async ({ relay, caller, query }) =>
    json({ tokens: relay.registration.listTokens(caller, query.agent ?? agentOf(caller)) }),
);

export const revokeToken = operation(
  {
    name: "revoke_token",
    method: "DELETE",
    path: "/v1/tokens/{id}",
    tag: "agents",
    access: "caller",
    summary: "Revoke a token, at once.",
    params: Type.Object({ id: fields.text_id }),
    query: token_query,
    replies: { 200: done },
    problems: [403, 404],
  },
  async ({ relay, caller, params, query }) => {
    await relay.registration.revokeToken(caller, query.agent ?? agentOf(caller), params.id);
    return json({ done: true });
  },
);
