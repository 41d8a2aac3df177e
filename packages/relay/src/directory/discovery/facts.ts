/** What is asked about an agent besides what its manifest says: it changes from moment to moment. */

import type { Capability, CostOpening } from "@handfast/protocol";
import type { LivenessView, ReliabilityView } from "@handfast/protocol/wire";

/** Whoever asks: an agent that offers the same is a rival, and sees no price. */
export interface Asker {
  readonly name: string;
  readonly role: "agent" | "operator";
}

export interface Facts {
  /** State `lapsed`: the registration ran out, and the agent is not found. */
  liveness(agent: string): LivenessView;
  reliability(agent: string, capability: Capability): ReliabilityView;
  /** Null: it has none, or none that the asker may see. */
  cost(agent: string, capability: string, asker: Asker): CostOpening | null;
}
