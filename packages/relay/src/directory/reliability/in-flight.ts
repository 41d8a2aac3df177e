/** The attempts that run now, as the events tell: as many as there are leases. */

import type { Handoff, HandoffEvent } from "@handfast/core";
import { Passing } from "@handfast/engine";
import { type Attempt, attemptOf } from "./attempt.ts";

/** How much of one capability an agent has in hand. */
interface Load {
  attempts: number;
}

interface Running extends Attempt {
  readonly load: Load;
}

/** Loads of nothing stay, since most agents get more at once; beyond so many they are looked through. */
const loads_kept = 10_000;

export class InFlight {
  /** By handoff: it has one lease at most. */
  readonly #running = new Passing<string, Running>();
  readonly #loads = new Map<string, Map<string, Load>>();
  #loads_size = 0;
  #loads_most = loads_kept;

  of(agent: string, capability: string): number {
    return this.#loads.get(capability)?.get(agent)?.attempts ?? 0;
  }

  get(handoff: string): Attempt | undefined {
    return this.#running.get(handoff);
  }

  /** Whether the event is about an attempt that is not known here. */
  lacks(event: HandoffEvent): boolean {
    switch (event.type) {
      case "acknowledged":
      case "asked":
      case "answered":
      case "unanswered":
      case "parked":
        break;
      case "requeued":
      case "completed":
      case "failed":
      case "rejected":
      case "canceled":
      case "expired":
        if (event.agent === null) return false;
        break;
      default:
        return false;
    }
    return event.capability !== null && !this.#running.has(event.handoff);
  }

  /** What the store says of an open handoff, where no event has told more. */
  recall(handoff: Handoff): void {
    const { id } = handoff.accepted;
    const attempt = attemptOf(handoff);
    if (attempt === null || this.#running.has(id)) return;
    this.#running.set(id, { ...attempt, load: this.#loadOne(attempt.agent, attempt.capability) });
  }

  follow(event: HandoffEvent): void {
    switch (event.type) {
      case "delivered": {
        const { handoff, agent, capability, fence, at } = event;
        if (capability === null) return;
        this.#end(handoff);
        this.#running.set(handoff, {
          agent,
          capability,
          fence,
          delivered_at: at,
          acknowledged_at: null,
          waiting_since: null,
          waited_ms: 0,
          load: this.#loadOne(agent, capability),
        });
        return;
      }
      case "acknowledged": {
        const attempt = this.get(event.handoff);
        if (attempt?.fence === event.fence) attempt.acknowledged_at = event.at;
        return;
      }
      case "asked": {
        const attempt = this.get(event.handoff);
        if (event.parked) this.#end(event.handoff);
        else if (attempt !== undefined) attempt.waiting_since = event.at;
        return;
      }
      case "answered":
      case "unanswered": {
        const attempt = this.get(event.handoff);
        if (attempt === undefined || attempt.waiting_since === null) return;
        attempt.waited_ms += event.at - attempt.waiting_since;
        attempt.waiting_since = null;
        return;
      }
      case "parked":
      case "requeued":
      case "completed":
      case "failed":
      case "rejected":
      case "canceled":
      case "expired":
        this.#end(event.handoff);
        return;
      default:
        return;
    }
  }

  #end(handoff: string): void {
    const running = this.#running.get(handoff);
    if (running === undefined) return;
    running.load.attempts -= 1;
    this.#running.delete(handoff);
  }

  #loadOne(agent: string, capability: string): Load {
    const load = this.#loads.get(capability)?.get(agent) ?? this.#newLoad(agent, capability);
    load.attempts += 1;
    return load;
  }

  #newLoad(agent: string, capability: string): Load {
    if (this.#loads_size >= this.#loads_most) this.#forgetIdle();
    const ofCapability = this.#loads.get(capability) ?? new Map<string, Load>();
    this.#loads.set(capability, ofCapability);
    const load = { attempts: 0 };
    ofCapability.set(agent, load);
    this.#loads_size += 1;
    return load;
  }

  #forgetIdle(): void {
    for (const [capability, ofCapability] of this.#loads) {
      for (const [agent, { attempts }] of ofCapability) {
        if (attempts > 0) continue;
        ofCapability.delete(agent);
        this.#loads_size -= 1;
      }
      if (ofCapability.size === 0) this.#loads.delete(capability);
    }
    this.#loads_most = Math.max(loads_kept, 2 * this.#loads_size);
  }
}
