/** For tests: named cases of `choose`; the specification's vectors are made of them. */

import type { FreeWorker, Ready } from "../choose.ts";
import { type RoutingData, readyItem as ready, routingData, standing } from "./routing-sample.ts";
import { start } from "./sample.ts";

export interface ChooseCase {
  readonly name: string;
  readonly ready: readonly Ready[];
  readonly workers: readonly (Omit<FreeWorker, "queues"> & { readonly queues: readonly string[] })[];
  readonly now: number;
  /** Null: all agents are equal. */
  readonly routing: RoutingData | null;
}

const queue = "capability:summarize";
const avoid = { agent: "bob", worker: "bob-1", until: start + 10_000 };
const prefer = { agent: "bob", until: start + 10_000 };

function worker(name: string, patch: Partial<ChooseCase["workers"][number]> = {}): ChooseCase["workers"][number] {
  return { agent: name.slice(0, name.indexOf("-")), worker: name, queues: [queue], slots: 1, since: start, ...patch };
}
function the(
  name: string,
  items: readonly Ready[],
  workers: ChooseCase["workers"],
  now: number = start,
  routing: RoutingData | null = null,
): ChooseCase {
  return { name, ready: items, workers, now, routing };
}
/** The same with something known of the agents. */
function routed(
  name: string,
  item: Partial<Ready>,
  workers: ChooseCase["workers"],
  routing: RoutingData,
  now: number = start,
): ChooseCase {
  return the(name, [ready("a", item)], workers, now, routing);
}

const busyBob = worker("bob-1", { slots: 0 });
const both = [worker("bob-1"), worker("carol-1")];
const three = [...both, worker("dave-1")];
const failed = { agent: "bob", worker: null, until: start + 10_000 };
const lane = '["alice",null,"summarize","invoice 7"]';
const servedByBob = [
  { kind: "sticky_order", of: lane, agent: "bob" },
  { kind: "conversation", of: "chat 1", agent: "bob" },
] as const;

export const chooseCases: readonly ChooseCase[] = [
  the(
    "the smallest rank goes first",
    [ready("b", { rank: start }), ready("a", { rank: start - 1 })],
    [worker("bob-1")],
  ),
  the("equal ranks go by id", [ready("b"), ready("a")], [worker("bob-1")]),
  the("no more than the free slots", [ready("a"), ready("b"), ready("c")], [worker("bob-1", { slots: 2 })]),
  the("nobody free, nothing chosen", [ready("a")], [busyBob]),
  the("only those who serve the queue", [ready("a", { queue: "agent:carol" })], [worker("bob-1")]),
  the("an excluded agent gets nothing", [ready("a", { excluded: ["bob"] })], [worker("bob-1"), worker("carol-1")]),
  the("what nobody may have holds back nothing", [ready("a", { excluded: ["bob"] }), ready("b")], [worker("bob-1")]),
  the("the most free slots first", [ready("a")], [worker("bob-1"), worker("bob-2", { slots: 3 })]),
  the("among equals the longest waiting", [ready("a")], [worker("bob-1"), worker("bob-2", { since: start - 1 })]),
  the("work is spread as slots fill", [ready("a"), ready("b")], [worker("bob-1", { slots: 2 }), worker("bob-2")]),
  the(
    "avoided: another worker of the same agent first",
    [ready("a", { avoid })],
    [worker("bob-1", { slots: 9 }), worker("carol-1", { slots: 5 }), worker("bob-2")],
  ),
  the("avoided: then another agent", [ready("a", { avoid })], [worker("bob-1"), worker("carol-1")]),
  the("avoided: then the same worker", [ready("a", { avoid })], [worker("bob-1")]),
  the("avoided: held back for a busy one", [ready("a", { avoid })], [worker("bob-1"), worker("carol-1", { slots: 0 })]),
  the(
    "avoided: not for ever",
    [ready("a", { avoid })],
    [worker("bob-1"), worker("carol-1", { slots: 0 })],
    avoid.until,
  ),
  the("preferred: the same agent", [ready("a", { prefer })], [worker("carol-1", { slots: 5 }), worker("bob-1")]),
  the("preferred: held back while it is busy", [ready("a", { prefer })], [worker("carol-1"), busyBob]),
  the("preferred: not for ever", [ready("a", { prefer })], [worker("carol-1"), busyBob], prefer.until),
  the("preferred: another at once where it has no worker", [ready("a", { prefer })], [worker("carol-1")]),
  the(
    "preferred but excluded: another at once",
    [ready("a", { prefer, excluded: ["bob"] })],
    [worker("carol-1"), worker("bob-1")],
  ),
  the(
    "failed: another agent first",
    [ready("a", { avoid: failed })],
    [worker("bob-2", { slots: 9 }), worker("carol-1")],
  ),
  the(
    "failed: held back for a busy one",
    [ready("a", { avoid: failed })],
    [worker("bob-2"), worker("carol-1", { slots: 0 })],
  ),
  the(
    "failed: the same agent where there is no other",
    [ready("a", { avoid: failed })],
    [worker("bob-1"), worker("bob-2")],
  ),
  routed(
    "weighed: the smaller score of two",
    {},
    both,
    routingData([standing("bob", { latency_ms: 300 }), standing("carol", { latency_ms: 200 })]),
  ),
  routed(
    "weighed: what is in flight counts",
    {},
    both,
    routingData([standing("bob", { latency_ms: 300 }), standing("carol", { latency_ms: 200, in_flight: 1 })]),
  ),
  routed(
    "weighed: failures make it dearer",
    {},
    both,
    routingData([standing("bob", { latency_ms: 300 }), standing("carol", { latency_ms: 200, success: 0.5 })]),
  ),
  routed(
    "weighed: two of three are drawn, and the best is not among them",
    {},
    three,
    routingData([standing("bob", { latency_ms: 1 }), standing("carol"), standing("dave", { latency_ms: 99 })], {
      draws: [0.4, 0.9],
    }),
  ),
  the(
    "weighed: each assignment counts for the next",
    [ready("a"), ready("b"), ready("c")],
    [worker("bob-1", { slots: 3 }), worker("carol-1", { slots: 3 })],
    start,
    routingData([standing("bob", { latency_ms: 100 }), standing("carol", { latency_ms: 150 })]),
  ),
  routed(
    "newcomers: their share",
    {},
    both,
    routingData([standing("bob"), standing("carol", { newcomer: true })], { draws: [0.04] }),
  ),
  routed(
    "newcomers: no more than their share",
    {},
    both,
    routingData([standing("bob"), standing("carol", { newcomer: true, latency_ms: 1 })], { draws: [0.05] }),
  ),
  routed("newcomers among themselves are weighed", {}, both, routingData([])),
  routed(
    "breached: out of the way while another lives",
    {},
    both,
    routingData([standing("bob", { breached: true, latency_ms: 1 }), standing("carol")]),
  ),
  routed(
    "breached: held back for another that is busy",
    {},
    [worker("bob-1"), worker("carol-1", { slots: 0 })],
    routingData([standing("bob", { breached: true }), standing("carol")]),
  ),
  routed(
    "breached: where no other is able it gets it",
    { excluded: ["carol"] },
    both,
    routingData([standing("bob", { breached: true }), standing("carol")]),
  ),
  routed("ejected: as breached", {}, both, routingData([standing("bob", { ejected: true }), standing("carol")])),
  routed("lapsed: never", {}, [worker("bob-1")], routingData([standing("bob", { lapsed: true })])),
  routed(
    "the deadline: not to one whose half of attempts takes longer than is left",
    { deadline_at: start + 1_000 },
    both,
    routingData([standing("bob", { p50_ms: 1_001, latency_ms: 1 }), standing("carol", { p50_ms: 1_000 })]),
  ),
  routed(
    "the deadline: to nobody where nobody can meet it",
    { deadline_at: start + 1_000 },
    [worker("bob-1")],
    routingData([standing("bob", { p50_ms: 1_001 })]),
  ),
  the(
    "max_concurrent: no more than that, whatever slots there are",
    [ready("a"), ready("b"), ready("c")],
    [worker("bob-1", { slots: 3 })],
    start,
    routingData([standing("bob", { max_concurrent: 3, in_flight: 1 })]),
  ),
  routed(
    "version: only those in the range",
    { version_range: "^2.1" },
    both,
    routingData([standing("bob", { version: "2.0.9", latency_ms: 1 }), standing("carol", { version: "2.3.0" })]),
  ),
  routed(
    "version: nobody in the range, nobody",
    { version_range: "^3" },
    both,
    routingData([standing("bob", { version: "2.0.9" }), standing("carol")]),
  ),
  routed(
    "canary: those in the range it was put under",
    { canary: "2.x" },
    both,
    routingData([standing("bob", { version: "1.4.0", latency_ms: 1 }), standing("carol", { version: "2.0.0" })]),
  ),
  routed(
    "canary: any version where nobody in the range lives",
    { canary: "2.x" },
    [worker("bob-1")],
    routingData([standing("bob", { version: "1.4.0" })]),
  ),
  routed(
    "sticky order: the agent that served the lane last",
    { lane },
    both,
    routingData([standing("bob", { latency_ms: 900 }), standing("carol")], { served: servedByBob }),
  ),
  routed(
    "sticky order: held back while it is busy",
    { lane },
    [busyBob, worker("carol-1")],
    routingData([standing("bob"), standing("carol")], { served: servedByBob }),
  ),
  routed(
    "sticky order: not for ever",
    { lane },
    [busyBob, worker("carol-1")],
    routingData([standing("bob"), standing("carol")], { served: servedByBob }),
    start + 10_000,
  ),
  routed(
    "sticky order: for no more than a quarter of the time until the deadline",
    { lane, deadline_at: start + 8_000 },
    [busyBob, worker("carol-1")],
    routingData([standing("bob"), standing("carol")], { served: servedByBob }),
    start + 2_000,
  ),
  routed(
    "sticky order: for no more than a quarter of the time in the queue",
    { lane, queue_until: start + 4_000 },
    [busyBob, worker("carol-1")],
    routingData([standing("bob"), standing("carol")], { served: servedByBob }),
    start + 1_000,
  ),
  routed(
    "canary: any version after a quarter of the time until the deadline",
    { canary: "2.x", deadline_at: start + 8_000 },
    [busyBob, worker("carol-1")],
    routingData([standing("bob", { version: "2.0.0" }), standing("carol", { version: "1.0.0" })]),
    start + 2_000,
  ),
  routed(
    "breached: not held back for another that is busy after a quarter of the time until the deadline",
    { deadline_at: start + 8_000 },
    [worker("bob-1"), worker("carol-1", { slots: 0 })],
    routingData([standing("bob", { breached: true }), standing("carol")]),
    start + 2_000,
  ),
  routed(
    "conversation: the agent that served it last",
    { conversation_id: "chat 1" },
    both,
    routingData([standing("bob", { latency_ms: 900 }), standing("carol")], { served: servedByBob }),
  ),
  routed(
    "conversation: the agent that served what its sender sent there last, whoever served others since",
    { conversation_id: "chat 1", from: "alice" },
    both,
    routingData([standing("bob"), standing("carol", { latency_ms: 900 })], {
      served: [...servedByBob, { kind: "conversation", of: "chat 1", from: "alice", agent: "carol" }],
    }),
  ),
  routed(
    "conversation: who sends there for the first time follows the others",
    { conversation_id: "chat 1", from: "zoe" },
    both,
    routingData([standing("bob", { latency_ms: 900 }), standing("carol")], {
      served: [...servedByBob, { kind: "conversation", of: "chat 1", from: "alice", agent: "carol" }],
    }),
  ),
  routed(
    "conversation: another at once where it does not live",
    { conversation_id: "chat 1" },
    [worker("carol-1"), worker("dave-1", { slots: 0 })],
    routingData([standing("carol")], { served: servedByBob }),
  ),
  routed(
    "conversation: not with one that is breached while another lives",
    { conversation_id: "chat 1" },
    both,
    routingData([standing("bob", { breached: true }), standing("carol")], { served: servedByBob }),
  ),
  routed(
    "conversation: not with one that failed at it while another lives",
    { conversation_id: "chat 1", avoid: failed },
    both,
    routingData([standing("bob"), standing("carol")], { served: servedByBob }),
  ),
];
