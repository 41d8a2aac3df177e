/** An event with the fields that its type brings (spec/events.md). Clients ignore what they do not know. */

import type { HandoffEvent, WhyView } from "@handfast/protocol/wire";

interface Digest {
  readonly media_type: string;
  readonly size: number;
}

/** Every event of the wire is one of these: what a type does not have is simply not there. */
export interface StoryEvent extends HandoffEvent {
  readonly code?: number | null;
  readonly from?: string;
  readonly to_agent?: string | null;
  readonly capability?: string | null;
  readonly causation_id?: string | null;
  readonly evidence?: "signed" | "attested" | "relay";
  readonly agent?: string | null;
  readonly worker?: string | null;
  readonly fence?: number | null;
  readonly attempt?: number;
  readonly number?: number;
  readonly question?: string;
  readonly to?: string | null;
  readonly answer_by?: number;
  readonly parked?: boolean;
  readonly by?: string | null;
  /** Of a requeue its reason; of a delivery why it went there. */
  readonly why?: string | WhyView;
  readonly ready_at?: number;
  readonly state?: string | Digest;
  readonly error?: { readonly reason: string; readonly message: string } | null;
  readonly input?: Digest | null;
  readonly output?: Digest | null;
}

const ends = new Set(["completed", "failed", "rejected", "canceled", "expired"]);

export function isEnd(type: string): boolean {
  return ends.has(type);
}

/** Why it was queued again; "" where that is not told. */
export function requeueReason({ why }: StoryEvent): string {
  return typeof why === "string" ? why : "";
}
