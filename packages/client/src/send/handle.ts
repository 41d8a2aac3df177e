/** One handoff that was given away: waits, streams and acts of its sender. */

import type { HandoffView, Receipt } from "@handfast/protocol/wire";
import { cancel } from "../acts.ts";
import { toMilliseconds } from "../duration.ts";
import { HandoffError } from "../errors.ts";
import { anySignal } from "../link/any-signal.ts";
import type { ChunkOptions, Chunks, FollowedEvent, Handle, Progress, StreamOptions } from "./api.ts";
import { explained, waitOver } from "./faults.ts";
import { ChunkStream, followEvents } from "./follow.ts";
import { iterable } from "./iterable.ts";
import { sendLimits } from "./limits.ts";
import type { ResultOptions, WaitOptions } from "./options.ts";
import { outputOf } from "./output.ts";
import { checkOwn, type Proven, proofsOf, provenOutcome } from "./proofs.ts";
import type { Sender } from "./sender.ts";
import { SharedWait } from "./shared-wait.ts";
import { hasEnded } from "./waits.ts";

/** What is known of a handoff when its handle is made. */
export interface Known {
  readonly receipt?: Receipt;
  readonly correlation?: string;
  /** What its sender demanded of its receipts: the relay is not asked for that. */
  readonly demands?: "signed" | "any" | undefined;
  /** As it stands, but without its output: a list shows none. */
  readonly seen?: HandoffView;
  /** As it ended, with its output. */
  readonly ended?: HandoffView;
}

export class SentHandle<Out> implements Handle<Out> {
  readonly id: string;
  readonly receipt: Receipt | null;
  readonly #sender: Sender;
  readonly #ended: SharedWait<HandoffView>;
  readonly #acknowledged: SharedWait<HandoffView>;
  readonly #demands: "signed" | "any";
  #correlation: string | null;
  #view: HandoffView | null = null;
  #progress: Progress | null = null;
  #proven: HandoffView | null = null;
  #isTaken = false;

  constructor(sender: Sender, id: string, known: Known = {}) {
    this.id = id;
    this.#sender = sender;
    this.receipt = known.receipt ?? null;
    this.#demands = known.demands ?? "any";
    this.#correlation = known.correlation ?? known.receipt?.correlation_id ?? null;
    this.#ended = new SharedWait((signal) => this.#until("ended", signal));
    this.#acknowledged = new SharedWait((signal) => this.#until("acknowledged", signal));
    const view = known.ended ?? known.seen ?? known.receipt?.handoff;
    if (view !== undefined && view !== null) this.#learn(view);
    if (known.ended !== undefined) this.#ended.settle(known.ended);
  }

  get correlation(): string | null {
    return this.#correlation;
  }

  get view(): HandoffView | null {
    return this.#view;
  }

  get progress(): Progress | null {
    return this.#progress;
  }

  async acknowledged(options: WaitOptions = {}): Promise<HandoffView> {
    const view = await this.#join(this.#acknowledged, "The ack", options);
    if (view.state !== "completed" && hasEnded(view) && !wasAcknowledged(view)) throw HandoffError.ended(view);
    return view;
  }

  async result(options: ResultOptions = {}): Promise<Out> {
    const view = await this.#outcome(options);
    // An output that cannot be read is not at hand: it is taken by nobody.
    const output = view.state === "completed" ? outputOf(view) : undefined;
    if (options.take !== false) this.taken(view);
    if (view.state !== "completed") throw HandoffError.ended(view);
    return output as Out;
  }

  async outcome(options: ResultOptions = {}): Promise<HandoffView> {
    const view = await this.#outcome(options);
    if (options.take !== false) this.taken(view);
    return view;
  }

  async #outcome(options: ResultOptions): Promise<HandoffView> {
    const shown = await this.#join(this.#ended, "The outcome", options);
    const is_demanded = this.#demands === "signed" || shown.demands === "signed";
    return (options.verify ?? is_demanded) ? this.#verified(shown, options.signal) : shown;
  }

  events({ signal }: StreamOptions = {}): AsyncIterable<FollowedEvent> {
    return iterable((both) => this.#events(both), signal, this.#parentSignal, this.#sender.base.closed);
  }

  chunks(options: ChunkOptions = {}): Chunks {
    return new ChunkStream(this.#sender, this.id, options, this.#explain, this.#deadlineAt);
  }

  async cancel(reason?: string, { signal }: StreamOptions = {}): Promise<HandoffView> {
    const { id, receipt } = this;
    const digest = receipt?.digest ?? this.#view?.digest;
    return this.#told(cancel(this.#sender.base, { id, digest }, reason, { signal }));
  }

  async take({ signal }: StreamOptions = {}): Promise<HandoffView> {
    const { link } = this.#sender.base;
    const view = await this.#told(link.call("take", { params: { id: this.id }, body: {} }, { signal }));
    this.#isTaken = true;
    return view;
  }

  async status({ signal }: StreamOptions = {}): Promise<HandoffView> {
    return this.#told(this.#sender.base.link.call("get", { params: { id: this.id } }, { signal }));
  }

  async proofs({ signal }: StreamOptions = {}): Promise<Proven> {
    const { base } = this.#sender;
    const call = base.link.call("get", { params: { id: this.id }, query: { proofs: true } }, { signal });
    return proofsOf(base, await this.#told(call));
  }

  /** Takes it in the background, once: the outcome is in the caller's hands. Only its sender can take it. */
  taken(view: HandoffView): void {
    const { base, errands } = this.#sender;
    if (this.#isTaken || view.taken_at !== null || view.from !== base.agent) return;
    this.#isTaken = true;
    const call = { params: { id: this.id }, body: {} };
    const take = () => base.link.call("take", call, { patience_ms: sendLimits.errand_patience_ms, minimal: true });
    errands.run("take_failed", `The outcome of ${this.id} is here, but the relay was not told so`, this.id, take);
  }

  /** Takes what this handle has seen the end of. */
  takeSeen(): void {
    if (this.#view !== null && hasEnded(this.#view)) this.taken(this.#view);
  }

  /** Calls it off in the background, if it is open, and takes the end that comes of it: its sender wants none. */
  drop(reason: string): void {
    if (this.#view !== null && hasEnded(this.#view)) return;
    const { errands } = this.#sender;
    const cancelAndTake = async () => this.taken(await this.cancel(reason));
    errands.run("cancel_failed", `${this.id} is no longer wanted, but was not canceled`, this.id, cancelAndTake);
  }

  get #parentSignal(): AbortSignal | undefined {
    return this.#sender.parent?.signal;
  }

  async #until(until: "acknowledged" | "ended", signal: AbortSignal | undefined): Promise<HandoffView> {
    const view = await this.#told(this.#sender.waits.until(this.id, until, this.#deadlineAt, signal));
    if (hasEnded(view)) this.#ended.settle(view);
    return view;
  }

  /** `what` is waited for, for the error that says it was in vain. */
  async #join(wait: SharedWait<HandoffView>, what: string, options: WaitOptions): Promise<HandoffView> {
    const { timeout } = options;
    const timer = timeout === undefined ? null : new AbortController();
    const timeout_ms = timeout === undefined ? 0 : toMilliseconds(timeout, "The option timeout");
    const over = () => timer?.abort(waitOver(`${what} of ${this.id}`, timeout_ms));
    const callOff = timer === null ? null : this.#sender.base.surroundings.after(timeout_ms, over, true);
    const { signal, release } = anySignal(options.signal, this.#parentSignal, timer?.signal);
    try {
      return await wait.join(signal);
    } finally {
      callOff?.();
      release();
    }
  }

  /** With the proofs, which cost a call of their own; what was proven once is kept. */
  async #verified(view: HandoffView, signal: AbortSignal | undefined): Promise<HandoffView> {
    this.#proven ??= await this.#prove(view, signal);
    return this.#proven;
  }

  async #prove(view: HandoffView, signal: AbortSignal | undefined): Promise<HandoffView> {
    const proven = await this.proofs({ ...(signal === undefined ? {} : { signal }) });
    const { base } = this.#sender;
    // One that was found again by its id may be another agent's, or a redrive.
    if (this.receipt !== null && base.signs) checkOwn(proven, this.id, base.agent);
    return provenOutcome(proven, view);
  }

  async *#events(signal: AbortSignal): AsyncGenerator<FollowedEvent, void, undefined> {
    try {
      for await (const event of followEvents(this.#sender.base, this.id, this.#deadlineAt(), signal)) {
        if (event.type === "progress" && "fraction" in event) this.#progress = event;
        yield event;
      }
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /** Null: not known yet. */
  readonly #deadlineAt = (): number | null => this.receipt?.deadline_at ?? this.#view?.deadline_at ?? null;

  readonly #explain = (error: unknown): unknown => explained(error, this.id, this.receipt);

  async #told(view: Promise<HandoffView>): Promise<HandoffView> {
    try {
      return this.#learn(await view);
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /** Answers may overtake each other: an older view never replaces a newer one. */
  #learn(view: HandoffView): HandoffView {
    if (this.#view === null || view.version >= this.#view.version) this.#view = view;
    if (view.progress !== null && view.progress.at >= (this.#progress?.at ?? 0)) this.#progress = view.progress;
    this.#correlation = view.correlation_id;
    return view;
  }
}

/** It ended since, but an agent had taken it: attempts count from the ack. */
function wasAcknowledged({ attempts }: HandoffView): boolean {
  return attempts > 0;
}
