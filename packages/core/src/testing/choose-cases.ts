/** For tests: named cases of `choose`; the specification's vectors are made of them. */

import type { FreeWorker, Ready } from "../choose.ts";
import { start } from "./sample.ts";

export interface ChooseCase {
  readonly name: string;
  readonly ready: readonly Ready[];
  readonly workers: readonly (Omit<FreeWorker, "queues"> & { readonly queues: readonly string[] })[];
  readonly now: number;
}

const queue = "capability:summarize";
const avoid = { agent: "bob", worker: "bob-1", until: start + 10_000 };
const prefer = { agent: "bob", until: start + 10_000 };

function ready(id: string, patch: Partial<Ready> = {}): Ready {
  return { id, queue, rank: start, excluded: [], avoid: null, prefer: null, ...patch };
}
function worker(name: string, patch: Partial<ChooseCase["workers"][number]> = {}): ChooseCase["workers"][number] {
  return { agent: name.slice(0, name.indexOf("-")), worker: name, queues: [queue], slots: 1, since: start, ...patch };
}
function the(name: string, items: readonly Ready[], workers: ChooseCase["workers"], now: number = start): ChooseCase {
  return { name, ready: items, workers, now };
}

const busyBob = worker("bob-1", { slots: 0 });

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
];
