/** What is stored of an agent that is registered elsewhere (record kind `import`, by `name@origin`). */

import type { Time } from "@handfast/core";
import type { Capability } from "@handfast/protocol";

/** What its endpoint said, once that was read and checked. */
export interface Told {
  readonly kind: "manifest" | "agent_card";
  /** Without the origin. */
  readonly agent_id: string;
  readonly identity: string | null;
  readonly description: string | null;
  /** With every schema in full. */
  readonly capabilities: readonly Capability[];
  /** Digest of what it offers. */
  readonly manifest: string;
  readonly version: number | null;
  readonly lease_seconds: number;
  /** The key that signed it; null: nobody did. */
  readonly key: { readonly thumbprint: string; readonly x: string } | null;
  readonly registration: { readonly document: string; readonly proof: unknown } | null;
}

export interface ImportRecord {
  readonly name: string;
  readonly url: string;
  readonly told: Told;
  readonly imported_at: Time;
  readonly fetched_at: Time;
}

export function leaseUntil({ told, fetched_at }: ImportRecord): Time {
  return fetched_at + told.lease_seconds * 1_000;
}
