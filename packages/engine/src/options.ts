/** What an engine is given: its store, its surroundings, and whom it tells of what. */

import type { CoreLimits, Duration, Handoff } from "@handfast/core";
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
  /** Told of every commit: how many units, how long it took. */
  readonly onCommit?: (units: number, took_ms: Duration) => void;
  /** Something failed by a fault of ours; the rest went on. */
  readonly onBug?: (error: unknown) => void;
  /** A commit failed and the store was read anew: whoever keeps records in memory reads them again. Work goes on afterwards. */
  readonly reread?: () => Promise<void>;
  /** A commit failed and memory was thrown away; or even that was not possible and the engine has stopped. */
  readonly onRecovery?: (error: unknown, recovered: boolean) => void;
}
