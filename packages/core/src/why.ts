/** Why a handoff went to the agent it went to: kept with its lease and told in its event. */

export type WhyRule =
  /** No other agent that could have had it was free. */
  | "only"
  /** Nothing is measured: the most free slots, then the longest wait. */
  | "least_loaded"
  /** Of two drawn at random the one with the smaller score. */
  | "better_of_two"
  /** The share that goes to agents of which little is measured. */
  | "newcomer"
  /** The others were newcomers, and this was not their share. */
  | "established"
  /** It asked the question that was answered. */
  | "preferred"
  /** It served the handoff before this one in its lane. */
  | "sticky_order"
  /** It served the last handoff of the conversation for this capability. */
  | "conversation"
  /** An attempt or a delivery came to nothing, and this is not where. */
  | "elsewhere"
  /** It is breached or ejected, and no other agent that could have it lives, or none was free in time. */
  | "no_other";

export interface Why {
  readonly rule: WhyRule;
  /** How many agents it was chosen from: able to have it, favoured by the rules before, and with a free slot. */
  readonly among: number;
  /** Where two were weighed: peak-EWMA latency × (in flight + 1) ÷ success, in milliseconds; and whom it won over. */
  readonly score?: number;
  readonly over?: string;
  /** The range of versions that a route put it under, and whether the agent's version lies in it. */
  readonly canary?: { readonly version: string; readonly met: boolean };
}
