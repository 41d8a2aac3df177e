/** Mistakes of the state machine: each wraps the real one and spoils some of its decisions. */

import { type Command, type Decision, type Handoff, hasEnded, type Lease, laneOf, liveLease } from "@handfast/core";
import type { CoreDoor } from "../core-door/observed-core.ts";
import type { Mistake } from "./mistake.ts";

type Decide = CoreDoor["decide"];
type Event = Decision["events"][number];

/** A mistake in how commands are decided. */
function deciding(wrong: (decide: Decide) => Decide): Mistake {
  return { core: ({ decide }) => ({ decide: wrong(decide) }) };
}

/** What came of it, with something else as the handoff's next state, or in its events. */
function spoilt(decision: Decision, patch: Partial<Handoff>, events: (event: Event) => Event = (event) => event) {
  const { next } = decision;
  return next === null ? decision : { ...decision, next: { ...next, ...patch }, events: decision.events.map(events) };
}

function withLease(handoff: Handoff, patch: Partial<Lease>): Partial<Handoff> {
  const { status } = handoff;
  if (status.state === "delivered" || status.state === "working") {
    return { status: { ...status, lease: { ...status.lease, ...patch } } };
  }
  if (status.state !== "waiting" || status.lease === null) return {};
  return { status: { ...status, lease: { ...status.lease, ...patch } } };
}

export const staleFenceAccepted = deciding((decide) => (handoff, command, context, now) => {
  const lease = handoff === null ? null : liveLease(handoff);
  if (lease === null || command.type !== "complete") return decide(handoff, command, context, now);
  return decide(handoff, { ...command, fence: lease.fence, agent: lease.agent }, context, now);
});

export const fenceReset = deciding((decide) => (handoff, command, context, now) => {
  const decision = decide(handoff, command, context, now);
  if (command.type !== "deliver" || decision.refusal !== null || decision.next === null) return decision;
  return spoilt(decision, { fence: 1, ...withLease(decision.next, { fence: 1 }) }, (event) =>
    event.type === "delivered" ? { ...event, fence: 1 } : event,
  );
});

/** Only the timer looks at the clock. */
export const expiryByTimer = deciding((decide) => (handoff, command, context, now) => {
  const late = handoff !== null && command.type !== "tick" && now >= handoff.accepted.deadline_at;
  if (!late) return decide(handoff, command, context, now);
  const { accepted } = handoff;
  const decision = decide({ ...handoff, accepted: { ...accepted, deadline_at: now + 1 } }, command, context, now);
  return spoilt(decision, { accepted });
});

export const beatExtendsAttempt = deciding((decide) => (handoff, command, context, now) => {
  const decision = decide(handoff, command, context, now);
  if (command.type !== "beat" || decision.next?.status.state !== "working") return decision;
  const { attempt_until } = decision.next.status.lease;
  const longer = Math.max(attempt_until ?? 0, now + 2 * decision.next.accepted.terms.lease_ms);
  return spoilt(decision, withLease(decision.next, { attempt_until: longer }));
});

export const stallLosesLeases = deciding(
  (decide) => (handoff, command, context, now) => decide(handoff, command, { ...context, resumed_at: 0 }, now),
);

export const beatsIgnored = deciding((decide) => (handoff, command, context, now) => {
  const decision = decide(handoff, command, context, now);
  return command.type === "beat" && decision.refusal === null ? { ...decision, next: null } : decision;
});

/** Once acknowledged it counts as done: nobody looks after the worker any more. */
export const ackIsTheEnd = deciding((decide) => (handoff, command, context, now) => {
  const isWorking = handoff?.status.state === "working";
  return decide(isWorking ? { ...handoff, ...withLease(handoff, { beat_at: now }) } : handoff, command, context, now);
});

export const completedTwice = deciding((decide) => (handoff, command, context, now) => {
  const decision = decide(handoff, command, context, now);
  if (command.type !== "complete" || handoff?.status.state !== "completed" || decision.refusal !== null)
    return decision;
  return endedAs(handoff, "completed", command, now);
});

export const lateOverwrites = deciding((decide) => (handoff, command, context, now) => {
  const decision = decide(handoff, command, context, now);
  const late = decision.events.some(({ type }) => type === "late");
  if (command.type !== "complete" || handoff === null || !hasEnded(handoff.status) || !late) return decision;
  return endedAs(handoff, "completed", command, now);
});

export const cancelOverrides = deciding((decide) => (handoff, command, context, now) => {
  const decision = decide(handoff, command, context, now);
  const mine = command.type === "cancel" && decision.refusal === null;
  if (!mine || handoff?.status.state !== "completed") return decision;
  return endedAs(handoff, "canceled", command, now);
});

/** Another end after the end. */
function endedAs(handoff: Handoff, state: "completed" | "canceled", command: Command, now: number): Decision {
  const { accepted, status } = handoff;
  if (!hasEnded(status)) throw new Error("not ended yet");
  const { id, namespace, correlation_id, causation, from, to, capability } = accepted;
  const code = state === "completed" ? 200 : 410;
  const said = command.type === "complete" ? command : null;
  const fence = said?.fence ?? null;
  const agent = said?.agent ?? null;
  const evidence = "attested" as const;
  const outcome = {
    ...status.outcome,
    code,
    fence,
    agent,
    evidence,
    content: said?.content ?? "canceled",
    usage: null,
  };
  const by = said === null ? from : null;
  const seq = handoff.seq + 1;
  const about = { namespace, handoff: id, seq, at: now, correlation_id, causation_id: causation?.id ?? null, from };
  const told = {
    code,
    agent,
    worker: said?.worker ?? null,
    fence,
    by,
    evidence,
    output: null,
    error: null,
    usage: null,
  };
  return {
    next: { ...handoff, seq, version: handoff.version + 1, status: { ...status, state, ended_at: now, outcome } },
    events: [{ ...about, to_agent: to, capability, type: state, ...told }],
    refusal: null,
    follow: [],
    durable: true,
    keep: null,
    purge: false,
  };
}

export const budgetPerChild = deciding((decide) => (handoff, command, context, now) => {
  const decision = decide(handoff, command, context, now);
  const follow = decision.follow.filter((one) => one.kind !== "command" || one.command.type !== "charge");
  return { ...decision, follow };
});

/** Whatever ended counts as taken. */
export const untakenDropped: Mistake = {
  core: ({ decide, findable }) => ({
    decide: (handoff, command, context, now) =>
      decide(command.type === "tick" ? asTaken(handoff) : handoff, command, context, now),
    findable: (handoff, timing, now) => ({
      ...findable(handoff, timing, now),
      wake_at: findable(asTaken(handoff), timing, now).wake_at,
    }),
  }),
};

function asTaken<H extends Handoff | null>(handoff: H): H {
  if (handoff === null || !hasEnded(handoff.status)) return handoff;
  const { ended_at, dead_letter } = handoff.status;
  const settled = dead_letter === null ? null : ({ status: "discarded", by: "", at: ended_at } as const);
  return { ...handoff, status: { ...handoff.status, taken_at: ended_at, dead_letter: settled } };
}

export const answeredTwice = deciding((decide) => (handoff, command, context, now) => {
  const isAgain = command.type === "answer" && handoff?.status.state === "working";
  const question = isAgain ? handoff.questions.find(({ id }) => id === command.question) : undefined;
  if (handoff === null || question === undefined || handoff.status.state !== "working") {
    return decide(handoff, command, context, now);
  }
  const questions = handoff.questions.map((one) => (one === question ? { ...one, resolution: null } : one));
  const { lease } = handoff.status;
  const left = { ...lease, attempt_left_ms: (lease.attempt_until ?? now) - now };
  const open = { ...handoff, questions, status: { state: "waiting", question: question.id, lease: left } as const };
  return decide(open, command, context, now);
});

/** A failed attempt lets the rest of its lane go. */
export const retryFreesLane: Mistake = {
  core: ({ decide }) => {
    const blocked = new Map<string, string[]>();
    return {
      decide: (handoff, command, context, now) => {
        const decision = decide(handoff, command, context, now);
        const { next } = decision;
        const lane = next === null ? null : laneOf(next.accepted);
        if (next?.status.state !== "queued" || lane === null) return decision;
        if (command.type === "submit" && next.status.blocked) {
          blocked.set(lane, [...(blocked.get(lane) ?? []), next.accepted.id]);
        }
        if (command.type !== "fail") return decision;
        const freed = (blocked.get(lane) ?? []).filter((id) => id !== next.accepted.id);
        const follow = freed.map((id) => ({ kind: "command", id, command: { type: "unblock" } }) as const);
        return { ...decision, follow: [...decision.follow, ...follow] };
      },
    };
  },
};

/** What the relay's own absence lost is held against the handoff. */
export const absenceCounts = deciding((decide) => (handoff, command, context, now) => {
  const lease = handoff === null ? null : liveLease(handoff);
  const unheard = handoff?.status.state === "working" && lease !== null && lease.beat_at < context.resumed_at;
  const counted = unheard && now >= context.resumed_at + handoff.accepted.terms.lease_ms;
  return decide(counted ? { ...handoff, attempts: handoff.attempts + 1 } : handoff, command, context, now);
});

export const backoffIgnored = deciding((decide) => (handoff, command, context, now) => {
  const decision = decide(handoff, command, context, now);
  const { next } = decision;
  if (command.type !== "fail" || next?.status.state !== "queued") return decision;
  return spoilt(decision, { status: { ...next.status, ready_at: now } }, (event) =>
    event.type === "requeued" ? { ...event, ready_at: now } : event,
  );
});

export const exclusionForgotten = deciding((decide) => (handoff, command, context, now) => {
  const decision = decide(handoff, command, context, now);
  return command.type === "reject" ? spoilt(decision, { excluded: handoff?.excluded ?? [] }) : decision;
});

export const redrivenTwice = deciding((decide) => (handoff, command, context, now) => {
  const status = handoff?.status;
  if (command.type !== "redrive" || handoff === null || status === undefined || !hasEnded(status)) {
    return decide(handoff, command, context, now);
  }
  const open = status.dead_letter === null ? null : ({ status: "open" } as const);
  return decide({ ...handoff, status: { ...status, dead_letter: open } }, command, context, now);
});

export const retryableIsFinal = deciding(
  (decide) => (handoff, command, context, now) =>
    decide(handoff, command.type === "fail" ? { ...command, retryable: false } : command, context, now),
);

export const anyoneCancels = deciding(
  (decide) => (handoff, command, context, now) =>
    decide(handoff, command.type === "cancel" ? { ...command, actor: { kind: "relay" } } : command, context, now),
);

export const newestFirst: Mistake = {
  core: ({ choose }) => ({
    choose: (ready, workers, now, routing) =>
      choose(
        ready.map((one) => ({ ...one, rank: -one.rank })),
        workers,
        now,
        routing,
      ),
  }),
};
