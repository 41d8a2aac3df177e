/** What transports ask of the engine, and what it answers. */

import type { Command, Draft, Duration, Handoff, HandoffError, Refusal, TargetFit, Time } from "@handfast/core";
import type { Body, LogEntry, RecordWrite } from "./store.ts";

/** One handoff to be accepted. */
export interface Submission {
  readonly draft: Draft;
  readonly queue_if_absent: boolean;
  /** How the directory sees the target at this moment. */
  readonly target: TargetFit;
  readonly body: Body;
  /** Committed to elsewhere by a sender that hears no answer: what cannot be accepted becomes a dead letter. */
  readonly posted?: true;
}

export interface Submitted {
  readonly id: string;
  /** As it is now; null where retention has dropped it and only the key is left. */
  readonly handoff: Handoff | null;
  /** It was accepted before: this is the answer to a retry. */
  readonly repeated: boolean;
}

/** All accepted, or none: then each refusal with its index in the batch. */
export type SubmitAnswer =
  | { readonly ok: true; readonly submitted: readonly Submitted[] }
  | { readonly ok: false; readonly refusals: readonly { readonly index: number; readonly refusal: Refusal }[] };

/** What a command brings along to be kept. */
export interface Enclosure {
  /** Kept under the number that core gives it; dropped if the command changes nothing. */
  readonly body: Omit<Body, "number"> | null;
  readonly artifacts: readonly string[];
}

export interface Answer {
  /** The handoff after the command; null where there is none. */
  readonly handoff: Handoff | null;
  readonly refusal: Refusal | null;
}

export type RedriveAnswer = Answer & {
  /** The handoff that the dead letter lives on as, now or since an earlier redrive. */
  readonly redriven_as: string | null;
};

/** What an agent's manifest says about one capability, for one delivery. */
export interface Offer {
  readonly manifest: string | null;
  readonly attempt_ms: Duration | null;
  readonly idempotent: boolean;
  /** Since when this manifest has been in force: what was accepted before must be checked against it. */
  readonly since: Time;
  /** Why this input does not fit the manifest; null: it does. */
  readonly check: (body: Body) => HandoffError | null;
}

/** A worker asks for work: as many as it has free slots. */
export interface Claim {
  readonly namespace: string;
  readonly agent: string;
  readonly worker: string;
  /** Queues it serves (`queueOf`): asked for when it begins to wait, and whenever they may have changed (`requeue`). */
  readonly queues: () => ReadonlySet<string>;
  /** Of these queues only work for one of these capabilities; without it, all of it. */
  readonly only?: ReadonlySet<string> | undefined;
  readonly slots: number;
  readonly request_id: string;
  readonly wait_ms: Duration;
  readonly offer: (handoff: Handoff) => Offer;
  readonly signal?: AbortSignal;
}

/** The engine as transports see it. Every promise resolves only after what it says is safe on disk. */
export interface HandoffEngine {
  /** Atomic: all or none. */
  submit(submissions: readonly Submission[]): Promise<SubmitAnswer>;
  /** One command on one handoff. */
  perform(namespace: string, id: string, command: PublicCommand, enclosure?: Enclosure): Promise<Answer>;
  /** Marks the dead letter and submits its successor in one commit; a second redrive answers with the first one's id. */
  redrive(
    namespace: string,
    id: string,
    actor: Extract<Command, { type: "redrive" }>["actor"],
    submission: Submission,
  ): Promise<RedriveAnswer>;
  /** Resolves as soon as something was leased, or empty when the wait is over. Every handoff has a live lease of this worker. */
  claim(claim: Claim): Promise<readonly Handoff[]>;
  /** What this agent serves may have changed (null: what anybody does): its claims wait for what it serves now. */
  requeue(namespace: string, agent: string | null): void;
  /** Leases that could not be handed over (the connection was lost): given back, counting as nothing. */
  undelivered(
    namespace: string,
    leases: readonly { readonly id: string; readonly fence: number; readonly agent: string }[],
  ): Promise<void>;
  /**
   * The handoff now, where memory has it and no clock of it has run out; undefined: `get` finds out. Where others write too, only one that
   * ended since the caller asked: it was so after that, whatever another node makes of it meanwhile.
   */
  peek(namespace: string, id: string, asked_at: Time): Handoff | undefined;
  /**
   * The handoff as this node last committed it or was told of it, where no clock of it has run out. Another node may have moved it on
   * since: good for what cannot change any more, and for going on waiting, since whoever waits is woken when this changes.
   */
  remembered(namespace: string, id: string): Handoff | undefined;
  /** The handoff now, every clock settled. */
  get(namespace: string, id: string): Promise<Handoff | null>;
  body(namespace: string, id: string, kind: Body["kind"], number: number): Promise<Body | null>;
  /** Directory and other records, in the same order of commits. False: a version was not as expected. */
  putRecords(records: readonly RecordWrite[]): Promise<boolean>;
  /**
   * Entries of the log that are of no handoff, with records in the same commit. False: a version was not as expected. Refused
   * like a submit where space runs low: what is left is for open handoffs to end.
   */
  note(entries: readonly Omit<LogEntry, "at">[], records?: readonly RecordWrite[]): Promise<boolean>;
  now(): Time;
}

/** What may reach the engine from outside; the rest are the engine's own. */
export type PublicCommand = Extract<
  Command,
  {
    type:
      | "ack"
      | "beat"
      | "checkpoint"
      | "ask"
      | "answer"
      | "complete"
      | "fail"
      | "reject"
      | "release"
      | "cancel"
      | "take"
      | "discard";
  }
>;
