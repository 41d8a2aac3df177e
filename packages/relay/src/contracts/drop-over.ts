/**
 * Drops what is over of negotiations and contracts: a bounded number at a time, so that nobody waits behind a day's worth, and
 * the next soon after where there may be more, so that they do not come faster than they go.
 */

import type { Surroundings } from "@handfast/engine";
import type { Logger } from "pino";
import type { RelayLimits } from "../limits.ts";

interface Part {
  /** True: there may be more to drop. */
  upkeep(): Promise<boolean>;
}

export function dropOver(
  parts: readonly Part[],
  { collect_every_ms, drop_again_ms }: RelayLimits,
  surroundings: Surroundings,
  log: Logger,
): () => void {
  const stops = parts.map((part) => {
    let is_stopped = false;
    const after = (delay_ms: number) =>
      surroundings.schedule(delay_ms, () => {
        part
          .upkeep()
          .catch((error: unknown) => {
            log.warn(
              { err: error },
              "what is over of negotiations and contracts could not be dropped; that is tried again",
            );
            return false;
          })
          .then((is_more) => {
            if (!is_stopped) cancel = after(is_more ? drop_again_ms : collect_every_ms);
          });
      });
    let cancel = after(collect_every_ms);
    return () => {
      is_stopped = true;
      cancel();
    };
  });
  return () => {
    for (const stop of stops) stop();
  };
}
