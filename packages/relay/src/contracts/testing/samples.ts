/** For tests of the tables: records with as little said as possible. */

import type { ContractTerms } from "@handfast/protocol";
import type { ContractRecord, NegotiationRecord } from "../contract-record.ts";

function terms(asker: string, offer: string): ContractTerms {
  return {
    v: 1,
    relay: "http://relay.test",
    namespace: "default",
    offer,
    asker,
    provider: "provider",
    capability: "upper",
    offered: "0".repeat(64),
    limits: {
      deadline_ms: 60_000,
      queue_ms: 60_000,
      ack_ms: 10_000,
      lease_ms: 30_000,
      attempt_ms: 60_000,
      max_attempts: 3,
      retry: "attempts",
    },
    input_schema: null,
    output_schema: null,
    min_reliability: null,
    evidence: "any",
    data_policy: null,
    cost: null,
    valid_until: 1_000_000,
  };
}

export function sampleContract(asker: string, offer: string): ContractRecord {
  return {
    terms: terms(asker, offer),
    agreed_at: 1,
    asker_since: 0,
    provider_since: 0,
    capability: { name: "upper" },
    schemas: {},
    asker_said: { document: "{}", proof: null },
    proposal: null,
    cost_salt: null,
    manifest: "m",
    manifest_bytes: 0,
    ended: null,
  };
}

/** Over at 1,000. */
export function sampleNegotiation(asker: string): NegotiationRecord {
  return {
    asker,
    asker_since: 0,
    content: "",
    schemas: {},
    max_cost: null,
    asked_at: 0,
    reply_by: 0,
    offers: [],
    calls: [],
    declined: [],
    near: [],
    over_at: 1_000,
  };
}
