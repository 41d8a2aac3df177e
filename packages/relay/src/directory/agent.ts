/** An agent as the relay knows it: a name, the keys that speak for it, and the manifest in force. */

import type { Time } from "@handfast/core";
import type { Capability, ManifestContent } from "@handfast/protocol";

export interface AgentKey {
  readonly thumbprint: string;
  /** The public key, base64url, as in its JWK. */
  readonly x: string;
  readonly added_at: Time;
  /** Set when another key took its place: the two overlap until then. */
  readonly valid_until: Time | null;
  readonly revoked_at: Time | null;
}

/** What is stored of an agent (record kind `agent`, by name). */
export interface AgentRecord {
  readonly name: string;
  /** Thumbprint of the first key; null while the agent has only tokens. */
  readonly identity: string | null;
  readonly keys: readonly AgentKey[];
  readonly description: string | null;
  readonly registered_at: Time;
  readonly manifest: ManifestRef | null;
  /** The registration as its agent signed it, so that others need not trust the relay; null where nobody signed. */
  readonly registration: SignedRegistration | null;
  /** When it last said what it offers: a sign of life. Missing: before there was such a time. */
  readonly renewed_at?: Time;
  /** When the newest challenge was made that it registered by; missing: it did not, or one relay alone remembers those used. */
  readonly challenged_at?: Time;
  /** Which of its manifests are kept; missing: none yet. */
  readonly history?: HistoryMark;
}

export interface SignedRegistration {
  readonly document: string;
  readonly proof: unknown;
}

/** The numbers of an agent's kept manifests, from `first` up to, but not including, `next`, and what they take together. */
export interface HistoryMark {
  readonly first: number;
  readonly next: number;
  readonly bytes: number;
}

export interface ManifestRef {
  readonly digest: string;
  /** Since when it has been in force. */
  readonly since: Time;
  readonly signed: boolean;
  readonly version?: number;
}

/** What an agent offers (record kind `manifest`, by digest); older ones are kept for the leases given under them. */
export interface Manifest extends ManifestContent {
  readonly superseded_at: Time | null;
}

/** An agent as it is listed. */
export interface AgentView extends AgentRecord {
  /** As they were written: schemas may be in shorthand. */
  readonly capabilities: readonly Capability[];
  readonly discovery_endpoint: string | null;
  readonly last_seen_at: Time | null;
  readonly workers: readonly { readonly worker: string; readonly last_seen_at: Time }[];
}

export function isCurrent(key: AgentKey, now: Time): boolean {
  return key.revoked_at === null && (key.valid_until === null || now < key.valid_until);
}
