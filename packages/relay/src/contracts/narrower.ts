/** Which of two limits gives less: what a provider may propose beside what was asked, and a handoff under a contract. */

import type { AgreedLimits, Limits } from "@handfast/protocol";

const counts = ["deadline_ms", "queue_ms", "ack_ms", "lease_ms", "attempt_ms", "max_attempts"] as const;

/** The fields of `asked` that go beyond what was agreed on. */
export function beyond(asked: Limits, agreed: AgreedLimits): readonly (keyof AgreedLimits)[] {
  const more: (keyof AgreedLimits)[] = counts.filter((name) => (asked[name] ?? 0) > agreed[name]);
  // Once acknowledged never again: whoever agreed on that did not agree on a second attempt.
  if (asked.retry === "attempts" && agreed.retry === "until_ack") more.push("retry");
  return more;
}

/** What holds where some of it was said: the rest as agreed on. */
export function within(asked: Limits, agreed: AgreedLimits): AgreedLimits {
  const deadline_ms = asked.deadline_ms ?? agreed.deadline_ms;
  return {
    deadline_ms,
    queue_ms: asked.queue_ms ?? Math.min(agreed.queue_ms, deadline_ms),
    ack_ms: asked.ack_ms ?? agreed.ack_ms,
    lease_ms: asked.lease_ms ?? agreed.lease_ms,
    attempt_ms: asked.attempt_ms ?? agreed.attempt_ms,
    max_attempts: asked.max_attempts ?? agreed.max_attempts,
    retry: asked.retry ?? agreed.retry,
  };
}

export function isSame(one: AgreedLimits, other: AgreedLimits): boolean {
  return one.retry === other.retry && counts.every((name) => one[name] === other[name]);
}

/** Whether it is tried less often: by the count, or because what was acknowledged is not tried again. */
export function isFewer(one: AgreedLimits, other: AgreedLimits): boolean {
  return one.max_attempts < other.max_attempts || one.retry !== other.retry;
}
