/** From what an asker wants and what a capability says of itself to the terms of an offer. */

import type { Duration, Time } from "@handfast/core";
import {
  type AgreedLimits,
  type Capability,
  type ContractTerms,
  capabilityDigest,
  schemaDigest,
} from "@handfast/protocol";
import type { NegotiationRequest } from "@handfast/protocol/wire";
import type { RelayLimits } from "../limits.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";

export interface Asking {
  readonly relay: string;
  readonly namespace: string;
  readonly asker: string;
  readonly request: NegotiationRequest;
  readonly now: Time;
  readonly limits: RelayLimits;
}

export interface Provider {
  readonly agent_id: string;
  readonly capability: Capability;
  readonly cost: ContractTerms["cost"];
}

export function askedTerms(asking: Asking, { agent_id, capability, cost }: Provider, offer_id: string): ContractTerms {
  const { relay, namespace, asker, request, now, limits } = asking;
  const { input_schema, output_schema, min_reliability, evidence, data_policy, valid_ms } = request;
  return {
    v: 1,
    relay,
    namespace,
    offer: offer_id,
    asker,
    provider: agent_id,
    capability: capability.name,
    offered: capabilityDigest(nodeCrypto, capability),
    limits: limitsFor(request.limits ?? {}, capability, limits),
    input_schema: input_schema === undefined ? null : schemaDigest(nodeCrypto, input_schema),
    output_schema: output_schema === undefined ? null : schemaDigest(nodeCrypto, output_schema),
    min_reliability: min_reliability ?? null,
    evidence: evidence ?? "any",
    data_policy: data_policy ?? null,
    cost,
    valid_until: now + (valid_ms ?? limits.default_contract_ms),
  };
}

function limitsFor(
  asked: NonNullable<NegotiationRequest["limits"]>,
  { timeout_seconds, idempotent, proposes = false }: Capability,
  limits: RelayLimits,
): AgreedLimits {
  const deadline_ms = asked.deadline_ms ?? limits.default_deadline_ms;
  const own_ms = timeout_seconds === undefined ? Number.POSITIVE_INFINITY : timeout_seconds * 1_000;
  const attempt_ms = Math.min(asked.attempt_ms ?? own_ms, own_ms, deadline_ms);
  // Nobody is bound by a manifest to clocks that it never spoke of; whoever is asked may agree to them itself.
  const least = (asked_ms: Duration | undefined, default_ms: Duration) =>
    proposes ? (asked_ms ?? default_ms) : Math.max(asked_ms ?? default_ms, default_ms);
  return {
    deadline_ms,
    queue_ms: Math.min(least(asked.queue_ms, deadline_ms), deadline_ms),
    ack_ms: least(asked.ack_ms, limits.default_ack_ms),
    lease_ms: least(asked.lease_ms, limits.default_lease_ms),
    attempt_ms: Number.isFinite(attempt_ms) ? attempt_ms : deadline_ms,
    max_attempts: asked.max_attempts ?? limits.default_attempts,
    // What must not run twice is promised once.
    retry: idempotent === false ? "until_ack" : (asked.retry ?? "attempts"),
  };
}

/** How long one attempt may take at most by what is asked. */
export function attemptAsked({ limits: asked = {} }: NegotiationRequest, limits: RelayLimits): Duration {
  return Math.min(asked.attempt_ms ?? Number.POSITIVE_INFINITY, asked.deadline_ms ?? limits.default_deadline_ms);
}
