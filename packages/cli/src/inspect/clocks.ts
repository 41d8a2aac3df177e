/**
 * The five clocks of a handoff: what each allows, what is used, whether it runs. When they end is the relay's own word;
 * how much of an attempt is used is added up from the events.
 */

import type { HandoffView } from "@handfast/protocol/wire";
import { isEnd, type StoryEvent } from "./story-event.ts";

export interface Clock {
  readonly name: "queue" | "ack" | "lease" | "attempt" | "deadline";
  readonly limit_ms: number;
  readonly used_ms: number;
  /** `running` now; `stopped` with what it had used; `idle`: not begun. */
  readonly state: "running" | "stopped" | "idle";
  /** Only while it runs: when it is over. */
  readonly until: number | null;
}

/** The relay's own limit for an attempt where neither the handoff nor a manifest sets one. */
const attempt_default_ms = 5 * 60_000;

export interface ClockFacts {
  readonly events: readonly StoryEvent[];
  /** What the manifest of whoever holds it, or held it last, allows for one attempt. */
  readonly timeout_ms: number | null;
  readonly now: number;
}

export function fiveClocks(view: HandoffView, facts: ClockFacts): readonly Clock[] {
  const { events, now } = facts;
  return [
    queueClock(view, facts),
    ackClock(view, events, now),
    leaseClock(view, now),
    attemptClock(view, facts),
    deadlineClock(view, now),
  ];
}

function running(name: Clock["name"], limit_ms: number, since: number, now: number): Clock {
  return { name, limit_ms, used_ms: Math.max(0, now - since), state: "running", until: since + limit_ms };
}

function stopped(name: Clock["name"], limit_ms: number, used_ms: number): Clock {
  return { name, limit_ms, used_ms, state: "stopped", until: null };
}

function idle(name: Clock["name"], limit_ms: number): Clock {
  return { name, limit_ms, used_ms: 0, state: "idle", until: null };
}

function queueClock(view: HandoffView, { events, now }: ClockFacts): Clock {
  const { queue_ms } = view.limits;
  if (view.state === "queued") {
    const { ready_at, queue_until, blocked } = view;
    if (queue_until === null || (ready_at ?? 0) > now || blocked) return idle("queue", queue_ms);
    return running("queue", queue_ms, queue_until - queue_ms, now);
  }
  const left = events.findLast(({ type }) => type === "delivered") ?? events.findLast(({ type }) => isEnd(type));
  const ready = left && events.findLast((event) => event.seq < left.seq && beginsQueue(event));
  if (left === undefined || ready === undefined) return idle("queue", queue_ms);
  return stopped("queue", queue_ms, Math.max(0, left.at - (ready.ready_at ?? ready.at)));
}

function beginsQueue({ type }: StoryEvent): boolean {
  return type === "accepted" || type === "unblocked" || type === "requeued";
}

function ackClock(view: HandoffView, events: readonly StoryEvent[], now: number): Clock {
  const { ack_ms } = view.limits;
  if (view.state === "delivered" && view.lease !== null) return running("ack", ack_ms, view.lease.delivered_at, now);
  const delivered = events.findLast(({ type }) => type === "delivered");
  const after = delivered && events.find(({ seq }) => seq > delivered.seq);
  if (delivered === undefined || after === undefined) return idle("ack", ack_ms);
  return stopped("ack", ack_ms, after.at - delivered.at);
}

function leaseClock({ limits, lease }: HandoffView, now: number): Clock {
  if (lease === null || lease.acknowledged_at === null) return idle("lease", limits.lease_ms);
  return running("lease", limits.lease_ms, lease.lease_until - limits.lease_ms, now);
}

function attemptClock(view: HandoffView, { events, timeout_ms, now }: ClockFacts): Clock {
  const limit_ms = view.limits.attempt_ms ?? timeout_ms ?? attempt_default_ms;
  const run = attemptRun(events);
  if (run === null) return idle("attempt", limit_ms);
  if (run.since === null) return stopped("attempt", limit_ms, run.used_ms);
  const began = run.since - run.used_ms;
  const until = view.lease?.attempt_until ?? null;
  return running("attempt", until === null ? limit_ms : until - began, began, now);
}

interface AttemptRun {
  readonly used_ms: number;
  /** Since when it runs on; null: it stands still. */
  readonly since: number | null;
}

/** How long the newest attempt has run, without the time it waited for answers; null: none was acknowledged. */
function attemptRun(events: readonly StoryEvent[]): AttemptRun | null {
  let run = null as AttemptRun | null;
  let goesOn = false;
  for (const { type, at, why } of events) {
    if (type === "acknowledged") {
      run = { used_ms: goesOn ? (run?.used_ms ?? 0) : 0, since: at };
      goesOn = false;
    } else if (run === null) {
    } else if (type === "asked" || type === "requeued" || isEnd(type)) {
      run = { used_ms: run.used_ms + (run.since === null ? 0 : at - run.since), since: null };
      goesOn = type === "requeued" && why === "answered";
    } else if (type === "answered" || type === "unanswered") {
      run = { used_ms: run.used_ms, since: at };
    }
  }
  return run;
}

function deadlineClock({ accepted_at, deadline_at, ended_at }: HandoffView, now: number): Clock {
  const limit_ms = deadline_at - accepted_at;
  if (ended_at !== null) return stopped("deadline", limit_ms, ended_at - accepted_at);
  return running("deadline", limit_ms, accepted_at, now);
}
