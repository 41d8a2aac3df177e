/** Whether each lease went to an agent that could have it, and to the one that the rules favour. */

import { type Handoff, type HandoffEvent, heldUntil, laneOf, liveLease } from "@handfast/core";
import type { Scenario } from "../scenario/scenario.ts";
import type { Directory } from "../world/directory.ts";
import type { Standings } from "../world/standings.ts";
import type { History } from "./history.ts";
import { ensure } from "./violation.ts";

type Delivered = Extract<HandoffEvent, { type: "delivered" }>;

interface Delivery {
  readonly history: History;
  readonly event: Delivered;
  /** As it was before this commit; undefined: it was accepted in it. */
  readonly before: Handoff | undefined;
}

interface RoutingContext {
  readonly directory: Directory;
  readonly scenario: Scenario;
  /** Whether a worker of this agent waits for work at the relay. */
  readonly isAsking: (agent: string) => boolean;
  readonly openRows: () => Iterable<Handoff>;
}

export class RoutingChecks {
  readonly #context: RoutingContext;
  #deliveries: Delivery[] = [];
  /** Who served the last one of a lane. */
  readonly #served = new Map<string, { readonly agent: string; readonly history: History }>();

  constructor(context: RoutingContext) {
    this.#context = context;
  }

  delivered(history: History, event: Delivered, before: Handoff | undefined): void {
    this.#deliveries.push({ history, event, before });
  }

  /** The whole commit is on disk. Whoever waits now waited when its batch was made. */
  committed(): void {
    const deliveries = this.#deliveries;
    this.#deliveries = [];
    const { standings } = this.#context.directory;
    for (const delivery of deliveries) {
      if (standings !== null && delivery.history.accepted.capability !== null) {
        this.#couldHaveIt(delivery, standings);
        this.#nobodyBetter(delivery, standings);
        this.#staysInItsLane(delivery, standings);
      }
      const lane = laneOf(delivery.history.accepted);
      if (lane !== null) this.#served.set(lane, { agent: delivery.event.agent, history: delivery.history });
    }
  }

  #couldHaveIt({ history, event: { agent, at } }: Delivery, standings: Standings): void {
    const { accepted } = history;
    const { lapsed, max_concurrent } = standings.at(agent, at);
    ensure(!lapsed, "an agent that has lapsed gets nothing", accepted.id, agent);
    ensure(
      standings.isAble(agent, at, accepted),
      "only an agent that can meet its terms gets it",
      accepted.id,
      () => `${agent} as it stood: ${JSON.stringify(standings.at(agent, at))}`,
    );
    if (max_concurrent === null) return;
    let held = 0;
    for (const row of this.#context.openRows()) {
      if (row.accepted.capability === accepted.capability && liveLease(row)?.agent === agent) held += 1;
    }
    ensure(
      held <= max_concurrent,
      "no agent gets more at a time than it takes",
      accepted.id,
      () => `${agent} holds ${held} of ${max_concurrent}`,
    );
  }

  /** A breached or ejected agent gets it only where no other lives that could have it, busy or not. */
  #nobodyBetter({ history, event: { agent, at } }: Delivery, standings: Standings): void {
    if (history.accepted.to !== null || standings.isSound(agent, at) || at >= this.#heldUntil(history)) return;
    const better = this.#context.directory
      .offering(history.accepted.capability)
      .find(({ name }) => name !== agent && this.#isSoundAndThere(name, history, at, standings));
    ensure(
      better === undefined,
      "a breached or ejected agent gets nothing while another lives",
      history.accepted.id,
      () => `${agent} got it while ${better?.name} was there`,
    );
  }

  /** Where the agent that served the lane last is there, nobody else gets the next one, for a while. */
  #staysInItsLane({ history, event: { agent, at }, before }: Delivery, standings: Standings): void {
    const { accepted } = history;
    const lane = accepted.to === null ? laneOf(accepted) : null;
    const last = lane === null ? undefined : this.#served.get(lane);
    if (last === undefined || last.history.purged || at >= this.#heldUntil(history)) return;
    const isTold = [before?.avoid, before?.prefer].some((told) => told != null && at < told.until);
    if (isTold || !this.#isSoundAndThere(last.agent, history, at, standings)) return;
    ensure(
      agent === last.agent,
      "a lane stays with the agent that served it last",
      accepted.id,
      () => `${agent} got it, ${last.agent} served ${last.history.accepted.id}`,
    );
  }

  #heldUntil({ accepted, ready_at }: History): number {
    const { deadline_at, terms } = accepted;
    const waiting = { ready_at, deadline_at, queue_until: ready_at + terms.queue_ms };
    return heldUntil(waiting, this.#context.scenario.coreLimits.sticky_ms);
  }

  #isSoundAndThere(agent: string, { accepted, excluded }: History, at: number, standings: Standings): boolean {
    return (
      !excluded.has(agent) &&
      standings.isSound(agent, at) &&
      standings.isAble(agent, at, accepted) &&
      this.#context.isAsking(agent)
    );
  }
}
