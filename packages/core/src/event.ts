/** What is told of a handoff, in order. The log is made of these; payloads are never in them, only digests. */

import type { ContractVerdict } from "./contract.ts";
import type { AttemptExcuse } from "./excuse.ts";
import type { Evidence, HandoffError, Payload, Time, Usage } from "./handoff.ts";
import type { Why } from "./why.ts";

export type EventBody =
  | {
      readonly type: "accepted";
      readonly code: 202;
      readonly digest: string;
      readonly evidence: Evidence;
      readonly input: Payload;
      /** The contract that it was given under. */
      readonly contract?: string;
    }
  | {
      readonly type: "delivered";
      readonly code: 210;
      readonly agent: string;
      readonly worker: string;
      readonly fence: number;
      readonly why: Why;
    }
  | {
      readonly type: "acknowledged";
      readonly code: 211;
      readonly agent: string;
      readonly worker: string;
      readonly fence: number;
      readonly attempt: number;
      readonly evidence: Evidence;
    }
  | {
      readonly type: "checkpointed";
      readonly agent: string;
      readonly fence: number;
      readonly number: number;
      readonly state: Payload;
    }
  | {
      readonly type: "asked";
      readonly code: 213;
      readonly agent: string;
      readonly fence: number;
      readonly question: string;
      readonly to: string | null;
      readonly answer_by: Time;
      readonly parked: boolean;
    }
  | {
      readonly type: "answered";
      readonly by: string;
      readonly question: string;
      readonly evidence: Evidence;
      readonly answer: Payload;
    }
  | { readonly type: "unanswered"; readonly question: string }
  | { readonly type: "parked"; readonly agent: string; readonly fence: number; readonly question: string }
  | {
      readonly type: "requeued";
      readonly why: RequeueReason;
      readonly code: number | null;
      readonly agent: string | null;
      readonly worker: string | null;
      readonly fence: number;
      readonly ready_at: Time;
      readonly error: HandoffError | null;
      /** Why it does not speak against the agent; absent: it does, or nobody held it. */
      readonly excuse?: AttemptExcuse;
    }
  | { readonly type: "unblocked" }
  | { readonly type: "excluded"; readonly agent: string; readonly error: HandoffError }
  | {
      readonly type: "unfit_output";
      readonly code: 502;
      readonly agent: string;
      readonly fence: number;
      readonly error: HandoffError;
    }
  | {
      readonly type: "completed" | "failed" | "rejected" | "canceled" | "expired";
      readonly code: number;
      readonly agent: string | null;
      readonly worker: string | null;
      readonly fence: number | null;
      readonly by: string | null;
      readonly evidence: Evidence;
      readonly output: Payload | null;
      readonly error: HandoffError | null;
      readonly usage: Usage | null;
      readonly excuse?: AttemptExcuse;
      /** Only of a handoff under a contract. */
      readonly contract?: ContractVerdict;
    }
  | {
      readonly type: "late";
      readonly state: "completed" | "failed" | "rejected";
      readonly code: number;
      readonly agent: string;
      readonly worker: string;
      readonly fence: number;
      readonly evidence: Evidence;
      readonly output: Payload | null;
    }
  | { readonly type: "taken"; readonly by: string }
  | { readonly type: "redriven"; readonly by: string; readonly to: string }
  | { readonly type: "discarded"; readonly by: string }
  | { readonly type: "routed"; readonly to: string }
  | { readonly type: "purged"; readonly digest: string };

export type RequeueReason =
  | "unacknowledged"
  | "lease_lost"
  | "attempt_timeout"
  | "failed"
  | "rejected"
  | "released"
  | "answered";

/** An event as it is stored: immutable. The store adds `pos`, the log's order. */
export type HandoffEvent = EventBody & {
  readonly namespace: string;
  readonly handoff: string;
  readonly seq: number;
  readonly at: Time;
  readonly correlation_id: string;
  readonly causation_id: string | null;
  readonly from: string;
  readonly to_agent: string | null;
  readonly capability: string | null;
};

const ends: ReadonlySet<HandoffEvent["type"]> = new Set(["completed", "failed", "rejected", "canceled", "expired"]);
/** With an event of this type the handoff has ended. */
export function isEnd(type: HandoffEvent["type"]): boolean {
  return ends.has(type);
}

/** After this nobody holds it any more. */
export function endsLease(event: HandoffEvent): boolean {
  return (
    isEnd(event.type) ||
    event.type === "requeued" ||
    event.type === "parked" ||
    (event.type === "asked" && event.parked)
  );
}

/** After these it may be ready for somebody; nothing of it need be true any more. */
const frees: ReadonlySet<HandoffEvent["type"]> = new Set(["accepted", "requeued", "unblocked", "excluded"]);
const takes: ReadonlySet<HandoffEvent["type"]> = new Set(["delivered", "acknowledged"]);
export function mayBeReady(told: readonly HandoffEvent[]): boolean {
  const last = told.findLast(({ type }) => frees.has(type) || takes.has(type) || ends.has(type));
  return last !== undefined && frees.has(last.type);
}
