/** Several nodes on one disk, under crashes between any two steps. */

import { expect, test } from "vitest";
import type { DiskMistakes } from "./shared-disk.ts";
import { simulateNodes } from "./simulate-nodes.ts";

const worlds = 30;
const handoffs = 90;
/** A mistake shows in one of twenty worlds, and early: in many short ones it is found sooner. */
const [worlds_hunted, handoffs_hunted] = [400, 30];

test(`nothing is lost, done twice or overtaken in ${worlds} worlds of two to four nodes that crash`, async () => {
  const total = { handoffs: 0, crashes: 0 };
  for (let seed = 1; seed <= worlds; seed += 1) {
    const result = await simulateNodes(seed, handoffs);
    total.handoffs += result.handoffs;
    total.crashes += result.crashes;
  }
  expect(total.handoffs).toBe(worlds * handoffs);
  expect(total.crashes).toBeGreaterThan(worlds * 3);
}, 300_000);

test("a seed repeats itself", async () => {
  expect(await simulateNodes(7, handoffs)).toEqual(await simulateNodes(7, handoffs));
});

test.each<[string, DiskMistakes]>([
  ["a disk that does not hold units against what they expect", { expects_ignored: true }],
  ["a disk on which beats get lost", { beats_dropped: true }],
  ["a disk that takes a lease away whose holder beat at another node meanwhile", { heard_ignored: true }],
])(
  "%s is noticed",
  async (_, mistakes) => {
    const hunt = async () => {
      for (let seed = 1; seed <= worlds_hunted; seed += 1) await simulateNodes(seed, handoffs_hunted, mistakes);
    };
    await expect(hunt()).rejects.toMatchObject({ name: "NodesViolation" });
  },
  300_000,
);
