/** Views and events for the tests of what is shown: a handoff of alice's at a fixed time. */

import type { AgentView, HandoffView, QuestionView } from "@handfast/protocol/wire";
import type { Look } from "../look.ts";
import type { StoryEvent } from "../story-event.ts";
import type { Facts } from "../why/facts.ts";

/** Noon of a fixed day. */
export const noon = Date.UTC(2026, 10, 15, 12);
export const sampleId = "019a8b5e-1c00-7000-8000-00000000abcd";
export const otherId = "019a8b5e-1c00-7000-8000-00000000ef01";

const digest = { media_type: "application/json", size: 17, salt: "AAAAAAAAAAAAAAAAAAAAAA", sha256: "0".repeat(64) };

/** Accepted 5 seconds before noon, with the default limits. */
export function sampleView(change: Partial<HandoffView> = {}): HandoffView {
  return {
    id: sampleId,
    kind: "handoff",
    state: "queued",
    code: 202,
    name: "accepted",
    retryable: false,
    from: "alice",
    to: null,
    capability: "upper",
    version_range: null,
    canary: null,
    idempotency_key: sampleId,
    correlation_id: sampleId,
    causation: null,
    conversation_id: null,
    detached: false,
    hops: 0,
    ordering_key: null,
    priority: 0,
    labels: {},
    digest: "1".repeat(64),
    evidence: "signed",
    demands: "any",
    payload: digest,
    artifacts: [],
    limits: {
      deadline_ms: 900_000,
      queue_ms: 900_000,
      ack_ms: 10_000,
      lease_ms: 30_000,
      attempt_ms: null,
      max_attempts: 3,
      max_deliveries: 10,
      retry: "attempts",
    },
    budget: null,
    spent: { cost: 0, tokens: 0, handoffs: 0 },
    dead_letter_to: null,
    redrive_of: null,
    redriven_by: null,
    accepted_at: noon - 5_000,
    deadline_at: noon - 5_000 + 900_000,
    ready_at: noon - 5_000,
    blocked: false,
    queue_until: noon - 5_000 + 900_000,
    ended_at: null,
    taken_at: null,
    version: 1,
    seq: 1,
    fence: 0,
    attempts: 0,
    deliveries: 0,
    lease: null,
    why: null,
    question: null,
    outcome: null,
    late: [],
    dead_letter: null,
    failures: [],
    progress: null,
    checkpoint: null,
    ...change,
  };
}

/** Held by worker w-1 of upper-1 under fence 1: delivered 4 s, acknowledged 3 s, beat 2 s before noon. */
export function heldView(change: Partial<HandoffView> = {}): HandoffView {
  const lease = {
    agent: "upper-1",
    worker: "w-1",
    fence: 1,
    delivered_at: noon - 4_000,
    acknowledged_at: noon - 3_000,
    beat_at: noon - 2_000,
    lease_until: noon + 28_000,
    attempt_until: noon + 297_000,
  };
  return sampleView({
    state: "working",
    code: 211,
    ready_at: null,
    queue_until: null,
    fence: 1,
    attempts: 1,
    lease,
    ...change,
  });
}

/** Ended a minute before noon. */
export function endedView(
  state: HandoffView["state"],
  code: number,
  error: { reason: string; message: string } | null,
  change: Partial<HandoffView> = {},
): HandoffView {
  const isDead = state === "failed" || state === "rejected" || state === "expired";
  return sampleView({
    state,
    code,
    ready_at: null,
    queue_until: null,
    accepted_at: noon - 90_000,
    deadline_at: noon - 60_000,
    ended_at: noon - 60_000,
    attempts: 1,
    outcome: {
      code,
      name: "",
      fence: 1,
      agent: "upper-1",
      worker: "w-1",
      evidence: "signed",
      payload: null,
      artifacts: [],
      error,
      usage: null,
    },
    dead_letter: isDead ? { status: "open" } : null,
    ...change,
  });
}

let pos = 0;

export function sampleEvent(type: string, change: Partial<StoryEvent> = {}): StoryEvent {
  pos += 1;
  return { type, handoff: sampleId, seq: pos, pos, at: noon - 5_000, correlation_id: sampleId, ...change };
}

/** Offers `upper`, with worker w-1 heard of a second before noon. */
export function sampleAgent(change: Partial<AgentView> = {}): AgentView {
  return {
    name: "upper-1",
    identity: null,
    description: null,
    registered_at: noon - 1_000_000,
    capabilities: [{ name: "upper" }],
    manifest: null,
    discovery_endpoint: null,
    liveness: { state: "live", last_seen_at: noon - 1_000, lease_until: noon + 86_399_000, workers: 1 },
    last_seen_at: noon - 1_000,
    workers: [{ worker: "w-1", last_seen_at: noon - 1_000, asking: true }],
    keys: [],
    ...change,
  };
}

export function sampleQuestion(change: Partial<QuestionView> = {}): QuestionView {
  return {
    id: `${sampleId}:colour`,
    handoff: sampleId,
    digest: "1".repeat(64),
    agent: "upper-1",
    from: "alice",
    to: null,
    correlation_id: sampleId,
    state: "waiting",
    code: 213,
    question: "Which colour?",
    asked_at: noon - 2_000,
    answer_by: noon + 60_000,
    open: true,
    resolution: null,
    ...change,
  };
}

export function sampleFacts(change: Partial<Facts> = {}): Facts {
  return {
    now: noon,
    me: "alice",
    events: [],
    agents: [sampleAgent()],
    head: null,
    held: [],
    question: null,
    children: [],
    ...change,
  };
}

/** As of noon, without colours. */
export const plainLook: Look = { style: (_, text) => text, now: noon, full: false, width: 100, edge: null };
