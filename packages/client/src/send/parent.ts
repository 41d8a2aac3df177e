/** The handoff that a handler works on, as the sender of others in its name: what they carry down from it. */

import type { HandoffError } from "../errors.ts";

export interface Parent {
  readonly id: string;
  /** The lease it works under: a child of an older one is refused. */
  readonly fence: number;
  readonly correlation_id: string;
  readonly conversation_id: string | null;
  readonly traceparent?: string;
  /** What is left of its deadline now. The relay lets no child outlive it; without any left nothing is sent. */
  deadline_ms(): number;
  /** Aborted when it is canceled or its lease is lost; waits of its children end then. */
  readonly signal: AbortSignal;
  /** A child was refused because the lease is over: told before any heartbeat does. */
  lost(refusal: HandoffError): void;
}
