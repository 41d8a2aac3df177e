/** What `npm run sim` makes of its options. */

import { expect, test } from "vitest";
import { readCommandLine, UsageError, usage } from "./command-line.ts";

test("few worlds run twice each, of many only every twentieth", () => {
  expect(readCommandLine([]).seeds).toMatchObject({ seeds: 20, handoffs: 500, twice_every: 1 });
  expect(readCommandLine(["--seeds", "1000"]).seeds.twice_every).toBe(20);
  expect(readCommandLine(["--total", "5000000"]).seeds).toMatchObject({ total: 5_000_000, twice_every: 20 });
});

test("one seed is one world, without the faults that are named", () => {
  const line = readCommandLine(["--seed", "9", "--handoffs", "50", "--without", "hang,commit_slow", "--trace"]);
  expect(line.single).toBe(true);
  expect(line.seeds).toMatchObject({ first: 9, seeds: 1, handoffs: 50, without: ["hang", "commit_slow"], trace: true });
});

test.each([
  ["--seeds", "0"],
  ["--without", "gravity"],
  ["--mistake", "none"],
  ["--speed", "9"],
  ["--trace"],
  ["--shrink", "--mistake", "keys-in-memory"],
  ["--seeds", "3", "--total", "2000"],
  ["--seed", "3", "--seeds", "2"],
])("%s %s is refused", (...args) => {
  expect(() => readCommandLine(args)).toThrow(UsageError);
});

test("a mistake is hunted in smaller worlds, as the help says", () => {
  expect(readCommandLine(["--mistake", "keys-in-memory"]).seeds).toMatchObject({ seeds: 100, handoffs: 200 });
  expect(usage).toContain("500; with --mistake 200");
});
