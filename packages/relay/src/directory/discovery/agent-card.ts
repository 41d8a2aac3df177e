/**
 * An agent as an A2A agent card (protocol 1.0). What A2A has no word for stands in an extension of ours: schemas, time limits,
 * reliability, terms. The one interface is Handfast's own: a card says nothing that is not so.
 */

import type { Capability } from "@handfast/protocol";
import type { AgentCard } from "@handfast/protocol/wire";

export const card_extension = "https://handfast.dev/ext/a2a-terms/v1";
/** A binding that is not one of A2A's own is named by a URI. */
const protocol_binding = "https://handfast.dev/bindings/v1";
const json_type = "application/json";

export interface CardOf {
  readonly name: string;
  readonly description: string | null;
  readonly identity: string | null;
  readonly manifest: string;
  readonly version: number | null;
  readonly capabilities: readonly Capability[];
  readonly discovery_endpoint: string;
  /** The relay that takes work for it, and the namespace there. */
  readonly relay: string;
  readonly namespace: string;
}

export function agentCard(agent: CardOf): AgentCard {
  const { name, capabilities, relay } = agent;
  return {
    name,
    description: agent.description ?? `Offers ${capabilities.map((each) => each.name).join(", ") || "nothing yet"}.`,
    supportedInterfaces: [{ url: relay, protocolBinding: protocol_binding, protocolVersion: "1.0" }],
    version: agent.version === null ? agent.manifest.slice(0, 12) : String(agent.version),
    capabilities: {
      streaming: false,
      pushNotifications: false,
      extensions: [
        {
          uri: card_extension,
          description: "What it takes and gives, on which terms, and the signed manifest that says so.",
          required: false,
          params: termsOf(agent),
        },
      ],
    },
    securitySchemes: { handfast: { httpAuthSecurityScheme: { scheme: "Bearer", bearerFormat: "JWT" } } },
    securityRequirements: [{ schemes: { handfast: { list: [] } } }],
    defaultInputModes: [json_type],
    defaultOutputModes: [json_type],
    skills: capabilities.map(skillOf),
  };
}

function skillOf({ name, description, tags = [], examples = [] }: Capability): AgentCard["skills"][number] {
  return {
    id: name,
    name,
    description: description ?? name,
    tags,
    examples: examples.map(({ title, input }) => title ?? JSON.stringify(input)),
  };
}

function termsOf(agent: CardOf): Record<string, unknown> {
  return {
    agent_id: agent.name,
    identity: agent.identity,
    relay: agent.relay,
    namespace: agent.namespace,
    discovery_endpoint: agent.discovery_endpoint,
    manifest: agent.manifest,
    // Names and descriptions stand in the skills, whose ids are these names.
    capabilities: Object.fromEntries(
      agent.capabilities.map(({ name, description: _said, tags: _there, examples: _too, ...terms }) => [name, terms]),
    ),
  };
}
