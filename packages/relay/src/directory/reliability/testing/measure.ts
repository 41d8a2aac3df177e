/** For tests: figures of lives that core really led, or of events as short as can be. */

import type { HandoffEvent, Time } from "@handfast/core";
import { idOf, payload, start } from "@handfast/core/testing";
import type { Life } from "../../../../../core/src/testing/life.ts";
import { limits } from "../../../limits.ts";
import { Reliability, type ReliabilityLimits } from "../reliability.ts";

export const capability = "summarize";

export function newReliability(
  patch: Partial<ReliabilityLimits> = {},
  knownSince: (agent: string) => Time | undefined = () => 0,
): Reliability {
  return new Reliability({ limits: { ...limits, ...patch }, knownSince });
}

/** Everything that was told of these lives, one after the other. */
export function measureLives(...lives: readonly Life[]): Reliability {
  const reliability = newReliability();
  for (const { steps } of lives) {
    for (const { decision, context } of steps) {
      for (const event of decision.events) reliability.apply(event, context.resumed_at);
    }
  }
  return reliability;
}

let handoffs = 0;

interface Short {
  readonly agent?: string;
  readonly capability?: string;
  readonly at?: Time;
  readonly took_ms?: number;
}

/** One attempt that was delivered, acknowledged, and completed or failed for good. */
export function tell(reliability: Reliability, outcome: "completed" | "failed", short: Short = {}): void {
  for (const event of attempt(outcome, short)) reliability.apply(event, 0);
}

function attempt(outcome: "completed" | "failed", short: Short): readonly HandoffEvent[] {
  handoffs += 1;
  const { agent = "bob", at = start, took_ms = 0 } = short;
  const handoff = idOf(handoffs);
  const common = {
    namespace: "default",
    handoff,
    correlation_id: handoff,
    causation_id: null,
    from: "alice",
    to_agent: null,
    capability: short.capability ?? capability,
  };
  const held = { agent, worker: `${agent}-1`, fence: 1 };
  const began = at - took_ms;
  const done = outcome === "completed";
  return [
    { ...common, seq: 2, at: began, type: "delivered", code: 210, ...held, why: { rule: "only", among: 1 } },
    { ...common, seq: 3, at: began, type: "acknowledged", code: 211, ...held, attempt: 1, evidence: "signed" },
    {
      ...common,
      seq: 4,
      at,
      type: outcome,
      code: done ? 200 : 500,
      ...held,
      by: null,
      evidence: "signed",
      output: done ? payload("output") : null,
      error: done ? null : { reason: "trouble", message: "it went wrong" },
      usage: null,
    },
  ];
}
