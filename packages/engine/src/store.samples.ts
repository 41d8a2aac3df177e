/**
 * Sample writes for the tests of stores: handoffs built by hand, so that a store can be put into any state without the
 * rules of core. Times, ids and places in the order are the test's own.
 */

import type {
  Accepted,
  EndState,
  EventBody,
  Findable,
  Handoff,
  HandoffEvent,
  Lease,
  Outcome,
  Payload,
  Time,
} from "@handfast/core";
import type { Body, LogEntry, RecordWrite, Unit, Write } from "./store.ts";

export const startOfTime: Time = 1_800_000_000_000;

const input: Payload = { media_type: "application/json", size: 2, salt: "c2FsdA", sha256: "0".repeat(64) };

const terms: Accepted["terms"] = {
  deadline_ms: 900_000,
  queue_ms: 900_000,
  ack_ms: 10_000,
  lease_ms: 30_000,
  attempt_ms: null,
  max_attempts: 3,
  max_deliveries: 10,
  retry: "attempts",
};

/** A handoff just accepted: queued, to `capability:research` unless told otherwise. */
export function sampleHandoff(id: string, accepted: Partial<Accepted> = {}): Handoff {
  const accepted_at = accepted.accepted_at ?? startOfTime;
  return {
    accepted: {
      namespace: "default",
      id,
      kind: "handoff",
      from: "alice",
      to: null,
      capability: accepted.to === undefined || accepted.to === null ? "research" : null,
      idempotency_key: id,
      content: `content-of-${id}`,
      digest: `digest-of-${id}`,
      evidence: "signed",
      demands: "any",
      correlation_id: id,
      causation: null,
      conversation_id: null,
      detached: false,
      hops: 0,
      ordering_key: null,
      priority: 0,
      labels: {},
      input,
      artifacts: [],
      terms,
      budget: null,
      budget_holders: [],
      dead_letter_to: null,
      redrive_of: null,
      redriven_by: null,
      accepted_at,
      deadline_at: accepted_at + terms.deadline_ms,
      ...accepted,
    },
    version: 1,
    seq: 1,
    fence: 0,
    attempts: 0,
    deliveries: 0,
    status: { state: "queued", ready_at: accepted_at, queue_until: accepted_at + terms.queue_ms, blocked: false },
    excluded: [],
    avoid: null,
    prefer: null,
    continues_ms: null,
    failures: [],
    checkpoint: null,
    questions: [],
    holders: [],
    late: [],
    spent: { cost: 0, tokens: 0, handoffs: 0 },
    has_children: false,
    routed: false,
    progress: null,
  };
}

/** What it is found by, unless told otherwise, while it is queued. */
export function sampleFind(handoff: Handoff, find: Partial<Findable> = {}): Findable {
  const { accepted } = handoff;
  return {
    open: true,
    queue: accepted.to === null ? `capability:${accepted.capability}` : `agent:${accepted.to}`,
    rank: accepted.accepted_at,
    wake_at: accepted.deadline_at,
    lane: accepted.ordering_key,
    holder: null,
    last_agent: null,
    untaken: false,
    dead_letter: null,
    question_to: null,
    ...find,
  };
}

export function sampleEvent(handoff: Handoff, at: Time, body: EventBody): HandoffEvent {
  const { accepted } = handoff;
  return {
    ...body,
    namespace: accepted.namespace,
    handoff: accepted.id,
    seq: handoff.seq,
    at,
    correlation_id: accepted.correlation_id,
    causation_id: accepted.causation?.id ?? null,
    from: accepted.from,
    to_agent: accepted.to,
    capability: accepted.capability,
  };
}

type Extras = Partial<Pick<Write, "bodies" | "artifacts">> & { readonly find?: Partial<Findable>; readonly at?: Time };

function sampleWrite(expected_version: number, next: Handoff, find: Findable, event: EventBody, extras: Extras): Write {
  const at = extras.at ?? next.accepted.accepted_at;
  return {
    expected_version,
    next,
    find,
    events: [sampleEvent(next, at, event)],
    bodies: extras.bodies ?? [],
    artifacts: extras.artifacts ?? [],
    purge: null,
  };
}

export function accept(handoff: Handoff, extras: Extras = {}): Write {
  const { digest, evidence } = handoff.accepted;
  const event: EventBody = { type: "accepted", code: 202, digest, evidence, input };
  return sampleWrite(0, handoff, sampleFind(handoff, extras.find), event, extras);
}

/** The handoff one version on. */
export function changed(handoff: Handoff, change: Partial<Handoff> = {}): Handoff {
  return { ...handoff, version: handoff.version + 1, seq: handoff.seq + 1, ...change };
}

/** Any change, told as an answered question: the store does not look into events. */
export function change(handoff: Handoff, by: Partial<Handoff> = {}, extras: Extras = {}): Write {
  const next = changed(handoff, by);
  return sampleWrite(handoff.version, next, sampleFind(next, extras.find), { type: "unblocked" }, extras);
}

export function deliver(handoff: Handoff, agent = "bob", worker = "bob-1", extras: Extras = {}): Write {
  const at = extras.at ?? handoff.accepted.accepted_at;
  const lease: Lease = {
    fence: handoff.fence + 1,
    agent,
    worker,
    request_id: "request-1",
    manifest: null,
    delivered_at: at,
    acknowledged_at: null,
    beat_at: at,
    attempt_until: null,
    attempt_left_ms: 300_000,
    until_ack: false,
    continued: false,
    unfit: 0,
    unfit_content: null,
  };
  const why = { rule: "only", among: 1 } as const;
  const next = changed(handoff, { fence: lease.fence, why, status: { state: "delivered", lease } });
  const find = sampleFind(next, {
    queue: null,
    wake_at: at + terms.ack_ms,
    holder: { agent, worker },
    last_agent: agent,
    ...extras.find,
  });
  const event: EventBody = { type: "delivered", code: 210, agent, worker, fence: lease.fence, why };
  return sampleWrite(handoff.version, next, find, event, extras);
}

export function acknowledge(handoff: Handoff, extras: Extras = {}): Write {
  const { status } = handoff;
  if (status.state !== "delivered") throw new Error(`sample ${handoff.accepted.id} is ${status.state}, not delivered`);
  const at = extras.at ?? handoff.accepted.accepted_at;
  const { agent, worker, fence } = status.lease;
  const lease: Lease = { ...status.lease, acknowledged_at: at, attempt_until: at + 300_000 };
  const next = changed(handoff, { attempts: handoff.attempts + 1, status: { state: "working", lease } });
  const find = sampleFind(next, {
    queue: null,
    wake_at: at + terms.lease_ms,
    holder: { agent, worker },
    last_agent: agent,
    ...extras.find,
  });
  const event: EventBody = { type: "acknowledged", code: 211, agent, worker, fence, attempt: 1, evidence: "signed" };
  return sampleWrite(handoff.version, next, find, event, extras);
}

export function end(handoff: Handoff, state: EndState, code: number, extras: Extras = {}): Write {
  const at = extras.at ?? handoff.accepted.accepted_at;
  const agent = handoff.fence > 0 ? "bob" : null;
  const outcome: Outcome = {
    code,
    fence: handoff.fence > 0 ? handoff.fence : null,
    agent,
    worker: agent === null ? null : "bob-1",
    evidence: "signed",
    content: `outcome-of-${handoff.accepted.id}`,
    output: null,
    artifacts: [],
    error: null,
    usage: null,
  };
  const dead = state === "failed" || state === "rejected" || state === "expired";
  const next = changed(handoff, {
    status: {
      state,
      ended_at: at,
      outcome,
      taken_at: null,
      dead_letter: dead ? { status: "open" } : null,
      chores: { children: false, route: false },
    },
  });
  const find = sampleFind(next, {
    open: false,
    queue: null,
    lane: null,
    wake_at: at + 30 * 86_400_000,
    last_agent: agent,
    untaken: true,
    dead_letter: dead ? "open" : null,
    ...extras.find,
  });
  const { evidence, output, error, usage, fence, worker } = outcome;
  const event: EventBody = { type: state, code, agent, worker, fence, by: null, evidence, output, error, usage };
  return sampleWrite(handoff.version, next, find, event, extras);
}

export function take(handoff: Handoff, extras: Extras = {}): Write {
  const { status } = handoff;
  if (!("taken_at" in status)) throw new Error(`sample ${handoff.accepted.id} is ${status.state}, not ended`);
  const at = extras.at ?? handoff.accepted.accepted_at;
  const next = changed(handoff, { status: { ...status, taken_at: at } });
  const find = sampleFind(next, {
    open: false,
    queue: null,
    lane: null,
    wake_at: at + 7 * 86_400_000,
    last_agent: status.outcome.agent,
    ...extras.find,
  });
  return sampleWrite(handoff.version, next, find, { type: "taken", by: handoff.accepted.from }, extras);
}

export function purge(handoff: Handoff, key_until: Time, extras: Extras = {}): Write {
  const next = changed(handoff);
  const event: EventBody = { type: "purged", digest: handoff.accepted.digest };
  return {
    ...sampleWrite(handoff.version, next, sampleFind(next, { open: false, queue: null, wake_at: null }), event, extras),
    purge: { key_until },
  };
}

export function sampleBody(kind: Body["kind"], number: number, content = `${kind} ${number}`): Body {
  return {
    kind,
    number,
    document: `{"typ":"${content}"}`,
    proof: '{"sig":"c2ln"}',
    payload: new TextEncoder().encode(content),
  };
}

export function unit(...writes: readonly Write[]): Unit {
  return { writes, records: [] };
}

/** An entry of the log that is of no handoff. */
export function sampleEntry(by: string, agents: readonly string[], at: Time, namespace = "default"): LogEntry {
  return { namespace, type: "looked", at, by, agents, capability: "research" };
}

export function entryUnit(...entries: readonly LogEntry[]): Unit {
  return { writes: [], records: [], entries };
}

export function recordUnit(...records: readonly RecordWrite[]): Unit {
  return { writes: [], records };
}
