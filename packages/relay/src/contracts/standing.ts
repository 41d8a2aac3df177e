/** How a contract stands: over, changed under it, broken too often, or in force. */

import type { Time } from "@handfast/core";
import { type Capability, capabilityDigest } from "@handfast/protocol";
import type { ContractView } from "@handfast/protocol/wire";
import { verdictOf } from "../directory/reliability/wilson.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";
import { type ChangedField, changedFields } from "./changed-fields.ts";
import type { ContractRecord } from "./contract-record.ts";
import { type Counts, intervalOf } from "./fulfilment.ts";

export interface Standing {
  readonly state: ContractView["state"];
  readonly changed: readonly ChangedField[];
}

/** What the provider offers now under the agreed name; null: nothing, or another agent has its name. */
export type OfferedNow = Capability | null;

const digests = new WeakMap<Capability, string>();

/** Of the very object that the directory holds: it is the same from one handoff to the next. */
function offeredDigest(capability: Capability): string {
  const known = digests.get(capability);
  if (known !== undefined) return known;
  const made = capabilityDigest(nodeCrypto, capability);
  digests.set(capability, made);
  return made;
}

export function standingOf(
  { terms, capability, ended }: ContractRecord,
  counts: Counts,
  offered: OfferedNow,
  now: Time,
): Standing {
  if (ended !== null) return { state: "ended", changed: [] };
  if (now >= terms.valid_until) return { state: "expired", changed: [] };
  if (isBreached(terms.min_reliability, counts)) return { state: "breached", changed: [] };
  if (offered !== null && offeredDigest(offered) === terms.offered) return { state: "in_force", changed: [] };
  return { state: "stale", changed: changedFields(capability, offered) };
}

/** As a claim is: the best that the counts leave possible is below what was agreed on, and a few bad moments are no proof. */
function isBreached(min_reliability: number | null, counts: Counts): boolean {
  return verdictOf(intervalOf(counts), counts.fulfilled + counts.breaches, min_reliability) === "breached";
}
