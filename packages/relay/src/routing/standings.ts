/** How an agent stands with a capability, as routing asks: what was measured of it beside what its manifest says. */

import { type Standing, type Time, unmeasured } from "@handfast/core";
import type { Directory } from "../directory/directory.ts";
import { claimOf, windowOf } from "../directory/reliability/claim.ts";
import type { Reliability } from "../directory/reliability/reliability.ts";
import type { RelayLimits } from "../limits.ts";

interface StandingsOptions {
  readonly directory: Pick<Directory, "capability" | "isLapsed" | "offering">;
  readonly reliability: Pick<Reliability, "of" | "standing">;
  readonly limits: Pick<RelayLimits, "newcomer_attempts">;
}

export class Standings {
  private readonly options: StandingsOptions;

  constructor(options: StandingsOptions) {
    this.options = options;
  }

  of(agent: string, capability: string, now: Time): Standing {
    const { directory, reliability, limits } = this.options;
    const offered = directory.capability(agent, capability);
    const claim = offered === undefined ? null : claimOf(offered);
    const window_ms = offered === undefined ? undefined : windowOf(offered);
    const { latency_ms, n, success, ejected_until } = reliability.standing(
      agent,
      capability,
      now,
      directory.offering(capability),
    );
    const newcomer = n < limits.newcomer_attempts;
    const { p50_ms, status } = reliability.of(agent, capability, now, claim, window_ms);
    const claimed_ms = offered?.latency?.p50_ms ?? null;
    return {
      latency_ms: latency_ms ?? claimed_ms ?? unmeasured.latency_ms,
      // Of a few attempts half may have been slow by chance: until there are more, its own word counts.
      p50_ms: (newcomer ? null : p50_ms) ?? claimed_ms,
      success,
      breached: status === "breached",
      ejected: ejected_until !== null,
      lapsed: directory.isLapsed(agent),
      newcomer,
      version: offered?.version ?? null,
      max_concurrent: offered?.max_concurrent ?? null,
    };
  }
}
