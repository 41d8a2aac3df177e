/** The judge of several nodes, on logs that were tampered with; and the plan of faults. */

import { expect, test } from "vitest";
import { planFaults } from "./faults.ts";
import { judgeNodes, type LoggedEvent } from "./verdict.ts";

const life = ["accepted", "delivered", "acknowledged", "completed", "taken"];
const sound: readonly LoggedEvent[] = ["a", "b"].flatMap((handoff, nth) =>
  life.map((type, index) => ({ pos: nth * life.length + index + 1, handoff, seq: index + 1, type })),
);
const told = { accepted: new Set(["a", "b"]), finished: new Set(["a", "b"]), wrong: [] };

test("a log in which everything is completed once has no violation", () => {
  const { violations, figures } = judgeNodes(told, sound);
  expect(violations).toEqual([]);
  expect(figures).toMatchObject({ "handoffs accepted": 2, completed: 2, lost: 0, "completed twice": 0 });
});

test.each([
  ["an end is missing", sound.filter(({ handoff, type }) => handoff === "a" || type !== "completed"), /^lost: b/],
  ["an end is there twice", [...sound, { pos: 11, handoff: "a", seq: 6, type: "completed" }], /^twice: a/],
  ["something expired", [...sound, { pos: 11, handoff: "a", seq: 6, type: "expired" }], /^false dead letter: a/],
  ["a handoff nobody sent", [...sound, { pos: 11, handoff: "c", seq: 1, type: "accepted" }], /^nobody was told of c/],
  [
    "a position is missing",
    sound.map((event) => ({ ...event, pos: event.pos + (event.pos > 5 ? 1 : 0) })),
    /gap before position 7/,
  ],
  [
    "an event is missing",
    sound.filter(({ pos }) => pos !== 2).map((event, index) => ({ ...event, pos: index + 1 })),
    /events of a/,
  ],
] as const)("%s: it is found", (_, log, violation) => {
  expect(judgeNodes(told, log).violations).toContainEqual(expect.stringMatching(violation));
});

test("an outcome that is not the work's is found", () => {
  expect(judgeNodes({ ...told, wrong: ["a: 2 doubled is told to be 5"] }, sound).violations).toHaveLength(1);
});

test("the plan has every fault that was asked for, meets every node, and is the same for the same seed", () => {
  const counts = { kills: 30, failovers: 4, restarts: 3, partitions: 6 };
  const plan = planFaults(counts, 3, 7);
  expect(planFaults(counts, 3, 7)).toEqual(plan);
  expect(planFaults(counts, 3, 8)).not.toEqual(plan);
  const of = (kind: string) => plan.filter(({ fault }) => fault.kind === kind).length;
  expect([of("kill"), of("failover"), of("restart"), of("partition")]).toEqual([30, 4, 3, 6]);
  const nodes = plan.flatMap(({ fault }) => (fault.kind === "kill" ? [fault.node] : []));
  expect(new Set(nodes)).toEqual(new Set([0, 1, 2]));
  const ways = plan.flatMap(({ fault }) => (fault.kind === "partition" ? [fault.how] : []));
  expect(ways.toSorted()).toEqual(["cut", "cut", "delay", "delay", "swallow", "swallow"]);
});
