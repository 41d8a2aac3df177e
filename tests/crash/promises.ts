/** Every promise that a crash must not break, as a check of one handoff's story: what is wrong with it, in words. */

import { isDeepStrictEqual } from "node:util";
import type { LogEvent, WorkerTold } from "./evidence.ts";
import type { Story } from "./stories.ts";
import { digestOf, isDone, isTask } from "./task.ts";

/** Who was killed, and when the relay came back. */
interface Kills {
  readonly workers: ReadonlyMap<string, WorkerTold>;
  readonly relay_back_at: readonly number[];
}

type Check = (story: Story, kills: Kills) => readonly string[];

const ends: ReadonlySet<string> = new Set(["completed", "failed", "rejected", "canceled", "expired"]);
/** Clocks of relay and test, and the moment in which a broken connection is noticed. */
const slack_ms = 2_000;
/** A worker that lives keeps a lease of this length, however busy the machine is. */
const sure_lease_ms = 6_000;
/** A client that found no relay pauses for up to 5 s before it tries again, and has to connect then. */
const come_back_ms = 15_000;

const of = (events: readonly LogEvent[], type: string) => events.filter((event) => event.type === type);

const wasAccepted: Check = ({ intent, sent, accepted, view, input }) => {
  if (view === null) return ["it was intended, and the relay does not know it"];
  if (intent === null && sent.length === 0) return ["nobody ever sent it"];
  const ids = [...accepted, ...sent].map(({ id }) => id);
  const task = intent?.task ?? sent[0]?.task;
  return [
    ...(ids.every((id) => id === view.id) ? [] : [`it was accepted as ${[...new Set(ids)].join(" and ")}`]),
    ...(intent === null || intent.id === null || intent.id === view.id ? [] : ["the relay gave it another id"]),
    ...(isDeepStrictEqual(input, task) ? [] : [`what was sent is not what was accepted: ${JSON.stringify(input)}`]),
  ];
};

const isDense: Check = ({ events }) =>
  events.every(({ seq }, index) => seq === index + 1)
    ? []
    : [`its events are numbered ${events.map(({ seq }) => seq).join(", ")}`];

const endedOnce: Check = ({ events, view }) => {
  const types = events.filter(({ type }) => ends.has(type)).map(({ type }) => type);
  return [
    ...(isDeepStrictEqual(types, ["completed"]) ? [] : [`it ended ${types.length} times: ${types.join(", ")}`]),
    ...(view?.state === "completed" ? [] : [`its state is ${view?.state}`]),
  ];
};

/** The outcome is what a worker wrote down under that fence before it said so, and what its sender got, each time. */
const outcomeStands: Check = ({ key, events, view, input, output, did, outcomes, intent }) => {
  const [completed] = of(events, "completed");
  const winners = did.filter(({ fence }) => fence === completed?.fence);
  const digest = isTask(input) ? digestOf(input, key) : null;
  return [
    ...(winners.some((winner) => isDeepStrictEqual(winner.output, output)) ? [] : ["no worker did what was applied"]),
    ...(view?.outcome?.fence === completed?.fence ? [] : ["the outcome's fence is not the log's"]),
    ...(isDone(output) && output.digest === digest ? [] : ["the work's result is wrong"]),
    ...(outcomes.every((told) => isDeepStrictEqual(told.output, output)) ? [] : ["its sender was told something else"]),
    ...(intent === null || outcomes.length > 0 ? [] : ["its sender never got the outcome"]),
  ];
};

const takenOnce: Check = ({ events, intent, taken }) => {
  const times = of(events, "taken").length;
  return [
    ...(times === 1 ? [] : [`it was taken ${times} times`]),
    ...(intent === null || taken > 0 ? [] : ["its sender was never told that it was taken"]),
  ];
};

const belongsTogether: Check = ({ events, intent, sent }) => {
  const correlations = new Set(events.map(({ correlation_id }) => correlation_id));
  const causes = new Set(events.map(({ causation_id }) => causation_id));
  const parent = sent[0]?.parent ?? null;
  return [
    ...(correlations.size === 1 ? [] : [`it has ${correlations.size} correlations`]),
    ...(intent === null || correlations.has(intent.correlation) ? [] : ["its correlation is not the sender's"]),
    ...(causes.size === 1 && causes.has(parent) ? [] : [`its cause is ${[...causes].join(", ")}, not ${parent}`]),
  ];
};

/** Fences only grow; one is acknowledged only after it was given; the last one acknowledged is the one that completes. */
const fencesHold: Check = ({ events }) => {
  const given = of(events, "delivered").map(({ fence }) => fence ?? 0);
  const taken = of(events, "acknowledged").map(({ fence }) => fence ?? 0);
  const [completed] = of(events, "completed");
  return [
    ...(given.every((fence, index) => fence > (given[index - 1] ?? 0)) ? [] : [`fences do not grow: ${given}`]),
    ...(taken.every((fence) => given.includes(fence)) ? [] : ["a fence was acknowledged that was never given"]),
    ...(completed?.fence === taken.at(-1) ? [] : ["it was completed under a fence that was not the last"]),
  ];
};

/** The handler runs only after its ack was confirmed, and once per lease, unless its worker came back to it. */
const ranOncePerLease: Check = ({ events, began }) => {
  const acknowledged = new Set(of(events, "acknowledged").map(({ fence }) => fence));
  const first = began.filter(({ resumed }) => !resumed);
  return [
    ...(began.every(({ fence }) => acknowledged.has(fence)) ? [] : ["work began without an ack"]),
    ...(new Set(first.map(({ fence }) => fence)).size === first.length ? [] : ["a lease was worked on twice"]),
  ];
};

/** What was confirmed as kept is there in every later attempt. */
const checkpointsLast: Check = ({ kept, began }) =>
  began.flatMap(({ fence, steps }) => {
    const before = kept.filter((other) => other.fence < fence).map((other) => other.steps);
    return steps >= Math.max(0, ...before) ? [] : [`attempt ${fence} began at step ${steps} of ${Math.max(...before)}`];
  });

/** Work goes back to the queue only because a worker or the relay was killed, or an answer came. */
const lostOnlyByKills: Check = ({ events, view }, kills) =>
  of(events, "requeued").flatMap(({ why, worker, fence, at }) => {
    if (why === "answered" || why === "released") return [];
    if (why !== "lease_lost" && why !== "unacknowledged") return [`it was requeued: ${why}`];
    const given_at = of(events, "delivered").find((event) => event.fence === fence)?.at ?? at;
    const is_short = why === "lease_lost" && (view?.limits.lease_ms ?? 0) < sure_lease_ms;
    const is_explained = wasKilled(kills, worker ?? "", given_at, at) || cameBack(kills, given_at, at);
    return is_explained || is_short ? [] : [`fence ${fence} was lost (${why}) while ${worker} and the relay lived`];
  });

function wasKilled({ workers }: Kills, worker: string, given_at: number, lost_at: number): boolean {
  const killed_at = workers.get(worker)?.killed_at ?? [];
  return killed_at.some((time) => time >= given_at - slack_ms && time <= lost_at + slack_ms);
}

/** The relay was away after the delivery, and back so shortly before the loss that its worker may not have been. */
function cameBack({ relay_back_at }: Kills, given_at: number, lost_at: number): boolean {
  return relay_back_at.some((time) => time >= given_at - slack_ms && time <= lost_at && lost_at - time < come_back_ms);
}

export const promises: Readonly<Record<string, Check>> = {
  "nothing accepted is lost": wasAccepted,
  "events are dense": isDense,
  "there is exactly one end": endedOnce,
  "the outcome is what its worker did": outcomeStands,
  "an outcome is taken once": takenOnce,
  "correlation and causation are kept": belongsTogether,
  "fences hold": fencesHold,
  "a lease is worked on once": ranOncePerLease,
  "checkpoints last": checkpointsLast,
  "work is lost only by kills": lostOnlyByKills,
};
