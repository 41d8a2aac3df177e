/** What `choose` is told of the agents in one namespace while a batch is made: each looked at once. */

import {
  type CoreLimits,
  type Handoff,
  heldUntil,
  type Ready,
  type Routing,
  type Standing,
  type Time,
} from "@handfast/core";
import { isInRange } from "@handfast/protocol";
import type { LiveLeases } from "./live-leases.ts";
import { Names } from "./names.ts";
import type { Served } from "./served.ts";

export interface RouterOptions {
  /** How an agent stands with a capability. */
  readonly standing: (namespace: string, agent: string, capability: string, now: Time) => Standing;
  readonly leases: LiveLeases;
  readonly served: Served;
  readonly random: () => number;
  readonly limits: Pick<CoreLimits, "newcomer_share" | "sticky_ms">;
}

export class Router {
  readonly #options: RouterOptions;

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  /** `changes`: what the batch changed so far, at whatever moment it is asked. */
  look(namespace: string, now: Time, changes: () => Iterable<Handoff>): Look {
    return new Look(this.#options, namespace, now, changes);
  }
}

/** A prefix that only queues of capabilities have. */
const capability_queue = "capability:";

/** One look at how things stand, for one batch. */
export class Look {
  readonly #options: RouterOptions;
  readonly #namespace: string;
  readonly #now: Time;
  readonly #changes: () => Iterable<Handoff>;
  readonly #standings = new Names<Standing>();
  readonly #inRange = new Names<boolean>();

  constructor(options: RouterOptions, namespace: string, now: Time, changes: () => Iterable<Handoff>) {
    this.#options = options;
    this.#namespace = namespace;
    this.#now = now;
    this.#changes = changes;
  }

  /** As things stand at this moment: what the batch has given out since is counted. */
  routing(): Routing {
    const { leases, served, random, limits } = this.#options;
    const namespace = this.#namespace;
    return {
      standing: (agent, capability) => this.#standing(agent, capability),
      inFlight: leases.counter(namespace, this.#changes),
      inRange: (version, range) => this.#isInRange(version, range),
      served: (tie) => served.by(namespace, tie),
      draw: random,
      newcomer_share: limits.newcomer_share,
      sticky_ms: limits.sticky_ms,
    };
  }

  /** Whether nothing of this queue can go to the agent now, whatever else there is. */
  isBarred(agent: string, queue: string, inFlight: Routing["inFlight"]): boolean {
    const capability = capabilityOf(queue);
    if (capability === null) return false;
    const { lapsed, max_concurrent } = this.#standing(agent, capability);
    return lapsed || (max_concurrent !== null && inFlight(agent, capability) >= max_concurrent);
  }

  /** Whether it gets work of this queue only where no other agent lives that could have it. */
  isUnsound(agent: string, queue: string): boolean {
    const capability = capabilityOf(queue);
    if (capability === null) return false;
    const { breached, ejected } = this.#standing(agent, capability);
    return breached || ejected;
  }

  /** Finds out who served the lanes and conversations of these, where that still matters. */
  async lookUp(ready: readonly Ready[], isContested: (queue: string) => boolean): Promise<void> {
    const { served, limits } = this.#options;
    const tied = ready.filter(
      (item) =>
        (item.lane !== null || item.conversation_id !== null) &&
        this.#now < heldUntil(item, limits.sticky_ms) &&
        isContested(item.queue),
    );
    if (tied.length > 0) await served.lookUp(this.#namespace, tied);
  }

  #standing(agent: string, capability: string): Standing {
    const known = this.#standings.get(capability, agent);
    if (known !== undefined) return known;
    const standing = this.#options.standing(this.#namespace, agent, capability, this.#now);
    this.#standings.set(capability, agent, standing);
    return standing;
  }

  #isInRange(version: string | null, range: string): boolean {
    const known = this.#inRange.get(range, version ?? "");
    if (known !== undefined) return known;
    const is = isInRange(version ?? undefined, range);
    this.#inRange.set(range, version ?? "", is);
    return is;
  }
}

function capabilityOf(queue: string): string | null {
  return queue.startsWith(capability_queue) ? queue.slice(capability_queue.length) : null;
}
