/** Mistakes of routing: each tells `choose` something else than what is known. */

import type { Routing, Standing } from "@handfast/core";
import type { Mistake } from "./mistake.ts";

/** Choosing by something else than what is known of an agent. */
function standing(wrong: (known: Standing) => Partial<Standing>): Mistake {
  return routed((routing) => ({
    standing: (agent, capability) => {
      const known = routing.standing(agent, capability);
      return { ...known, ...wrong(known) };
    },
  }));
}

function routed(wrong: (routing: Routing) => Partial<Routing>): Mistake {
  return {
    core: ({ choose }) => ({
      choose: (ready, workers, now, routing = null) =>
        choose(ready, workers, now, routing === null ? null : { ...routing, ...wrong(routing) }),
    }),
  };
}

export const breachIgnored = standing(() => ({ breached: false, ejected: false }));

export const lapseIgnored = standing(() => ({ lapsed: false }));

export const limitIgnored = standing(() => ({ max_concurrent: null }));

export const versionIgnored = routed(() => ({ inRange: () => true }));

export const laneWanders = routed(() => ({ served: () => null }));
