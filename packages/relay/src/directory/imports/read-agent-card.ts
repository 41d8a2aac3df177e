/**
 * An A2A agent card (1.0, or 0.3 and before) as what an agent offers here: each skill a capability. A card says nothing of
 * schemas and terms, and nobody's signature vouches for it, so that is all that is taken from it.
 */

import { type Capability, isName } from "@handfast/protocol";
import type { RelayLimits } from "../../limits.ts";

export interface ReadCard {
  readonly agent_id: string;
  readonly description: string | null;
  readonly capabilities: readonly Capability[];
}

/** Null: it is no agent card. */
export function readAgentCard(value: unknown, limits: RelayLimits): ReadCard | null {
  if (!isObject(value) || typeof value["name"] !== "string" || !Array.isArray(value["skills"])) return null;
  if (!Array.isArray(value["supportedInterfaces"]) && typeof value["url"] !== "string") return null;
  const agent_id = nameFrom(value["name"]);
  if (agent_id === null) return null;
  const version = text(value["version"], version_chars);
  const capabilities = new Map<string, Capability>();
  for (const skill of value["skills"].slice(0, limits.capabilities_per_agent)) {
    const capability = capabilityOf(skill, version);
    if (capability !== null && !capabilities.has(capability.name)) capabilities.set(capability.name, capability);
  }
  return { agent_id, description: text(value["description"], text_chars), capabilities: [...capabilities.values()] };
}

const text_chars = 2_000;
const version_chars = 256;
const tags_most = 16;
const examples_most = 8;

function capabilityOf(skill: unknown, version: string | null): Capability | null {
  if (!isObject(skill)) return null;
  const name = nameFrom(skill["id"]) ?? nameFrom(skill["name"]);
  if (name === null) return null;
  const said = [text(skill["name"], text_chars), text(skill["description"], text_chars)].filter(
    (each) => each !== null,
  );
  const tags = new Set(strings(skill["tags"]).flatMap((tag) => nameFrom(tag) ?? []));
  const examples = strings(skill["examples"]).slice(0, examples_most);
  return {
    name,
    description: said.join(": ").slice(0, text_chars),
    tags: [...tags].slice(0, tags_most),
    examples: examples.map((example) => ({ input: example.slice(0, text_chars) })),
    ...(version === null ? {} : { version }),
  };
}

/** Letters and digits, what lies between as dashes; null: none are left. */
function nameFrom(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const name = value
    .slice(0, 128)
    .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
    .replaceAll(/^[^A-Za-z0-9]+|-+$/g, "");
  return isName(name) ? name : null;
}

function text(value: unknown, most: number): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is taken out.
  return typeof value === "string" ? value.slice(0, most).replaceAll(/[\x00-\x1f\x7f-\x9f]+/g, " ") || null : null;
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
