/** Proof that the simulator can find a broken promise: every known mistake is put back, and found. */

import { beforeAll, describe, expect, test } from "vitest";
import { huntOptions } from "../run/command-line.ts";
import { failureReport, huntReport } from "../run/report.ts";
import { type Hunt, huntMistakes } from "../run/run-threads.ts";
import { mistakes } from "./mistakes.ts";

const minutes = 60_000;
const names = Object.keys(mistakes);

test("there are at least fourteen of them", () => expect(names.length).toBeGreaterThanOrEqual(14));

describe("put back one at a time", () => {
  let hunts: readonly Hunt[] = [];

  beforeAll(async () => {
    hunts = await huntMistakes(names, huntOptions, 2);
    process.stdout.write(`${huntReport(hunts).join("\n")}\n`);
  }, 60 * minutes);

  test.each(names)("%s is found, with the way to see it again", (name) => {
    const failure = hunts.find(({ mistake }) => mistake === name)?.failure ?? null;
    expect(failure?.invariant).toBeTypeOf("string");
    const lines = failure === null ? [] : failureReport(failure);
    expect(lines.some((line) => line.startsWith("replay: npm run sim -- --seed"))).toBe(true);
  });
});
