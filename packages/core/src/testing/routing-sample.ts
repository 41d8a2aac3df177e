/** For tests: what is ready, who serves it and how they stand, with as little said as possible. */

import { isInRange } from "../../../protocol/src/manifest/version-range.ts";
import type { Ready } from "../choose.ts";
import { coreLimits } from "../limits.ts";
import { type Routing, type Standing, type Tie, unmeasured } from "../routing.ts";
import { start } from "./sample.ts";

/** Work for `summarize` that became ready just now. */
export function readyItem(id: string, patch: Partial<Ready> = {}): Ready {
  return {
    id,
    queue: "capability:summarize",
    rank: start,
    excluded: [],
    avoid: null,
    prefer: null,
    capability: "summarize",
    ready_at: start,
    deadline_at: start + 15 * 60_000,
    queue_until: start + 15 * 60_000,
    version_range: null,
    canary: null,
    from: "alice",
    lane: null,
    conversation_id: null,
    ...patch,
  };
}

/** What is known of each agent for each capability, and what is drawn, as plain data. */
export interface RoutingData {
  readonly standings: readonly ({
    readonly agent: string;
    readonly capability: string;
    readonly in_flight: number;
  } & Standing)[];
  /** Who served the last handoff of a lane (`sticky_order`) or conversation; `from`: the last that this agent sent. */
  readonly served: readonly {
    readonly kind: Tie["kind"];
    readonly of: string;
    readonly agent: string;
    readonly from?: string | null;
  }[];
  /** Numbers in [0, 1), drawn in this order, then from the first again. */
  readonly draws: readonly number[];
  readonly newcomer_share: number;
  readonly sticky_ms: number;
}

export function routingOf(data: RoutingData): Routing {
  const of = (agent: string, capability: string) =>
    data.standings.find((one) => one.agent === agent && one.capability === capability);
  let drawn = 0;
  return {
    standing: (agent, capability) => of(agent, capability) ?? unmeasured,
    inFlight: (agent, capability) => of(agent, capability)?.in_flight ?? 0,
    inRange: (version, range) => isInRange(version ?? undefined, range),
    served: (tie) => {
      const [name, sender] = tie.kind === "sticky_order" ? [tie.lane, null] : [tie.conversation_id, tie.from];
      const isIt = ({ kind, of: known, from = null }: RoutingData["served"][number]) =>
        kind === tie.kind && known === name && from === sender;
      return data.served.find(isIt)?.agent ?? null;
    },
    draw: () => {
      const number = data.draws[drawn % data.draws.length] ?? 0;
      drawn += 1;
      return number;
    },
    newcomer_share: data.newcomer_share,
    sticky_ms: data.sticky_ms,
  };
}

/** An agent that is well known, with 100 ms, and has nothing to do. */
export function standing(
  agent: string,
  patch: Partial<RoutingData["standings"][number]> = {},
): RoutingData["standings"][number] {
  const known = { latency_ms: 100, success: 1, newcomer: false };
  return { agent, capability: "summarize", in_flight: 0, ...unmeasured, ...known, ...patch };
}

export function routingData(
  standings: RoutingData["standings"],
  patch: Partial<Omit<RoutingData, "standings">> = {},
): RoutingData {
  const { newcomer_share, sticky_ms } = coreLimits;
  return { standings, served: [], draws: [0.5], newcomer_share, sticky_ms, ...patch };
}
