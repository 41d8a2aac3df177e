/** What `choose` is told of agents beyond who is free: how they stand, what they hold, whom they served before. */

import type { Accepted, Duration } from "./handoff.ts";

/** How an agent stands with one capability: what was measured of it, and what it says of itself. */
export interface Standing {
  /** How long its attempts take of late, slow ones remembered (peak-EWMA). */
  readonly latency_ms: Duration;
  /** Half of its attempts take no longer: as measured, else as it says; null: nobody knows. */
  readonly p50_ms: Duration | null;
  /** The share of its attempts that is expected to succeed, above 0. */
  readonly success: number;
  /** It measurably does not keep what it claims. */
  readonly breached: boolean;
  /** It failed several times in a row and rests for a while. */
  readonly ejected: boolean;
  /** Its registration ran out. */
  readonly lapsed: boolean;
  /** Too little was measured to judge it. */
  readonly newcomer: boolean;
  /** Of the capability, as its manifest says. */
  readonly version: string | null;
  /** How many leases for the capability it takes at a time; null: as many as its workers ask for. */
  readonly max_concurrent: number | null;
}

/** Of an agent that nothing is known of, and that says nothing of itself. */
export const unmeasured: Standing = {
  latency_ms: 1_000,
  p50_ms: null,
  success: 0.5,
  breached: false,
  ejected: false,
  lapsed: false,
  newcomer: true,
  version: null,
  max_concurrent: null,
};

/** What binds a handoff to the agent that served the last one like it. */
export type Tie =
  | { readonly kind: "sticky_order"; readonly lane: string }
  | {
      readonly kind: "conversation";
      readonly conversation_id: string;
      readonly capability: string;
      /** Of what this agent sent; null: whoever sent it. */
      readonly from: string | null;
    };

type Tied = Pick<Accepted, "from" | "conversation_id" | "capability"> & { readonly lane: string | null };

/**
 * The nearer tie first. In a conversation that is what its sender itself sent: an id is no secret, and whoever knows it could
 * otherwise draw the work of others to an agent of its choice. Only who sends there for the first time follows the others.
 */
export function tiesOf({ lane, from, conversation_id, capability }: Tied): readonly Tie[] {
  const ties: Tie[] = lane === null ? [] : [{ kind: "sticky_order", lane }];
  if (conversation_id !== null && capability !== null) {
    const talk = { kind: "conversation", conversation_id, capability } as const;
    ties.push({ ...talk, from }, { ...talk, from: null });
  }
  return ties;
}

export interface Routing {
  readonly standing: (agent: string, capability: string) => Standing;
  /** How many live leases for the capability this agent has. */
  readonly inFlight: (agent: string, capability: string) => number;
  /** Whether a version, or that of one that says none, lies in a range. */
  readonly inRange: (version: string | null, range: string) => boolean;
  /** The agent that served the last handoff of this tie; null: none is known. */
  readonly served: (tie: Tie) => string | null;
  /** The next random number in [0, 1). */
  readonly draw: () => number;
  /** The share of choices that goes to newcomers, where there are others. */
  readonly newcomer_share: number;
  /** How long after it became ready a handoff may be held back for the agent it is tied to. */
  readonly sticky_ms: Duration;
}
