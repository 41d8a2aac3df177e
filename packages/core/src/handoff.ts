/**
 * The record of one handoff: what was fixed when it was accepted, and what changes while it lives.
 *
 * States: queued → delivered → working ⇄ waiting → completed | failed | rejected | canceled | expired.
 * Records are plain data in the wire's own spelling, so that the log, the stores and the test vectors show the same thing.
 */

import type { Why } from "./why.ts";

/** Milliseconds since the Unix epoch, by the relay's clock, which never goes back. */
export type Time = number;
/** A duration in milliseconds. */
export type Duration = number;

/** How an act was proven: by its author's signature, by an authenticated call, or by the relay itself. */
export type Evidence = "signed" | "attested" | "relay";

export interface Payload {
  readonly media_type: string;
  readonly size: number;
  readonly salt: string;
  readonly sha256: string;
}

export interface Usage {
  readonly cost: number;
  readonly tokens: number;
}

export interface Spent extends Usage {
  readonly handoffs: number;
}

export interface Budget {
  readonly cost: number | null;
  readonly tokens: number | null;
  readonly handoffs: number | null;
}

/** The five clocks and the counts, as durations; absolute times are fixed at accept. */
export interface Terms {
  readonly deadline_ms: Duration;
  readonly queue_ms: Duration;
  readonly ack_ms: Duration;
  readonly lease_ms: Duration;
  /** The sender's own limit for one attempt; null leaves it to the agent's manifest. */
  readonly attempt_ms: Duration | null;
  readonly max_attempts: number;
  readonly max_deliveries: number;
  /** `until_ack`: once acknowledged, a lost lease is a dead letter, never a second attempt. */
  readonly retry: "attempts" | "until_ack";
}

/** In millionths of the namespace's unit of account. */
export interface Price {
  readonly amount: number;
  readonly per: "handoff" | "thousand_tokens";
}

/** The contract that a handoff was given under. */
export interface UnderContract {
  readonly id: string;
  /** Null: none was agreed on. */
  readonly price: Price | null;
  /** Its clocks and counts are all that the contract gives, and what its provider spoke of: what it then misses, that missed. */
  readonly in_full: boolean;
  /** Its sender asked for fewer attempts than the contract gives: what then fails might not have, in the end. */
  readonly fewer_attempts?: true;
  /** The provider said what input it takes, and this is such: it cannot be at fault. */
  readonly input_fits?: true;
  /** How many of the capability the provider takes at a time, as agreed on; absent: it set no limit. */
  readonly max_concurrent?: number;
}

/** What was charged of the cost that a handoff's own outcomes reported, under an agreed price. */
export interface Billed extends Usage {
  /** More was reported than was agreed on. */
  readonly over: boolean;
}

/** What is fixed when a handoff is accepted and never changes. */
export interface Accepted {
  readonly namespace: string;
  readonly id: string;
  readonly kind: "handoff" | "notice";
  readonly from: string;
  readonly to: string | null;
  readonly capability: string | null;
  /** The range of versions of the capability that its sender asks for; absent: any. */
  readonly version_range?: string;
  /** The range of versions that a route put it under when it was accepted; absent: none. */
  readonly canary?: string;
  readonly idempotency_key: string;
  /** Digest of what makes two submits the same: target, input, expects, ordering key, contract, time limits. */
  readonly content: string;
  /** Digest of the handoff's document: what acks and outcomes bind. */
  readonly digest: string;
  readonly evidence: Evidence;
  /** Which evidence the sender demands of acks and outcomes. */
  readonly demands: "signed" | "any";
  readonly correlation_id: string;
  readonly causation: { readonly id: string; readonly fence: number } | null;
  readonly conversation_id: string | null;
  readonly detached: boolean;
  readonly hops: number;
  readonly ordering_key: string | null;
  readonly priority: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly input: Payload;
  readonly artifacts: readonly string[];
  readonly terms: Terms;
  readonly budget: Budget | null;
  /** Handoffs above this one (nearest first) whose budgets its use is charged to. */
  readonly budget_holders: readonly string[];
  /** Its budget was cut to what is left above, which tells what was charged for these capabilities; absent: it tells nothing. */
  readonly budget_tells?: readonly string[];
  readonly dead_letter_to: string | null;
  readonly redrive_of: string | null;
  readonly redriven_by: string | null;
  /** Absent: the defaults apply. */
  readonly contract?: UnderContract;
  readonly accepted_at: Time;
  readonly deadline_at: Time;
}

/** One delivery to one worker, under a fence. */
export interface Lease {
  readonly fence: number;
  readonly agent: string;
  readonly worker: string;
  readonly request_id: string;
  readonly manifest: string | null;
  readonly delivered_at: Time;
  readonly acknowledged_at: Time | null;
  readonly beat_at: Time;
  /** The attempt clock: fixed at the ack, null while it stands still (unacknowledged, waiting). */
  readonly attempt_until: Time | null;
  /** What the attempt clock has left while it stands still. */
  readonly attempt_left_ms: Duration;
  /** How long an attempt may take by the agent's own word, else by default; absent on leases from before this was kept. */
  readonly promised_ms?: Duration;
  readonly until_ack: boolean;
  /** Its ack went on with an attempt that was already counted. */
  readonly continued: boolean;
  /** How often this lease gave output that does not fit. */
  readonly unfit: number;
  /** Digest of the last of them: the same again is answered alike and not counted. */
  readonly unfit_content: string | null;
  /** The last of them was what the agent offers, and not what the sender expects; absent: it was not, or there was none. */
  readonly unfit_beyond?: boolean;
}

export interface Question {
  readonly id: string;
  readonly fence: number;
  readonly agent: string;
  readonly asked_at: Time;
  readonly answer_by: Time;
  /** A capability whose agents may answer (a human desk); null: the sender. */
  readonly to: string | null;
  /** Only under a contract: it demands more of its answer than the questions that were agreed on. */
  readonly beyond_agreed?: true;
  /** Only under a contract: when the asker first answered it with something that does not fit its schema. */
  readonly refused_at?: Time;
  readonly resolution: Resolution | null;
}

export type Resolution =
  | {
      readonly kind: "answered";
      readonly by: string;
      readonly at: Time;
      readonly content: string;
      readonly evidence: Evidence;
    }
  | { readonly kind: "unanswered"; readonly at: Time };

export interface HandoffError {
  readonly reason: string;
  readonly message: string;
}

/** One attempt or delivery that came to nothing, told to the next attempt. */
export interface Failure {
  readonly fence: number;
  readonly agent: string;
  readonly worker: string;
  readonly at: Time;
  readonly code: number;
  /** Digest of what the worker said; null where it said nothing. */
  readonly content: string | null;
  readonly error: HandoffError;
}

export interface Outcome {
  readonly code: number;
  readonly fence: number | null;
  readonly agent: string | null;
  readonly worker: string | null;
  readonly evidence: Evidence;
  /** Digest of status, output and error: equal content is a repeat, other content a conflict. */
  readonly content: string;
  readonly output: Payload | null;
  readonly artifacts: readonly string[];
  readonly error: HandoffError | null;
  readonly usage: Usage | null;
}

export interface LateOutcome {
  readonly at: Time;
  readonly state: "completed" | "failed" | "rejected";
  readonly outcome: Outcome;
}

export type DeadLetter =
  | { readonly status: "open" }
  | { readonly status: "redriven"; readonly id: string; readonly by: string; readonly at: Time }
  | { readonly status: "discarded"; readonly by: string; readonly at: Time };

export interface Queued {
  readonly state: "queued";
  /** Not before (backoff). */
  readonly ready_at: Time;
  /** The queue clock; null while blocked behind an earlier handoff of the same order. */
  readonly queue_until: Time | null;
  /** Behind an earlier handoff with the same ordering key. */
  readonly blocked: boolean;
}
export interface Delivered {
  readonly state: "delivered";
  readonly lease: Lease;
}
export interface Working {
  readonly state: "working";
  readonly lease: Lease;
}
export interface Waiting {
  readonly state: "waiting";
  /** Null: parked, no worker holds it. */
  readonly lease: Lease | null;
  readonly question: string;
}
export type EndState = "completed" | "failed" | "rejected" | "canceled" | "expired";
export interface Ended {
  readonly state: EndState;
  readonly ended_at: Time;
  readonly outcome: Outcome;
  readonly taken_at: Time | null;
  readonly dead_letter: DeadLetter | null;
  /** Work left for the relay after the end: cancel open children, route the dead letter. */
  readonly chores: { readonly children: boolean; readonly route: boolean };
}
export type Status = Queued | Delivered | Working | Waiting | Ended;
export type State = Status["state"];

export interface Progress {
  readonly fraction: number | null;
  readonly note: string | null;
  readonly at: Time;
}

/** Whoever a fence was given to. */
export interface Holder {
  readonly fence: number;
  readonly agent: string;
  readonly worker: string;
  /** As it stood before this delivery: what whoever held it until then is still shown. Only where that was another agent. */
  readonly before?: Stood;
}

export interface Stood
  extends Pick<
    Handoff,
    "version" | "seq" | "attempts" | "deliveries" | "checkpoint" | "spent" | "charged_for" | "charged_by"
  > {
  readonly status: Queued;
}

export interface Handoff {
  readonly accepted: Accepted;
  readonly version: number;
  /** Number of the last event of this handoff; dense from 1. */
  readonly seq: number;
  /** Grows with every delivery and never falls. */
  readonly fence: number;
  readonly attempts: number;
  /** Deliveries that were not acknowledged in time. */
  readonly deliveries: number;
  readonly status: Status;
  /** Only under a contract: when its lane let it through; absent where nothing stood before it, or still does. */
  readonly unblocked_at?: Time;
  /** Agents that rejected this handoff or whose manifest its input does not fit. */
  readonly excluded: readonly string[];
  /**
   * Until then: after an unacknowledged delivery or a lost lease rather another worker, then another agent; after a failed
   * attempt (`worker` null) rather another agent.
   */
  readonly avoid: { readonly agent: string; readonly worker: string | null; readonly until: Time } | null;
  /** After an answer to a parked question: rather the same agent, until then. */
  readonly prefer: { readonly agent: string; readonly until: Time } | null;
  /** Set when the next ack goes on with an attempt already counted: what its clock has left. */
  readonly continues_ms: Duration | null;
  readonly failures: readonly Failure[];
  /** Who held which fence, newest last: only they may still say something about it. */
  readonly holders: readonly Holder[];
  /** Fence under which the last checkpoint was written, and how many there were. */
  readonly checkpoint: { readonly fence: number; readonly number: number } | null;
  readonly questions: readonly Question[];
  readonly late: readonly LateOutcome[];
  readonly spent: Spent;
  /** Agents whose own work on it was charged for, the first two: enough to tell each whether another was. Absent: nobody's. */
  readonly charged_by?: readonly string[];
  /** Only under a contract with a price, once something was charged. */
  readonly billed?: Billed;
  /** Capabilities of handoffs below whose cost is in `spent`; `any_capability` where there are more than are kept. */
  readonly charged_for?: readonly string[];
  readonly has_children: boolean;
  readonly routed: boolean;
  readonly progress: Progress | null;
  /** Why the last delivery went to whom it went; absent before the first, and on what was delivered before this was kept. */
  readonly why?: Why;
}

/** No capability is called so: it stands for more of them than are kept. */
export const any_capability = "";

const endStates: ReadonlySet<State> = new Set(["completed", "failed", "rejected", "canceled", "expired"]);

export function hasEnded(status: Status): status is Ended {
  return endStates.has(status.state);
}

/** The lease that a worker holds now, if any does. */
export function liveLease(handoff: Handoff): Lease | null {
  const { status } = handoff;
  return status.state === "delivered" || status.state === "working" || status.state === "waiting" ? status.lease : null;
}

/** The lane of an ordering key: per (namespace, from, target). Null where order was not asked for. */
export function laneOf(accepted: Pick<Accepted, "from" | "to" | "capability" | "ordering_key">): string | null {
  if (accepted.ordering_key === null) return null;
  return JSON.stringify([accepted.from, accepted.to, accepted.capability, accepted.ordering_key]);
}
