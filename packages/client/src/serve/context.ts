/** What a handler is given beside its input. */

import type { Artifact, Usage } from "@handfast/protocol";
import type { LeaseView } from "@handfast/protocol/wire";
import type { Base } from "../base.ts";
import type { Sending, SendingFrom } from "../send/api.ts";
import { ChunkWriter } from "./chunk-writer.ts";
import type { Held } from "./held.ts";
import { Progress } from "./progress.ts";
import { type AskOptions, Questions } from "./questions.ts";
import type { Received } from "./schema.ts";

/** What earlier attempts left behind. */
export interface Previous {
  /** The state that was kept last by `checkpoint()`; null: none. */
  readonly checkpoint: unknown;
  /** How earlier attempts failed. */
  readonly failures: LeaseView["failures"];
  /** Questions asked before, with their answers. */
  readonly questions: LeaseView["questions"];
}

/**
 * The handoff being worked on, as its handler sees it. Every method may be taken out of it: `onToken: ctx.write`. What
 * `send`, `notify` and `scatter` give away names this handoff as its cause and carries its deadline, budget and trace down.
 */
export interface Context extends SendingFrom {
  /**
   * Aborted when the handoff is canceled or expired, when the lease is lost, and when the worker stops. Its reason is an
   * error with `reason` (and `code`, of a HandoffError). Hand it to everything that can stop.
   */
  readonly signal: AbortSignal;
  /** The lease as the relay gave it: id, fence, sender, labels, artifacts, clocks. */
  readonly handoff: LeaseView;
  /** Equal across attempts: give it to whatever must not happen twice. */
  readonly idempotencyKey: string;
  /** 1 for the first. */
  readonly attempt: number;
  readonly previous: Previous;
  /** Says how far the work is (0 to 1) and what it does. Call it as often as you like. */
  readonly progress: (fraction?: number, note?: string) => void;
  /** Streams text, in order. Await it to go no faster than the relay takes it; it never rejects. */
  readonly write: (text: string) => Promise<void>;
  /** Keeps a state, durably, at most 256 KB, from which the next attempt can go on. Resolves once it is kept. */
  readonly checkpoint: (state: unknown) => Promise<void>;
  /** Asks the sender, or whoever offers `to`, and resolves with the answer. */
  readonly ask: <Schema = unknown>(question: unknown, options?: AskOptions<Schema>) => Promise<Received<Schema>>;
  /** Adds to what this attempt has used; reported with its outcome. `cost` in millionths of the unit of account. */
  readonly use: (usage: Usage) => void;
  /** Puts an artifact that is up already beside the output. */
  readonly attach: (artifact: Artifact) => void;
  /** What is left of the deadline, in milliseconds. */
  readonly deadline: () => number;
}

/** The context, and what its maker takes from it at the end. */
export interface OpenContext {
  readonly context: Context;
  /** Something was streamed or reported. */
  readonly isUnfinished: boolean;
  /** What was streamed and reported last is at the relay. */
  finish(): Promise<void>;
  enclosed(): Enclosed;
}

/** What an outcome carries beside its output. */
export interface Enclosed {
  readonly usage?: Usage;
  readonly artifacts?: Artifact[];
}

export function openContext(base: Base, sending: Sending, held: Held): OpenContext {
  const { lease } = held;
  // Few handlers stream, report or ask: each is made when it is first used.
  let writer: ChunkWriter | null = null;
  let progress: Progress | null = null;
  let questions: Questions | null = null;
  const artifacts: Artifact[] = [];
  let usage: Usage | null = null;
  const context: Context = {
    signal: held.signal,
    handoff: lease,
    idempotencyKey: lease.idempotency_key,
    attempt: lease.attempt,
    previous: {
      checkpoint: lease.checkpoint?.state ?? null,
      failures: lease.failures,
      questions: lease.questions,
    },
    progress: (fraction, note) => {
      progress ??= new Progress(base, held);
      progress.report(fraction, note);
    },
    write: (text) => {
      writer ??= new ChunkWriter(base, held);
      return writer.write(text);
    },
    checkpoint: async (state) => {
      const call = { params: { id: lease.id }, body: { ...held.holder, state: state ?? null } };
      const options = { patience_ms: held.deadline_ms(), signal: held.over };
      await base.link.call("checkpoint", call, options).catch((error: unknown) => {
        held.refused(error);
        throw error;
      });
    },
    ask: (question, options) => {
      questions ??= new Questions(base, held);
      return questions.ask(question, options);
    },
    use: (more) => {
      usage = sum(usage, more);
    },
    attach: (artifact) => {
      artifacts.push(artifact);
    },
    deadline: () => held.deadline_ms(),
    ...sendingFor(sending, held),
  };
  return {
    context,
    get isUnfinished() {
      return writer !== null || progress !== null;
    },
    finish: async () => {
      await writer?.finish();
      await progress?.finish();
    },
    enclosed: () => ({
      ...(usage === null ? {} : { usage }),
      ...(artifacts.length === 0 ? {} : { artifacts }),
    }),
  };
}

function sum(before: Usage | null, more: Usage): Usage {
  // What is no amount counts as none: an outcome must not be lost by what it cost.
  const add = (left = 0, right = 0) => {
    const total = Math.round(left + (Number.isNaN(Number(right)) ? 0 : Number(right)));
    return Math.min(Math.max(total, 0), Number.MAX_SAFE_INTEGER);
  };
  return { cost: add(before?.cost, more.cost), tokens: add(before?.tokens, more.tokens) };
}

/** A notice is over once it is acknowledged: what its handler sends belongs to its group, but is no child of it. */
function sendingFor(sending: Sending, held: Held): SendingFrom {
  const { lease, signal } = held;
  if (lease.kind === "notice") {
    const group = { correlation: lease.correlation_id };
    const patient = sending.patient(() => held.deadline_ms());
    return {
      send: (target, input, options) => patient.send(target, input, { ...group, ...options }),
      notify: (target, input, options) => patient.notify(target, input, { ...group, ...options }),
      scatter: (tasks, options) => patient.scatter(tasks, options),
    };
  }
  return sending.from({
    id: lease.id,
    fence: lease.fence,
    correlation_id: lease.correlation_id,
    conversation_id: lease.conversation_id,
    ...(lease.traceparent === undefined ? {} : { traceparent: lease.traceparent }),
    deadline_ms: () => held.deadline_ms(),
    signal,
    lost: (refusal) => held.end(refusal),
  });
}
