/** The whole run judged: every promise for every handoff, the log as a whole, and the figures that tell how hard it was. */

import type { Evidence } from "./evidence.ts";
import { promises } from "./promises.ts";
import { type Story, tellStories } from "./stories.ts";

export interface Verdict {
  /** Each in a sentence; empty: no promise was broken. */
  readonly violations: readonly string[];
  /** By what they count. */
  readonly figures: Readonly<Record<string, number>>;
}

/** What a client may warn of when its relay or its lease goes away under it. */
const expected_warnings: ReadonlySet<string> = new Set(["outcome_late", "relay_away", "relay_unreachable"]);

export function judge(evidence: Evidence): Verdict {
  const stories = [...tellStories(evidence).values()];
  const workers = new Map(evidence.workers.map((worker) => [worker.name, worker]));
  const kills = { workers, relay_back_at: evidence.relay_back_at };
  const broken = stories.flatMap((story) =>
    Object.entries(promises).flatMap(([promise, check]) =>
      check(story, kills).map((fault) => `${promise}: ${story.key} (${story.view?.id}): ${fault}`),
    ),
  );
  return {
    violations: [...broken, ...faultsOfLog(evidence), ...faultsOfLists(evidence), ...warnings(evidence)],
    figures: figuresOf(evidence, stories),
  };
}

function faultsOfLog({ log }: Evidence): readonly string[] {
  const faults = log.flatMap(({ pos, event }, index) => {
    const before = log[index - 1];
    if (before === undefined) return [];
    return [
      ...(pos > before.pos ? [] : [`the log is out of order at position ${pos}`]),
      ...(event.at >= before.event.at ? [] : [`the log's time goes back at position ${pos}`]),
    ];
  });
  return faults;
}

function faultsOfLists({ handoffs, dead_letters, log }: Evidence): readonly string[] {
  const keys = new Set(handoffs.map(({ from, idempotency_key }) => `${from} ${idempotency_key}`));
  const logged = new Set(log.map(({ event }) => event.handoff));
  return [
    ...dead_letters.map(({ id, code, outcome }) => `false dead letter: ${id}: ${code} ${outcome?.error?.reason}`),
    ...(keys.size === handoffs.length ? [] : ["one key stands for two handoffs"]),
    ...(logged.size === handoffs.length ? [] : [`${logged.size} handoffs in the log, ${handoffs.length} in the list`]),
  ];
}

function warnings({ senders, workers }: Evidence): readonly string[] {
  return [...senders, ...workers].flatMap(({ name, lines }) =>
    lines.flatMap((line) =>
      line.said === "warned" && !expected_warnings.has(line.reason)
        ? [`${name} was warned: ${line.reason}: ${line.message}`]
        : [],
    ),
  );
}

function figuresOf({ log, senders, workers }: Evidence, stories: readonly Story[]): Verdict["figures"] {
  const events = log.map(({ event }) => event);
  const count = (type: string, why?: string) =>
    events.filter((event) => event.type === type && (why === undefined || event.why === why)).length;
  const sent = senders.flatMap(({ lines }) => lines);
  const came_back = sent.filter((line) => line.said === "came back");
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return {
    "handoffs accepted": stories.length,
    "completed, each once": count("completed"),
    "below another one": stories.filter((story) => story.intent === null).length,
    "events in the log": log.length,
    "sent again by a sender that came back": sum(came_back.map(({ sends_again }) => sends_again)),
    "of those, accepted before the kill": sent.filter((line) => line.said === "accepted" && line.repeated).length,
    "found again by their id": sum(came_back.map(({ finds_again }) => finds_again)),
    "leases lost": count("requeued", "lease_lost"),
    "deliveries never acknowledged": count("requeued", "unacknowledged"),
    "given back unread": count("requeued", "released"),
    "leases resumed under the same fence": sum(
      workers.map(({ lines }) => lines.filter((line) => line.said === "began" && line.resumed).length),
    ),
    "attempts that began at a checkpoint": sum(
      workers.map(({ lines }) => lines.filter((line) => line.said === "began" && line.steps > 0).length),
    ),
    "checkpoints confirmed": count("checkpointed"),
    "questions answered": count("answered"),
    "late outcomes kept": count("late"),
  };
}
