// What names a manifest: the digest of its canonical JSON. Acks and outcomes bind it, leases state it.

import { canonicalJson } from "../canonical-json.ts";
import type { Crypto } from "../crypto.ts";
import { hexDigest } from "../digest.ts";
import type { Capability } from "../fields.ts";

/** All that a manifest says. What is left out is left out of the digest too. */
export interface ManifestContent {
  readonly agent_id: string;
  readonly capabilities: readonly Capability[];
  readonly version?: number;
  readonly discovery_endpoint?: string;
  readonly lease_seconds?: number;
}

/** The manifest alone, without whatever else the value holds, such as the rest of a registration document. */
export function manifestContent(holder: ManifestContent): ManifestContent {
  const { agent_id, capabilities, version, discovery_endpoint, lease_seconds } = holder;
  return {
    agent_id,
    capabilities,
    ...(version === undefined ? {} : { version }),
    ...(discovery_endpoint === undefined ? {} : { discovery_endpoint }),
    ...(lease_seconds === undefined ? {} : { lease_seconds }),
  };
}

export function manifestDigest(crypto: Crypto, holder: ManifestContent): string {
  return hexDigest(crypto, canonicalJson(manifestContent(holder)));
}
