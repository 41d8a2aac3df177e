/** What may be asked of a handoff, by whom, and what `decide` answers. */

import type { HandoffEvent } from "./event.ts";
import type { Accepted, Duration, Evidence, Handoff, HandoffError, Payload, Progress, Time, Usage } from "./handoff.ts";
import type { CoreLimits } from "./limits.ts";
import type { Why } from "./why.ts";

/** Who gives a command: an agent, an operator (who may be an agent too), or the relay itself. */
export type Actor =
  | { readonly kind: "agent"; readonly agent: string }
  | { readonly kind: "operator"; readonly name: string }
  | { readonly kind: "relay" };

/** What the holder of a lease says it is. */
export interface Holder {
  readonly agent: string;
  readonly fence: number;
}

/** A handoff as asked for: what is not fixed by the relay at accept. */
export type Draft = Omit<
  Accepted,
  "accepted_at" | "deadline_at" | "hops" | "correlation_id" | "budget_holders" | "budget_tells"
> & {
  /** Null: the parent's, else the handoff's own id. */
  readonly correlation_id: string | null;
};

interface Result {
  readonly content: string;
  readonly evidence: Evidence;
  readonly usage: Usage | null;
  readonly artifacts: readonly string[];
}

export type Command =
  | {
      readonly type: "submit";
      readonly draft: Draft;
      readonly queue_if_absent: boolean;
      /**
       * Its sender has committed to it elsewhere and hears no answer: what would be refused for good is accepted, and ends at
       * once as a dead letter with the refusal's code. It may have waited, so its id may be of any time.
       */
      readonly posted?: true;
    }
  | {
      readonly type: "deliver";
      readonly agent: string;
      readonly worker: string;
      readonly request_id: string;
      readonly manifest: string | null;
      /** From the agent's manifest: `timeout_seconds` and `idempotent`. */
      readonly attempt_ms: Duration | null;
      readonly idempotent: boolean;
      readonly why: Why;
    }
  | ({ readonly type: "ack"; readonly evidence: Evidence } & Holder)
  | ({ readonly type: "beat"; readonly progress: Omit<Progress, "at"> | null } & Holder)
  | ({ readonly type: "checkpoint"; readonly state: Payload } & Holder)
  | ({
      readonly type: "ask";
      readonly question: string;
      readonly to: string | null;
      readonly answer_ms: Duration | null;
      readonly park: boolean;
      /** It demands more of its answer than the questions that were agreed on. */
      readonly beyond_agreed?: true;
    } & Holder)
  | {
      readonly type: "answer";
      readonly actor: Actor;
      readonly question: string;
      readonly content: string;
      readonly answer: Payload;
      readonly evidence: Evidence;
      /** The capabilities that the answering agent offers. */
      readonly offers: readonly string[];
      /** It does not fit the question's schema. */
      readonly fault?: HandoffError;
    }
  | ({
      readonly type: "complete";
      readonly worker: string;
      readonly output: Payload;
      readonly fault: HandoffError | null;
      /** The fault is only that the sender expects more than the agent offers. */
      readonly beyond_offer?: boolean;
    } & Holder &
      Result)
  | ({
      readonly type: "fail";
      readonly worker: string;
      readonly error: HandoffError;
      readonly output: Payload | null;
      readonly retryable: boolean;
      readonly retry_after_ms: Duration | null;
    } & Holder &
      Result)
  | ({ readonly type: "reject"; readonly worker: string; readonly error: HandoffError } & Holder & Result)
  | ({ readonly type: "release" } & Holder)
  | { readonly type: "cancel"; readonly actor: Actor; readonly reason: string | null; readonly evidence: Evidence }
  | { readonly type: "take"; readonly actor: Actor }
  | { readonly type: "redrive"; readonly actor: Actor; readonly id: string }
  | { readonly type: "discard"; readonly actor: Actor }
  /** Time alone: settles whatever clock has run out. */
  | { readonly type: "tick" }
  /** From the relay itself. */
  | { readonly type: "exclude"; readonly agent: string; readonly error: HandoffError }
  | { readonly type: "unblock" }
  | { readonly type: "adopt" }
  /** `capability`: what the cost is for, where there is one. */
  | { readonly type: "charge"; readonly usage: Usage; readonly handoffs: number; readonly capability?: string }
  | { readonly type: "swept" }
  | { readonly type: "routed"; readonly id: string };

/** How the target of a submit looks in the directory now. */
export type TargetFit =
  /** Some agent takes it; those that offer the capability but whose schema the input does not fit are left out. */
  | { readonly kind: "fits"; readonly except: readonly string[] }
  | { readonly kind: "absent" }
  | { readonly kind: "unknown_agent" }
  /** Offered, but in no version that lies in the range asked for; `versions` are those there are. */
  | { readonly kind: "other_versions"; readonly versions: readonly string[] }
  | { readonly kind: "unfit"; readonly error: HandoffError }
  /** The contract that it names does not hold, or gives less than is asked for. */
  | { readonly kind: "out_of_contract"; readonly refusal: Refusal }
  /** Only of what was posted: what it says cannot be taken, whoever the target is. */
  | { readonly kind: "malformed"; readonly refusal: Refusal };

/** What `decide` must know besides the handoff itself. */
export interface Context {
  readonly limits: CoreLimits;
  /** When the relay last started, stalled or saw its clock jump: no lease is lost before one full period after it. */
  readonly resumed_at: Time;
  /** In [0, 1), for the jitter of backoff. */
  readonly random: number;
  /** submit: what the sender's idempotency key already stands for. */
  readonly known: { readonly id: string; readonly content: string } | null;
  /** submit: the parent that the draft names, if it exists. */
  readonly parent: Handoff | null;
  /** submit: every handoff above that carries a budget, nearest first. */
  readonly budgets: readonly Handoff[];
  /** submit: whether an open handoff stands before this one in its lane. */
  readonly lane_busy: boolean;
  /** submit: how many handoffs of this sender are open. */
  readonly sender_open: number;
  /** submit: whether the id belonged to a handoff that retention has dropped. */
  readonly id_used: boolean;
  /** submit: whether the target exists and takes this input. */
  readonly target: TargetFit;
  /** reject, exclude: how many other agents offer the target and are not excluded. */
  readonly others: number;
  /**
   * An end under a contract with `max_concurrent`: for how long its provider had other work of the same asker, for the same
   * capability, in hand while this one waited (`waitOf`), all of it added up. Absent or null: not known.
   */
  readonly asker_work?: Duration | null;
}

/** A further command that must be committed together with this decision. */
export type Follow =
  | { readonly kind: "command"; readonly id: string; readonly command: Command }
  /** Unblock the first open handoff of this lane. */
  | { readonly kind: "free_lane"; readonly lane: string };

export interface Refusal {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  /** Further members of the problem that the caller is told. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/**
 * What came of a command. `next` null: nothing changed. A refusal may come with a change: time may have ended the
 * handoff before the command reached it, and a late outcome is refused but kept.
 */
export interface Decision {
  readonly next: Handoff | null;
  readonly events: readonly HandoffEvent[];
  readonly refusal: Refusal | null;
  readonly follow: readonly Follow[];
  /** False: worth remembering, not worth an fsync (heartbeats, progress). */
  readonly durable: boolean;
  /** The number under which the command's own body (output, answer, checkpoint…) is to be kept; null: not kept. */
  readonly keep: number | null;
  /** Retention: state and bodies go, the log keeps the hashes. */
  readonly purge: boolean;
}
