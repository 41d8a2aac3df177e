/** The sending side as its users see it. */

import type { HandoffEvent, HandoffView, QuestionView, Receipt } from "@handfast/protocol/wire";
import type { HandoffError } from "../errors.ts";
import type { ResultOptions, ScatterOptions, SendOptions, Target, Task, WaitOptions } from "./options.ts";
import type { Parent } from "./parent.ts";
import type { Proven } from "./proofs.ts";

/** How far the work is, as its worker said last. */
export interface Progress {
  /** From 0 to 1, where the worker can tell. */
  readonly fraction: number | null;
  readonly note: string | null;
  /** Milliseconds since 1970 by the relay's clock. */
  readonly at: number;
}

/** A report of progress on its way: whole state, not kept, so without a place in the log. */
export interface ProgressEvent extends Progress {
  readonly type: "progress";
  readonly handoff: string;
  readonly code: 212;
}

/** What `events()` yields: events as they stand in the log, and progress between them. */
export type FollowedEvent = HandoffEvent | ProgressEvent;

/** What ends a stream. Leaving its loop does the same; neither cancels the handoff. */
export interface StreamOptions {
  readonly signal?: AbortSignal;
}

export interface ChunkOptions extends StreamOptions {
  /** Another attempt began: what came before belongs to one that was lost, and the text begins anew. */
  readonly onRestart?: () => void;
}

/** Streamed text, piece by piece, until the handoff ends. The outcome alone is authoritative. */
export interface Chunks extends AsyncIterable<string> {
  /** All text of the last attempt, once the handoff has ended. */
  text(): Promise<string>;
}

/**
 * One handoff that was given away. Cheap to keep, and safe to use from many places at once: waits for the same thing
 * share one call. No wait that ends early, by a signal, a timeout or a broken connection, cancels anything.
 */
export interface Handle<Out = unknown> {
  readonly id: string;
  /** The group it belongs to; null until it is known, after `client.handle(id)`. */
  readonly correlation: string | null;
  /** The relay's word that it is durable; null where the handle was made from an id. */
  readonly receipt: Receipt | null;
  /** The newest that this handle has seen of it, without asking; null before that. */
  readonly view: HandoffView | null;
  /** The newest progress that this handle has heard of; `events()` and `status()` bring more. */
  readonly progress: Progress | null;
  /** Resolves once an agent has it and takes it. Rejects if it ended before that. */
  acknowledged(options?: WaitOptions): Promise<HandoffView>;
  /**
   * The output, once it is there. Rejects with a HandoffError when it ended otherwise: `code` and `name` say how,
   * `remedy` what to do. The outcome is then taken, in the background, unless `take: false`.
   */
  result(options?: ResultOptions): Promise<Out>;
  /** The same as a whole, however it ended: only a broken wait rejects. */
  outcome(options?: ResultOptions): Promise<HandoffView>;
  /** Everything that happens to it, from its beginning to its end. */
  events(options?: StreamOptions): AsyncIterable<FollowedEvent>;
  /** The text that its worker streams. */
  chunks(options?: ChunkOptions): Chunks;
  /** Calls it off. The first commit wins: after an end, the answer is that end. */
  cancel(reason?: string, options?: StreamOptions): Promise<HandoffView>;
  /** Confirms to the relay that the outcome is here. Idempotent. */
  take(options?: StreamOptions): Promise<HandoffView>;
  /** How it goes now. */
  status(options?: StreamOptions): Promise<HandoffView>;
  /** Every receipt of its life with the documents, each signature checked here and not by the relay. */
  proofs(options?: StreamOptions): Promise<Proven>;
}

/** What became of one task of a scatter. */
export type Settled<Out = unknown> =
  | { readonly status: "completed"; readonly index: number; readonly handle: Handle<Out>; readonly output: Out }
  | { readonly status: "failed"; readonly index: number; readonly handle: Handle<Out>; readonly error: HandoffError }
  /** Not ended when the time was over; it goes on. */
  | { readonly status: "open"; readonly index: number; readonly handle: Handle<Out> };

/** One that has ended. */
export type Ended<Out = unknown> = Exclude<Settled<Out>, { readonly status: "open" }>;

/** Many handoffs under one correlation. What is decided early cancels the rest, unless `keep` was asked for. */
export interface Scatter<Out = unknown> extends AsyncIterable<Ended<Out>> {
  /** What `client.gather()` finds them by, also after a restart. */
  readonly correlation: string;
  /** One per task, in the order of the tasks; rejects if they were not accepted. */
  handles(): Promise<readonly Handle<Out>[]>;
  /** All outputs in the order of the tasks. Rejects with the first failure, and then cancels the rest. */
  all(options?: WaitOptions): Promise<Out[]>;
  /** The first output; then cancels the rest. Rejects with a ScatterError when all have failed. */
  any(options?: WaitOptions): Promise<Out>;
  /** The first `count` outputs, as they came; then cancels the rest. Rejects as soon as so many are impossible. */
  quorum(count: number, options?: WaitOptions): Promise<Out[]>;
  /** What became of each, in the order of the tasks; at the timeout those that are open are told as such. */
  settled(options?: WaitOptions): Promise<Settled<Out>[]>;
  /** Cancels every one that is open. */
  cancel(reason?: string): Promise<void>;
  /** Each as it ends. */
  [Symbol.asyncIterator](): AsyncIterator<Ended<Out>>;
}

/** Options of `outcomes()`. */
export interface OutcomesOptions extends StreamOptions {
  /** Go on with what comes. False: end after what is there now. Default: true. */
  readonly follow?: boolean;
  /** Take each when the loop comes back for the next one. Default: false, and each is yours to `take()`. */
  readonly take?: boolean;
}

export interface QuestionsOptions extends StreamOptions {
  /** Go on with what comes. False: end after what is open now. Default: true. */
  readonly follow?: boolean;
}

/** An open question that was put to this agent: as the sender of the handoff, or by a capability that it offers. */
export type Question = QuestionView;

/** Options of `gather()`. */
export interface GatherOptions extends StreamOptions {
  /** As of `scatter()`. */
  readonly keep?: boolean;
}

/** What a handler of `serve()` may send in the name of the handoff it works on. */
export interface SendingFrom {
  /** Gives work away. */
  send<Out = unknown>(target: Target, input: unknown, options?: SendOptions): Promise<Handle<Out>>;
  /** Tells something: ends as completed when it is acknowledged. */
  notify(target: Target, input: unknown, options?: SendOptions): Promise<Receipt>;
  /**
   * Gives many pieces of work away at once. Up to 1000 tasks, with 16 MB of input together, are accepted all or none;
   * more go in batches of 1000, one after the other, and what was accepted is canceled if a later batch is refused.
   */
  scatter<Out = unknown>(tasks: readonly Task[], options?: ScatterOptions): Scatter<Out>;
}

/** The sending side of a client. */
export interface Sending extends SendingFrom {
  /** A handle on a handoff whose id was kept. */
  handle<Out = unknown>(id: string): Handle<Out>;
  /** The handoffs that this agent sent under a correlation: what `scatter()` gave, found again. */
  gather<Out = unknown>(correlation: string, options?: GatherOptions): Scatter<Out>;
  /** Outcomes that were never taken, each once; then those that come. Their `result()` is at hand. */
  outcomes<Out = unknown>(options?: OutcomesOptions): AsyncIterable<Handle<Out> & { readonly view: HandoffView }>;
  /** Open questions put to this agent, each once; then those that come. */
  questions(options?: QuestionsOptions): AsyncIterable<Question>;
  /** Answers a question. Repeated alike it is answered alike; another answer is a conflict (409). */
  answer(question: string | Question, value: unknown, options?: StreamOptions): Promise<Question>;
  /** The same for a handler: what it sends names the handoff it works on as its cause. */
  from(parent: Parent): SendingFrom;
  /** The same for the handler of a notice, which is nobody's parent: it goes on trying for so long. */
  patient(patience_ms: () => number): SendingFrom;
  /** Resolves when the takes and cancels in the background are through: `client.close()` waits for it. */
  settled(): Promise<void>;
}
