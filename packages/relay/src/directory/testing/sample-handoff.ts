/** A handoff as the directory sees one, for tests: queued, or leased to an agent under a manifest. */

import type { Handoff, Lease } from "@handfast/core";

interface Sample {
  readonly to?: string;
  readonly capability?: string;
  readonly excluded?: readonly string[];
  readonly lease?: { readonly agent: string; readonly manifest: string | null };
}

export function sampleHandoff({ to, capability, excluded = [], lease }: Sample): Handoff {
  const held: Lease | null =
    lease === undefined
      ? null
      : {
          ...lease,
          fence: 1,
          worker: "w",
          request_id: "r",
          delivered_at: 0,
          acknowledged_at: 0,
          beat_at: 0,
          attempt_until: null,
          attempt_left_ms: 0,
          until_ack: false,
          continued: false,
          unfit: 0,
          unfit_content: null,
        };
  return {
    accepted: {
      namespace: "default",
      id: "01932f6b-7a00-7c3a-9b1e-0123456789ab",
      kind: "handoff",
      from: "planner",
      to: to ?? null,
      capability: capability ?? null,
      idempotency_key: "k",
      content: "",
      digest: "",
      evidence: "attested",
      demands: "any",
      correlation_id: "c",
      causation: null,
      conversation_id: null,
      detached: false,
      hops: 0,
      ordering_key: null,
      priority: 0,
      labels: {},
      input: { media_type: "application/json", size: 0, salt: "", sha256: "" },
      artifacts: [],
      terms: {
        deadline_ms: 1,
        queue_ms: 1,
        ack_ms: 1,
        lease_ms: 1,
        attempt_ms: null,
        max_attempts: 3,
        max_deliveries: 10,
        retry: "attempts",
      },
      budget: null,
      budget_holders: [],
      dead_letter_to: null,
      redrive_of: null,
      redriven_by: null,
      accepted_at: 1_000,
      deadline_at: 2_000,
    },
    version: 1,
    seq: 1,
    fence: 1,
    attempts: 0,
    deliveries: 0,
    status:
      held === null
        ? { state: "queued", ready_at: 0, queue_until: null, blocked: false }
        : { state: "working", lease: held },
    excluded,
    avoid: null,
    prefer: null,
    continues_ms: null,
    failures: [],
    holders: [],
    checkpoint: null,
    questions: [],
    late: [],
    spent: { cost: 0, tokens: 0, handoffs: 0 },
    has_children: false,
    routed: false,
    progress: null,
  };
}
