/** What a capability says of its own reliability. */

import type { Duration } from "@handfast/core";
import type { Capability } from "@handfast/protocol";

/** The share of attempts that it says will succeed; null: it says nothing. */
export function claimOf(capability: Capability): number | null {
  const claim = "reliability_sla" in capability ? capability.reliability_sla : null;
  return typeof claim === "number" ? claim : null;
}

/** The window that its claim is about; undefined: it leaves that to the relay. */
export function windowOf(capability: Capability): Duration | undefined {
  const sla = "sla" in capability ? capability.sla : null;
  const seconds = typeof sla === "object" && sla !== null && "window_seconds" in sla ? sla.window_seconds : null;
  return typeof seconds === "number" ? seconds * 1_000 : undefined;
}
