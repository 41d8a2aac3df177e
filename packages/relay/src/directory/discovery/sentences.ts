/** How facts about a candidate are said to a person. */

import type { Cost } from "@handfast/protocol";
import type { LivenessView, ReliabilityView } from "@handfast/protocol/wire";
import type { Pace } from "./candidate.ts";
import type { ForeignMark } from "./entry.ts";

const units = [
  [24 * 60 * 60 * 1_000, "day"],
  [60 * 60 * 1_000, "hour"],
  [60 * 1_000, "minute"],
  [1_000, "second"],
] as const;

/** In the largest unit of which it is a whole number. */
export function durationWords(ms: number): string {
  const whole = Math.round(ms);
  for (const [unit_ms, name] of units) {
    const count = whole / unit_ms;
    if (Number.isInteger(count) && count > 0) return `${count} ${name}${count === 1 ? "" : "s"}`;
  }
  return `${whole} ms`;
}

export function paceWords({ ms, by }: Pace): string {
  switch (by) {
    case "measured":
      return `95 of 100 of its attempts were measured to take ${durationWords(ms)} at most`;
    case "claimed":
      return `It claims to take ${durationWords(ms)}`;
    case "timeout":
      return `It may take ${durationWords(ms)}`;
  }
}

export function costWords({ amount, per }: Cost): string {
  return `${amount} ${per === "handoff" ? "per handoff" : "per thousand tokens"}`;
}

/** What it claims beside what was measured. */
export function claimWords({ claim, status, attempts, lower, upper }: ReliabilityView): string {
  const said =
    claim === null ? "It claims nothing of its reliability" : `It claims to succeed in ${claim} of its attempts`;
  const n = Math.round(attempts);
  if (n === 0) return `${said}; nothing has been measured yet.`;
  const measured = `measured were ${rounded(lower)} to ${rounded(upper)} over ${n} attempt${n === 1 ? "" : "s"}`;
  return `${said}; ${measured}${claim === null ? "" : `: ${status}`}.`;
}

function rounded(share: number): number {
  return Math.round(share * 1_000) / 1_000;
}

export function presenceWords({ state, workers }: LivenessView): string {
  switch (state) {
    case "live":
      return `It is live, with ${workers} worker${workers === 1 ? "" : "s"} heard of lately.`;
    case "idle":
      return "It is idle: its registration holds, and no worker was heard of lately.";
    case "lapsed":
      return "Its registration has lapsed.";
  }
}

export function foreignWords({ url, verified }: ForeignMark): string {
  const trust = verified ? "its own signature vouches for it" : "no signature of its own vouches for it";
  return `It is foreign: ${url} tells of it, and ${trust}. Nothing can be handed to it here.`;
}
