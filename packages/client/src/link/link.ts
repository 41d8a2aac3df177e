/**
 * The way to a relay: operations by name, whatever carries them. Two links exist, one over a WebSocket and one over
 * HTTP; everything above them is the same.
 *
 * A call is repeated by the link itself, with backoff, while the relay is away or says that a retry can help: every
 * operation is idempotent by its ids, keys and fences, so a repeat changes nothing. It rejects with a HandfastError
 * when the relay refuses, with the signal's reason when that aborts, or when `patience_ms` is over without an answer.
 */

import type { DocumentTyp } from "@handfast/protocol";
import type { OperationName, Operations } from "@handfast/protocol/wire";

export interface CallOptions {
  /** How long the relay is asked to wait for what the call is about; the link asks anew until it is over. */
  readonly wait_ms?: number;
  readonly signal?: AbortSignal | undefined;
  /** How long to go on trying while the relay is away. Default: the client's. */
  readonly patience_ms?: number;
  /**
   * For a call that may not wait long, such as a heartbeat: a connection over which nothing came for so long after it was
   * sent is taken for dead and replaced, and the call is sent again. Default: a connection's own measure of silence.
   */
  readonly answer_ms?: number;
  readonly traceparent?: string;
  /** The answer may leave out what the caller has or can ask for; a relay that does not know this says it all. */
  readonly minimal?: boolean;
}

/** What one call carries. Parts that an operation does not have are left out. */
export interface Call<Name extends OperationName> {
  readonly params?: Operations[Name]["params"];
  readonly query?: Operations[Name]["query"];
  readonly body?: Operations[Name]["body"];
}

/** A body whose document the link signs when it sends it, together with all others of the same frame. */
export interface Unsigned {
  readonly typ: DocumentTyp;
  /** The exact text that is signed. */
  readonly document: string;
  readonly payload?: string;
  readonly payload_encoding?: "base64";
}

export type StreamName = "handoff_events" | "correlation_events" | "read_chunks";

export interface StreamEvent {
  readonly event: string;
  /** Where to go on after a break; events without one are not kept. */
  readonly id?: string;
  readonly data: unknown;
}

/** A lease that ended otherwise than by its worker's own act. */
export interface LeaseOver {
  readonly id: string;
  readonly fence: number;
  readonly code: number;
  readonly reason: string;
  readonly detail: string;
}

export interface Link {
  call<Name extends OperationName>(
    name: Name,
    call: Call<Name>,
    options?: CallOptions,
  ): Promise<Operations[Name]["reply"]>;
  /** A call with a document that this client's key signs; without a key it throws UsageError (acts.ts then calls plainly). */
  sign<Name extends OperationName>(
    name: Name,
    call: Pick<Call<Name>, "params">,
    unsigned: Unsigned,
    options?: CallOptions,
  ): Promise<Operations[Name]["reply"]>;
  /** An atomic batch of submits, each with a document of its own under one signature. */
  signBatch(unsigned: readonly Unsigned[], options?: CallOptions): Promise<Operations["submit_batch"]["reply"]>;
  /**
   * Goes on over breaks by itself from the last event's id, and from the last offset of chunks; a new fence's text begins
   * anew. Returns after the stream's own end (which is not handed on), throws the signal's reason when that aborts.
   * Where the log was cut after the last id, an event `snapshot` stands for what is gone.
   */
  stream<Name extends StreamName>(
    name: Name,
    call: Pick<Call<Name>, "params" | "query">,
    options?: Pick<CallOptions, "signal" | "patience_ms">,
  ): AsyncIterable<StreamEvent>;
  /** Leases that the relay says are over; a link that cannot be told never calls it. */
  onLeaseOver(listener: (over: LeaseOver) => void): () => void;
  /** Waits for what was sent, up to `grace_ms`, then lets go. */
  close(grace_ms: number): Promise<void>;
}
