/** A way to the relay: calls operations by name, as one caller, over HTTP or over a WebSocket. */

import type { OperationName } from "@handfast/protocol/wire";

export interface CallParts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: unknown;
  readonly wait_ms?: number;
  readonly idempotency_key?: string;
  readonly traceparent?: string;
  readonly last_event_id?: string;
  /** Of an artifact. */
  readonly bytes?: Uint8Array;
  readonly content_type?: string;
  /** Gives the call up: a broken wait. */
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly status: number;
  /** Its JSON, a problem included; undefined: it has none. */
  readonly body: unknown;
  /** Where it is no JSON. */
  readonly text: string | null;
  readonly bytes: Uint8Array | null;
  readonly retry_after_ms: number | null;
}

export interface StreamEvent {
  readonly event: string;
  readonly id: string | null;
  readonly data: unknown;
}

/** Iterating it waits for what comes; it is over after `end`, and `close` gives it up. */
export interface EventStream extends AsyncIterable<StreamEvent> {
  close(): void;
}

export interface Link {
  call(op: OperationName, parts: CallParts): Promise<Answer>;
  stream(op: OperationName, parts: CallParts): Promise<EventStream>;
  close(): void;
}

/** How long an answer may take beyond what the caller is willing to wait. */
export const answer_within_ms = 20_000;
