/**
 * What a foreign discovery endpoint says, read and checked: a manifest by the agent's own signature, whoever passes it on; an
 * A2A agent card as it stands, with nobody to vouch for it.
 */

import {
  type Capability,
  compileSchema,
  type DocumentOf,
  manifestContent,
  manifestDigest,
  openProof,
  type PublicKey,
  parsePublicKey,
  parseStrictBytes,
  readDocument,
  toUtf8,
} from "@handfast/protocol";
import type { RelayLimits } from "../../limits.ts";
import { Problem } from "../../problem.ts";
import { nodeCrypto } from "../../proof/node-crypto.ts";
import { canonicalDigest } from "../../schemas/canonical-json.ts";
import type { Schemas } from "../../schemas/schemas.ts";
import { checkCapabilities } from "../check-capabilities.ts";
import type { Told } from "./import-record.ts";
import { readAgentCard } from "./read-agent-card.ts";

export interface ReadOptions {
  readonly limits: RelayLimits;
  readonly schemas: Schemas;
}

export async function readTold(url: URL, bytes: Uint8Array, options: ReadOptions): Promise<Told> {
  const { limits } = options;
  const parsed = parseStrictBytes(bytes, { max_depth: limits.json_depth, max_keys: limits.json_keys });
  if (!parsed.ok) {
    throw unreadable(url, `it is not strict JSON: ${parsed.fault.reason.replaceAll("_", " ")} at ${parsed.fault.path}`);
  }
  const { value } = parsed;
  const told = isDiscoveryView(value) ? await readManifest(url, value, options) : readCard(url, value, options);
  await checkCapabilities(told.capabilities, options.schemas, limits);
  return told;
}

interface DiscoveryView {
  readonly agent_id: string;
  readonly identity?: unknown;
  readonly manifest: { readonly document?: unknown; readonly proof?: unknown };
}

function isDiscoveryView(value: unknown): value is DiscoveryView {
  return isObject(value) && typeof value["agent_id"] === "string" && isObject(value["manifest"]);
}

async function readManifest(url: URL, { agent_id, manifest }: DiscoveryView, { limits }: ReadOptions): Promise<Told> {
  const { document: text, proof } = manifest;
  if (typeof text !== "string") {
    throw unproven(url, `the agent ${agent_id} signed nothing there; import its agent card instead`);
  }
  const read = readDocument("registration", toUtf8(text));
  if (!read.ok) throw unproven(url, `its registration cannot be read: ${read.fault.reason} at ${read.fault.path}`);
  const { document } = read;
  const key = await signedBy(url, text, proof, document);
  if (document.agent_id !== agent_id) {
    throw unproven(url, `it tells of ${agent_id}, and the registration is of ${document.agent_id}`);
  }
  checkPlace(url, document);
  const { description = null, version = null, lease_seconds = limits.import_lease_seconds } = document;
  return {
    kind: "manifest",
    agent_id,
    identity: key.thumbprint,
    description,
    capabilities: document.capabilities.map((capability) => inFull(url, capability)),
    manifest: manifestDigest(nodeCrypto, manifestContent(document)),
    version,
    lease_seconds,
    key: { thumbprint: key.thumbprint, x: key.jwk.x },
    registration: { document: text, proof },
  };
}

async function signedBy(
  url: URL,
  text: string,
  proof: unknown,
  { key: jwk }: DocumentOf<"registration">,
): Promise<PublicKey> {
  const parsed = parsePublicKey(nodeCrypto, jwk);
  if (!parsed.ok) throw unproven(url, `its key is refused: ${parsed.fault.replaceAll("_", " ")}`);
  const root = openProof(nodeCrypto, "registration", toUtf8(text), proof);
  const { key } = parsed;
  const isSigned = root?.key === key.thumbprint && (await nodeCrypto.verify(key.bytes, root.signed, root.sig));
  if (!isSigned) throw unproven(url, `its registration is not signed by the key in it, ${key.thumbprint}`);
  return key;
}

/** Else anybody could show the agents of others as their own: `name@origin` would name the wrong origin. */
function checkPlace(url: URL, { relay, discovery_endpoint, agent_id }: DocumentOf<"registration">): void {
  if (discovery_endpoint === url.href || URL.parse(relay)?.origin === url.origin) return;
  const where = discovery_endpoint ?? relay;
  throw unproven(url, `${agent_id} is registered with ${relay}; fetch it from ${where}`);
}

function inFull(url: URL, capability: Capability): Capability {
  const { input_schema, output_schema } = capability;
  const full = (schema: Capability["input_schema"], side: "input" | "output") => {
    const read = compileSchema(schema, side);
    if (read.ok) return read.schema;
    throw unreadable(url, `the ${side}_schema of ${capability.name} ${read.fault.message} at ${read.fault.path}`);
  };
  return {
    ...capability,
    ...(input_schema === undefined ? {} : { input_schema: full(input_schema, "input") }),
    ...(output_schema === undefined ? {} : { output_schema: full(output_schema, "output") }),
  };
}

function readCard(url: URL, value: unknown, { limits }: ReadOptions): Told {
  const card = readAgentCard(value, limits);
  if (card === null) throw unreadable(url, "it is neither a Handfast manifest nor an A2A agent card");
  return {
    kind: "agent_card",
    ...card,
    identity: null,
    manifest: canonicalDigest({ agent_id: card.agent_id, capabilities: card.capabilities }),
    version: null,
    lease_seconds: limits.import_lease_seconds,
    key: null,
    registration: null,
  };
}

function unreadable(url: URL, why: string): Problem {
  const next = "Give the URL of a discovery endpoint or of an agent card.";
  return new Problem(400, "import_unreadable", `${url.href} cannot be read: ${why}. ${next}`, { fields: ["/url"] });
}

export function unproven(url: URL, why: string): Problem {
  return new Problem(400, "import_unproven", `${url.href} proves nothing: ${why}.`, { fields: ["/url"] });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
