/** What an engine is given: its store, its surroundings, and whom it tells of what. */

import type { CoreLimits, Duration, Handoff, HandoffEvent, Standing, Time } from "@handfast/core";
import type { RecordsFollowed } from "./follow-records.ts";
import type { EngineLimits } from "./limits.ts";
import type { Store } from "./store.ts";
import type { Surroundings } from "./surroundings.ts";

export interface EngineOptions {
  readonly store: Store;
  readonly surroundings: Surroundings;
  readonly limits?: Partial<EngineLimits>;
  readonly coreLimits?: Partial<CoreLimits>;
  /** How many agents besides this one and those excluded offer what the handoff needs. */
  readonly others: (handoff: Handoff, besides: string) => number;
  /** How an agent stands with a capability: what was measured of it and what it says; absent: all agents are equal. */
  readonly standing?: (namespace: string, agent: string, capability: string, now: Time) => Standing;
  /** Told of every commit: how many units, how long it took. */
  readonly onCommit?: (units: number, took_ms: Duration) => void;
  /** Told of every claim, how long it took until it had work, or was known to have to wait for some. */
  readonly onClaim?: ((took_ms: Duration) => void) | undefined;
  /**
   * Told of every event once it is safe, in the log's order, a handoff's events of one commit at a time, before anybody is
   * answered; `resumed_at` is what they were decided under. Of a commit that failed nothing is told: after `reread`, the
   * log has what became of it.
   *
   * On a shared store: of every node's events, one at a time with its position, as they are met in the log, which may be after
   * somebody was answered. What stood there before `reread` was called is not told, and what came meanwhile may be both told
   * and read: the position tells.
   */
  readonly onEvents?: (events: readonly HandoffEvent[], resumed_at: Time, pos?: number) => void;
  /** A worker that waited for work went away or took its claim back, and waits no more. */
  readonly onWorkerLeft?: (namespace: string, agent: string, worker: string) => void;
  /** Whoever keeps records in memory, where the store is shared: told what other nodes made of them. */
  readonly records?: RecordsFollowed | undefined;
  /** Something failed by a fault of ours; the rest went on. */
  readonly onBug?: (error: unknown) => void;
  /**
   * A commit failed and the store was read anew: whoever keeps records in memory reads them again. Work goes on afterwards. On a
   * shared store also at the start: from then on, what others commit is told.
   */
  readonly reread?: (resumed_at: Time) => Promise<void>;
  /** A commit failed and memory was thrown away; or even that was not possible and the engine has stopped. */
  readonly onRecovery?: (error: unknown, recovered: boolean) => void;
}
