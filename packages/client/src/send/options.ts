/** What a sender may say about its handoffs. Durations are milliseconds or text such as "250ms", "60s", "5m", "2h", "7d". */

import type { Artifact, Budget } from "@handfast/protocol";
import type { Duration } from "../duration.ts";
import { shown } from "../shown.ts";
import { usage } from "./faults.ts";

/** Who is to do it: a capability (also as a plain string), an agent by its name, or a capability of that agent. */
export type Target = string | { readonly to?: string; readonly capability?: string };

/** Bytes that go along as an artifact, put up by `send` itself. */
export interface ArtifactBytes {
  readonly bytes: Uint8Array;
  /** Default: application/octet-stream. */
  readonly mediaType?: string;
  readonly name?: string;
}

/** How one handoff is to be handled. Everything is optional. */
export interface SendOptions {
  /** Only agents that offer the capability in a version of this range (`^1.2`, `>=2 <4`). Default: any. */
  readonly version?: string;
  /** The deadline: an end is reached within it. Default: the relay's, 15 minutes. */
  readonly timeout?: Duration;
  /** The queue clock: how long it may wait for a delivery. Default: until the deadline. */
  readonly queue?: Duration;
  /** The ack clock: how long a worker may take to acknowledge a delivery. Default: 10 s. */
  readonly ack?: Duration;
  /** The lease clock: how long a worker may be silent. Default: 30 s; at least 2 s. */
  readonly lease?: Duration;
  /** The attempt clock: the longest run of one attempt. Default: what the agent's manifest says, else 5 minutes. */
  readonly attempt?: Duration;
  /** How many attempts there may be. Default: 3. */
  readonly attempts?: number;
  /** `until_ack`: once acknowledged it is never tried a second time. Default: `attempts`. */
  readonly retry?: "attempts" | "until_ack";
  /** Sends with the same key and content are one handoff, for 30 days; with other content the second is refused (409). */
  readonly idempotencyKey?: string;
  /** The group it belongs to. Default: that of the handoff being worked on, else its own id. */
  readonly correlation?: string;
  readonly conversation?: string;
  /** Handoffs to one target with the same ordering key are worked on one after the other, in this order. */
  readonly orderingKey?: string;
  /** 0 (default) to 9: goes before what was accepted a little earlier. */
  readonly priority?: number;
  /** Your own marks, up to 16; handoffs can be listed by them. */
  readonly labels?: Readonly<Record<string, string>>;
  /**
   * The id of a contract: its terms hold. An agent with a key names its provider and capability as target, as
   * `contract.send()` does by itself.
   */
  readonly contract?: string;
  /** What this handoff and all below it may spend; `cost` in millionths of the unit of account. */
  readonly budget?: Budget;
  /** What the output must fit, as JSON Schema or a schema of zod and others: unfit output is given back to the worker. */
  readonly expects?: object;
  /** `signed`: only agents that sign their acks and outcomes themselves; `result()` then checks those signatures. */
  readonly evidence?: "signed" | "any";
  /** A capability that gets the dead letter, should it become one. */
  readonly deadLetterTo?: string;
  /** Wait in the queue for somebody to offer the capability, in place of being refused (406). */
  readonly queueIfAbsent?: boolean;
  /** From within a handler: it goes on when the handoff being worked on ends. */
  readonly detached?: boolean;
  /** Files that go along: bytes to put up, or references to artifacts that are up already. */
  readonly artifacts?: readonly (ArtifactBytes | Artifact)[];
  /** Extensions by URI: kept, passed on, ignored. */
  readonly ext?: Readonly<Record<string, unknown>>;
  /** W3C trace context. Default: that of the handoff being worked on. */
  readonly traceparent?: string;
  /** The input is a string and goes as plain text, not as JSON. */
  readonly text?: boolean;
  /** Gives up sending. What the relay has accepted by then stays accepted. */
  readonly signal?: AbortSignal;
}

/** One of many pieces of work: who does it, with what, and options of its own over those of the scatter. */
export interface Task extends Omit<SendOptions, "correlation" | "signal"> {
  readonly to?: string;
  readonly capability?: string;
  readonly input: unknown;
}

/** Options of a whole scatter: those of `send` hold for every task that does not say otherwise. */
export interface ScatterOptions extends SendOptions {
  /** Do not cancel what is left when `any` or `quorum` is decided or `all` has failed. Default: false. */
  readonly keep?: boolean;
}

/** How long a wait may last and what ends it. A wait that ends cancels nothing. */
export interface WaitOptions {
  readonly signal?: AbortSignal;
  /** Rejects with reason `wait_over` after so long; the handoff goes on. */
  readonly timeout?: Duration;
}

/** Options of `result()` and `outcome()`. */
export interface ResultOptions extends WaitOptions {
  /** Confirm to the relay, in the background, that the outcome is here. Default: true. */
  readonly take?: boolean;
  /** Check the recipient's own signature under the outcome. Default: true where `evidence: "signed"` was demanded. */
  readonly verify?: boolean;
}

const known: ReadonlySet<string> = new Set<keyof SendOptions | keyof ScatterOptions>([
  ...(["version", "timeout", "queue", "ack", "lease", "attempt", "attempts", "retry", "idempotencyKey"] as const),
  ...([
    "correlation",
    "conversation",
    "orderingKey",
    "priority",
    "labels",
    "contract",
    "budget",
    "expects",
    "evidence",
    "deadLetterTo",
  ] as const),
  ...(["queueIfAbsent", "detached", "artifacts", "ext", "traceparent", "text", "signal", "keep"] as const),
]);

/** A misspelt option would be left out in silence: the work would run without the limit its sender meant. */
export function checkOptionNames(options: object, besides: readonly string[] = []): void {
  if (typeof options !== "object" || options === null) {
    throw usage(`The options are ${shown(options)}.`, "Leave them out, or give an object.");
  }
  const unknown = Object.keys(options).find((name) => !known.has(name) && !besides.includes(name));
  if (unknown === undefined) return;
  throw usage(`There is no option ${JSON.stringify(unknown)}.`, `Use one of ${[...known, ...besides].join(", ")}.`);
}
