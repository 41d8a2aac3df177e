/** What was measured of an agent, beside what it claims. */

import Type, { type Static } from "typebox";
import { nullable, time } from "./handoff.ts";

const share = Type.Number({ minimum: 0, maximum: 1 });
const took_ms = nullable(Type.Number({ description: "From the ack to the end of attempts that succeeded." }));

/** Never a bare percentage: how many attempts, and between which bounds the share of successes lies. */
export const measured = Type.Object({
  attempts: Type.Number({ description: "Attempts that counted, each weighing less the older it is." }),
  successes: Type.Number(),
  lower: share,
  upper: share,
  p50_ms: took_ms,
  p95_ms: took_ms,
  since: nullable(time),
  last_at: nullable(time),
  window_ms: Type.Number({ description: "After so long an attempt weighs half." }),
});

export const measured_capability = Type.Object({
  capability: Type.String(),
  claim: nullable(Type.Number({ description: "The share of attempts that it says will succeed." })),
  status: Type.Enum(["verified", "breached", "unproven", "unclaimed"], {
    description:
      "verified: the lower bound is not below the claim. breached: the upper bound is. unproven: neither yet.",
  }),
  measured,
});

export const agent_reliability = Type.Object({
  agent: Type.String(),
  capabilities: Type.Array(measured_capability),
});

export type AgentReliability = Static<typeof agent_reliability>;
