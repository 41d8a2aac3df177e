/** An entry that may meet a need, with what is known of it now: each fact is asked for once, and only where it matters. */

import type { CostOpening } from "@handfast/protocol";
import type { LivenessView, ReliabilityView } from "@handfast/protocol/wire";
import type { Looked } from "./criterion.ts";
import type { Entry } from "./entry.ts";
import type { Asker, Facts } from "./facts.ts";

/** How long it takes, and who says so. */
export interface Pace {
  readonly ms: number;
  readonly by: "measured" | "claimed" | "timeout";
}

/** A price is shown to the asker alone: not to one that offers the same. */
export type SeenCost =
  | ({ readonly kind: "shown" } & CostOpening)
  | { readonly kind: "sealed" }
  | { readonly kind: "none" };

const unpriced: SeenCost = { kind: "none" };

/** Of fewer, the slowest says little of the slowest five in a hundred. */
const telling_attempts = 20;

export class Candidate {
  readonly entry: Entry;
  /** How well its words fit; 0 where none were asked for. */
  readonly text: number;
  readonly #facts: Facts;
  readonly #asker: Asker;
  #liveness: LivenessView | undefined;
  #reliability: ReliabilityView | undefined;
  #cost: SeenCost | undefined;

  constructor({ entry, text }: Looked, facts: Facts, asker: Asker) {
    this.entry = entry;
    this.text = text;
    this.#facts = facts;
    this.#asker = asker;
  }

  get liveness(): LivenessView {
    this.#liveness ??= this.#facts.liveness(this.entry.provider.name);
    return this.#liveness;
  }

  get reliability(): ReliabilityView {
    this.#reliability ??= this.#facts.reliability(this.entry.provider.name, this.entry.capability);
    return this.#reliability;
  }

  get cost(): SeenCost {
    this.#cost ??= this.#seenCost();
    return this.#cost;
  }

  /** Measured often enough, before claimed, before promised; null: nobody says. */
  get pace(): Pace | null {
    const { latency, timeout_seconds } = this.entry.capability;
    const { attempts, p95_ms: measured } = this.reliability;
    if (measured !== null && Math.round(attempts) >= telling_attempts) return { ms: measured, by: "measured" };
    const claimed = latency?.p95_ms ?? latency?.p50_ms;
    if (claimed !== undefined) return { ms: claimed, by: "claimed" };
    return timeout_seconds === undefined ? null : { ms: timeout_seconds * 1_000, by: "timeout" };
  }

  #seenCost(): SeenCost {
    const { provider, capability } = this.entry;
    if (capability.cost === undefined) return unpriced;
    const opening = this.#facts.cost(provider.name, capability.name, this.#asker);
    return opening === null ? { kind: "sealed" } : { kind: "shown", ...opening };
  }
}
