/** Mistakes that systems of this kind have made, put back one at a time: the simulator must find each. */

import * as core from "./in-core.ts";
import * as front from "./in-front.ts";
import * as routing from "./in-routing.ts";
import * as store from "./in-store.ts";
import type { Mistake } from "./mistake.ts";

interface KnownMistake {
  readonly what: string;
  /** Who is known for it, or where it comes from. */
  readonly who: string;
  readonly mistake: Mistake;
}

export const mistakes = {
  "dropped-write": {
    what: 'every 50th commit says "ok" for something it does not write',
    who: "disks that lie about a flush",
    mistake: store.droppedWrite,
  },
  "answer-before-commit": {
    what: "the answer goes first, the bytes follow",
    who: "brokers that sync every now and then: NATS JetStream by default, every two minutes",
    mistake: store.answerBeforeCommit,
  },
  "error-carried-on": {
    what: "a commit that failed is taken for done, and the relay goes on with what it has in memory",
    who: "PostgreSQL until 2018, which repeated a failed fsync and believed the second answer",
    mistake: store.errorCarriedOn,
  },
  "lost-timer": {
    what: "some handoffs are never due",
    who: "schedulers whose index of timers misses a row",
    mistake: store.lostTimer,
  },
  "lane-backwards": {
    what: "the last of a lane is taken for its first",
    who: "queues that promise order and sort by the wrong column",
    mistake: store.laneBackwards,
  },
  "keys-in-memory": {
    what: "idempotency keys are forgotten with the process",
    who: "servers that keep them in a cache",
    mistake: store.keysInMemory,
  },
  "children-left-running": {
    what: "the end of a parent does not reach its children",
    who: "task queues in which revoking a task leaves what it started",
    mistake: store.childrenLeftRunning,
  },
  "events-renumbered": {
    what: "after a restart the numbers of a handoff's events begin anew",
    who: "logs that keep their counter in memory",
    mistake: store.eventsRenumbered,
  },
  "wakeup-lost": {
    what: "now and then an idle worker is not told that there is work",
    who: "queues that rely on notifications alone",
    mistake: store.wakeupLost,
  },
  "output-not-kept": {
    what: "from the second attempt on the outcome is stored without its bytes",
    who: "stores that write the body once per job",
    mistake: store.outputNotKept,
  },
  "stale-fence-accepted": {
    what: "an outcome counts whatever fence it comes under",
    who: "pg-boss, graphile-worker, pgmq, River and Oban, which complete by id alone",
    mistake: core.staleFenceAccepted,
  },
  "fence-reset": {
    what: "every delivery begins with fence 1 again",
    who: "attempt counters that a retry resets",
    mistake: core.fenceReset,
  },
  "expiry-by-timer": {
    what: "a deadline counts only once its timer has fired",
    who: "every system in which a late timer lets late work through",
    mistake: core.expiryByTimer,
  },
  "beat-extends-attempt": {
    what: "a worker that hangs and beats is never ended",
    who: "queues that know only heartbeats: River's users asked for both limits (#682, #773, #1258)",
    mistake: core.beatExtendsAttempt,
  },
  "stall-loses-leases": {
    what: "leases run out while the relay itself was away",
    who: "BullMQ: jobs taken for stalled and run twice (#3183, #3056)",
    mistake: core.stallLosesLeases,
  },
  "beats-ignored": {
    what: "a lease ends at a fixed time, beat or not",
    who: "Celery on Redis: what outlasts the visibility timeout runs again",
    mistake: core.beatsIgnored,
  },
  "ack-is-the-end": {
    what: "once acknowledged, nobody notices that the worker is gone",
    who: "Celery's default: a task is acknowledged before it runs",
    mistake: core.ackIsTheEnd,
  },
  "completed-twice": {
    what: "a copy of a message completes a second time",
    who: "consumers behind at-least-once delivery that do not remember",
    mistake: core.completedTwice,
  },
  "late-overwrites": {
    what: "a late outcome replaces the end",
    who: "result stores in which the last write wins",
    mistake: core.lateOverwrites,
  },
  "cancel-overrides": {
    what: "a cancel after the end takes the outcome away",
    who: "systems where canceling only sets a flag",
    mistake: core.cancelOverrides,
  },
  "budget-per-child": {
    what: "what children use is not charged to those above",
    who: "quotas that are counted per call",
    mistake: core.budgetPerChild,
  },
  "untaken-dropped": {
    what: "retention removes outcomes that nobody has taken",
    who: "RQ, which keeps a result for 500 seconds by default",
    mistake: core.untakenDropped,
  },
  "answered-twice": {
    what: "a question takes a second answer after the first",
    who: "approval flows with two approvers",
    mistake: core.answeredTwice,
  },
  "retry-frees-lane": {
    what: "while one waits for its retry, the next of its lane overtakes it",
    who: "ordered queues with a separate retry topic",
    mistake: core.retryFreesLane,
  },
  "absence-counts": {
    what: "an attempt that the relay's own crash lost is counted",
    who: "SQS, where every receive counts towards the dead-letter queue",
    mistake: core.absenceCounts,
  },
  "backoff-ignored": {
    what: "a failed attempt is repeated at once",
    who: "negative acknowledgements that requeue immediately, as AMQP's do",
    mistake: core.backoffIgnored,
  },
  "exclusion-forgotten": {
    what: "an agent that rejected a handoff gets it again",
    who: "AMQP: a rejected message may come back to the same consumer",
    mistake: core.exclusionForgotten,
  },
  "redriven-twice": {
    what: "a second redrive makes a second handoff",
    who: "dead-letter tools that move a message and lose the answer",
    mistake: core.redrivenTwice,
  },
  "retryable-is-final": {
    what: "a failure that a retry could mend is taken for final",
    who: "workers that map every error to the same code",
    mistake: core.retryableIsFinal,
  },
  "anyone-cancels": {
    what: "whoever knows an id can cancel",
    who: "interfaces that check the caller on all operations but one",
    mistake: core.anyoneCancels,
  },
  "newest-first": {
    what: "the worst rank goes first, and old work starves",
    who: "stacks that pass for queues",
    mistake: core.newestFirst,
  },
  "breach-ignored": {
    what: "an agent that does not keep what it claims gets work while a sound one waits",
    who: "load balancers that look at load alone",
    mistake: routing.breachIgnored,
  },
  "lapse-ignored": {
    what: "work goes to an agent whose registration ran out",
    who: "registries without leases: UDDI's were mostly dead entries",
    mistake: routing.lapseIgnored,
  },
  "limit-ignored": {
    what: "an agent gets as many at a time as its workers ask for, whatever it says it takes",
    who: "pools that count per process",
    mistake: routing.limitIgnored,
  },
  "version-ignored": {
    what: "an agent that changed its version meanwhile still gets what asks for the old one",
    who: "rollouts that check versions when work is accepted, not when it is given out",
    mistake: routing.versionIgnored,
  },
  "lane-wanders": {
    what: "each handoff of a lane goes to whoever is free",
    who: "queues that keep order and forget who holds the state",
    mistake: routing.laneWanders,
  },
  "delivered-twice": {
    what: "two that ask at once get the same lease",
    who: "queues on a table, read without a row lock",
    mistake: front.deliveredTwice,
  },
  "claim-not-remembered": {
    what: "a repeated claim gets other leases",
    who: "queues in which a lost answer strands what it carried",
    mistake: front.claimNotRemembered,
  },
  "batch-not-atomic": {
    what: "of a batch, what fits is accepted and the rest refused",
    who: "SQS SendMessageBatch, by design",
    mistake: front.batchNotAtomic,
  },
  "taken-by-reading": {
    what: "reading an outcome confirms it",
    who: "AMQP's automatic acknowledgement; a list popped from Redis",
    mistake: front.takenByReading,
  },
  "retry-refused": {
    what: "an honest retry is refused because its id and salt are new",
    who: "idempotency that compares whole requests",
    mistake: front.retryRefused,
  },
} as const satisfies Readonly<Record<string, KnownMistake>>;

export type MistakeName = keyof typeof mistakes;

export function isMistakeName(name: string): name is MistakeName {
  return Object.hasOwn(mistakes, name);
}

export function mistakeNamed(name: string): Mistake {
  if (!isMistakeName(name)) throw new Error(`no mistake ${name}`);
  return mistakes[name].mistake;
}
