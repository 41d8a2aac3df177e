/** A call before anything is wrong with it: an operation of the table, by somebody, about something real. */

import type { Operation } from "../../../packages/relay/src/operations/operation.ts";
import type { AgentKey } from "../cast/agent-key.ts";
import type { Persona } from "../cast/persona.ts";

/** A document that is still to be signed, and what goes beside it. */
export interface Unsigned {
  readonly typ: string;
  readonly said: Readonly<Record<string, unknown>>;
  readonly payload: string | null;
  readonly key: AgentKey;
  /** Of a rotation: the new key signs too. */
  readonly new_key?: AgentKey;
}

export interface BaseCall {
  readonly operation: Operation;
  readonly persona: Persona;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** Undefined: the operation takes none. */
  readonly body: unknown;
  /** In place of the body, once it is signed. */
  readonly unsigned: Unsigned | null;
  /** Of an artifact. */
  readonly bytes: Buffer | null;
  readonly content_type: string | null;
  readonly wait_ms: number | null;
  readonly stream: boolean;
  readonly facts: Facts;
  /** The worker it claims as, for whoever learns from the answer. */
  readonly worker: string | null;
  /** Told when it was done. */
  readonly done?: () => void;
}

/** What stands in headers over HTTP, and beside the body over a WebSocket. */
export interface Facts {
  readonly idempotency_key?: string;
  readonly traceparent?: string;
  readonly last_event_id?: string;
  readonly range?: string;
}
