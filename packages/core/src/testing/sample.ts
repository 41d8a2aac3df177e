/** For tests: a handoff, and everything around it, with as little said as possible. */

import type { Context, Draft } from "../command.ts";
import type { Handoff, HandoffError, Payload, Terms, Time } from "../handoff.ts";
import { coreLimits } from "../limits.ts";

/** When every sample begins. */
export const start: Time = 1_800_000_000_000;

/** The n-th id made at a time: a UUIDv7 with nothing random in it. */
export function idOf(n: number, time: Time = start): string {
  const hex = time.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${n.toString(16).padStart(12, "0")}`;
}

export function digestOf(what: string): string {
  return `sha256:${what}`;
}

export function payload(what: string): Payload {
  return { media_type: "application/json", size: 2, salt: "salt", sha256: digestOf(what) };
}

export const trouble: HandoffError = { reason: "model_overloaded", message: "the model did not answer" };

export const terms: Terms = {
  deadline_ms: 15 * 60_000,
  queue_ms: 15 * 60_000,
  ack_ms: 10_000,
  lease_ms: 30_000,
  attempt_ms: null,
  max_attempts: 3,
  max_deliveries: 10,
  retry: "attempts",
};

export type DraftPatch = Omit<Partial<Draft>, "terms"> & { readonly terms?: Partial<Terms> };

/** A handoff from `alice` for the capability `summarize`. */
export function draft({ terms: patchedTerms, ...patch }: DraftPatch = {}): Draft {
  const id = patch.id ?? idOf(1);
  return {
    namespace: "default",
    id,
    kind: "handoff",
    from: "alice",
    to: null,
    capability: patch.to == null ? "summarize" : null,
    idempotency_key: id,
    content: digestOf("content"),
    digest: digestOf(`document ${id}`),
    evidence: "signed",
    demands: "any",
    correlation_id: null,
    causation: null,
    conversation_id: null,
    detached: false,
    ordering_key: null,
    priority: 0,
    labels: {},
    input: payload("input"),
    artifacts: [],
    budget: null,
    dead_letter_to: null,
    redrive_of: null,
    redriven_by: null,
    ...patch,
    terms: { ...terms, ...patchedTerms },
  };
}

export type ContextPatch = Partial<Context>;

/** Nothing known besides, one other agent that could take it, and jitter in the middle. */
export function context(patch: ContextPatch = {}): Context {
  return {
    limits: coreLimits,
    resumed_at: start - 3_600_000,
    random: 0.5,
    known: null,
    parent: null,
    budgets: [],
    lane_busy: false,
    sender_open: 0,
    id_used: false,
    target: { kind: "fits", except: [] },
    others: 1,
    ...patch,
  };
}

/** A child of `parent`, sent by whoever holds it now. */
export function childDraft(parent: Handoff, patch: DraftPatch = {}): Draft {
  const holder = parent.holders.at(-1);
  return draft({
    id: idOf(2),
    from: holder?.agent ?? "nobody",
    causation: { id: parent.accepted.id, fence: parent.fence },
    ...patch,
  });
}
