/**
 * One call as its caller sees it. It is sent, and sent again: while the relay says that waiting helps, once more after
 * registering where the relay does not know the agent, and until what it waits for is there. Nearly every call is
 * answered for good by its first reply, so nothing but the caller's own promise is made for that.
 */

import type { OperationName, Operations } from "@handfast/protocol/wire";
import type { Identity } from "../identity/identity.ts";
import type { Surroundings } from "../surroundings.ts";
import { joinSignals } from "./any-signal.ts";
import { linkLimits } from "./limits.ts";
import type { Call, Unsigned } from "./link.ts";
import { idOf } from "./link-errors.ts";
import { backoff, Failures, pause } from "./persist.ts";
import { isReady } from "./ready.ts";
import { isProblem, refusalOf } from "./refusal.ts";
import type { Hello, Reply } from "./relay-frame.ts";
import { byteLength, callText, isVital, keyCount, type WsCall } from "./ws-call.ts";
import type { WsLine } from "./ws-line.ts";

/** What all calls of a link share. */
export interface Asked {
  readonly url: string;
  readonly line: WsLine;
  readonly identity: Identity;
  readonly surroundings: Surroundings;
  /** Aborted when the link is closed. */
  readonly closed: AbortSignal;
  /** A call is over. */
  onOver(): void;
}

export interface Question<Name extends OperationName> {
  readonly name: Name;
  readonly call: Call<Name>;
  /** The call, as JSON. */
  readonly content: string;
  readonly documents: readonly Unsigned[];
  /** How long the relay is asked to wait, all in all. */
  readonly wait_ms: number;
  readonly patience_ms: number;
  readonly answer_ms: number | undefined;
  readonly traceparent: string | undefined;
  readonly minimal: boolean;
  readonly signal: AbortSignal | undefined;
}

/** What a wait, a trace and a wish for less add to a call. */
const more_bytes = 200;
/** A relay refuses a wish that it does not know. */
const minimal_feature = "prefer_minimal";

export class Asking<Name extends OperationName> implements WsCall {
  readonly is_vital: boolean;
  readonly is_bound = false;
  readonly bytes: number;
  readonly keys: number;
  readonly handoff: string | null;
  readonly documents: readonly Unsigned[];
  readonly patience_ms: number;
  readonly answer_ms: number | undefined;
  n = 0;
  began_at = 0;
  readonly #asked: Asked;
  readonly #question: Question<Name>;
  readonly #resolve: (reply: Operations[Name]["reply"]) => void;
  readonly #reject: (error: unknown) => void;
  readonly #until: number;
  #wait_ms = 0;
  #failures: Failures | null = null;
  #is_readmitted = false;
  #is_over = false;

  constructor(
    asked: Asked,
    question: Question<Name>,
    resolve: (reply: Operations[Name]["reply"]) => void,
    reject: (error: unknown) => void,
  ) {
    this.#asked = asked;
    this.#question = question;
    this.#resolve = resolve;
    this.#reject = reject;
    this.is_vital = isVital(question.name);
    this.bytes = byteLength(question.content) + more_bytes;
    this.keys = keyCount(question.content) + 3;
    this.handoff = idOf(question.call.params);
    this.documents = question.documents;
    this.patience_ms = question.patience_ms;
    this.answer_ms = question.answer_ms;
    this.#until = asked.surroundings.now() + question.wait_ms;
  }

  get is_act(): boolean {
    return this.#wait_ms === 0;
  }

  begin(): void {
    const { signal } = this.#question;
    if (signal?.aborted) return this.#reject(signal.reason);
    signal?.addEventListener("abort", this.#abort, { once: true });
    this.#ask();
  }

  text({ features = [] }: Hello): string {
    const { name, content, traceparent, minimal } = this.#question;
    const less = minimal && features.includes(minimal_feature) ? ',"return":"minimal"' : "";
    const wait = this.#wait_ms === 0 ? "" : `,"wait_ms":${this.#wait_ms}`;
    const trace = traceparent === undefined ? "" : `,"traceparent":${JSON.stringify(traceparent)}`;
    return callText(name, content, wait + less + trace);
  }

  reply({ body, problem, status, retry_after_ms = 0 }: Reply): void {
    if (problem !== undefined) return this.#refused(problem, status, retry_after_ms);
    try {
      this.#answered(body as Operations[Name]["reply"]);
    } catch (error) {
      // Not what a relay says to such a call: whoever made it is told.
      this.#failed(error);
    }
  }

  event(): void {}

  reject(error: unknown): void {
    this.#failed(error);
  }

  readonly #abort = (): void => {
    this.#asked.line.abandon(this);
    this.#over(() => this.#reject(this.#question.signal?.reason));
  };

  #ask(): void {
    const { line, surroundings } = this.#asked;
    this.n = line.nextNumber();
    this.began_at = surroundings.now();
    this.#wait_ms = Math.min(Math.max(0, this.#until - this.began_at), linkLimits.ws_wait_most_ms);
    line.add(this);
  }

  #answered(reply: Operations[Name]["reply"]): void {
    const { surroundings } = this.#asked;
    const { name, call } = this.#question;
    const now = this.#wait_ms === 0 ? this.#until : surroundings.now();
    if (now >= this.#until || isReady(name, call, reply)) return this.#over(() => this.#resolve(reply));
    this.#failures = null;
    this.#is_readmitted = false;
    // A relay that stops answers its waits early: come back in a moment, not at once.
    if (now - this.began_at < this.#wait_ms) void this.#askAfter(backoff(1, surroundings));
    else this.#ask();
  }

  #refused(problem: unknown, status: number, retry_after_ms: number): void {
    if (!isProblem(problem)) return this.#failed(new Error(`The relay answered ${status} without saying why.`));
    const refusal = refusalOf(problem, this.handoff, retry_after_ms);
    if (refusal.kind === "unknown_agent" && !this.#is_readmitted) void this.#readmit();
    else this.#failed(refusal.error);
  }

  async #readmit(): Promise<void> {
    this.#is_readmitted = true;
    try {
      await this.#asked.identity.readmit();
    } catch (error) {
      return this.#failed(error);
    }
    if (!this.#is_over) this.#ask();
  }

  #failed(error: unknown): void {
    if (this.#is_over) return;
    const { url, surroundings } = this.#asked;
    this.#failures ??= new Failures({ url, surroundings, patience_ms: this.patience_ms });
    this.#is_readmitted = false;
    try {
      void this.#askAfter(this.#failures.pauseAfter(error));
    } catch (last_word) {
      this.#over(() => this.#reject(last_word));
    }
  }

  async #askAfter(ms: number): Promise<void> {
    const { surroundings, closed } = this.#asked;
    const { signal, release } = joinSignals(this.#question.signal, closed);
    try {
      await pause(surroundings, ms, signal);
    } catch (reason) {
      return this.#over(() => this.#reject(reason));
    } finally {
      release();
    }
    if (!this.#is_over) this.#ask();
  }

  #over(settle: () => void): void {
    if (this.#is_over) return;
    this.#is_over = true;
    this.#question.signal?.removeEventListener("abort", this.#abort);
    settle();
    this.#asked.onOver();
  }
}
