/** Partitions cut the way they say, for a time, and end with healing. */

import { expect, test } from "vitest";
import { Random } from "../random.ts";
import { Tally } from "../run/tally.ts";
import { type Cut, Partitions } from "./partitions.ts";
import { Timeline } from "./timeline.ts";

const actors = ["ann", "ben"];

/** Splits with one seed after the other until this cut is drawn. */
function split(wanted: Cut) {
  for (let seed = 1; ; seed += 1) {
    const timeline = new Timeline(0);
    const partitions = new Partitions(timeline, new Random(seed), new Tally());
    partitions.split(actors);
    const ways = (actor: string) => [partitions.between(actor, "inwards"), partitions.between(actor, "outwards")];
    const cut = actors.find((actor) => ways(actor).includes(wanted));
    if (cut !== undefined) return { timeline, partitions, ways: () => ways(cut) };
  }
}

test.each([
  ["cut off", ["cut off", "cut off"]],
  ["cut off inwards", ["cut off inwards", null]],
  ["cut off outwards", [null, "cut off outwards"]],
] as const)("%s keeps messages from passing that way", (cut, expected) => {
  expect(split(cut).ways()).toEqual(expected);
});

test("a cut is over after its time", async () => {
  const { timeline, ways } = split("cut off");
  await timeline.run(() => false, 90_001);
  expect(ways()).toEqual([null, null]);
});

test("healing ends every cut", () => {
  const { partitions, ways } = split("cut off");
  partitions.heal();
  expect(ways()).toEqual([null, null]);
});
