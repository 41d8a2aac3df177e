/** What `npm run fuzz` makes of its options. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readCommandLine, UsageError, usage } from "./command-line.ts";
import { bugs } from "./run/bugs.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/fuzzing.md"), "utf8");

test("a run has a seed of its own, unless one is given", () => {
  expect(readCommandLine([])).toMatchObject({ kind: "run", options: { inputs: 50_000, lanes: 48 }, shrinks: true });
  expect(readCommandLine(["--seed", "7", "--no-shrink"])).toMatchObject({ options: { seed: 7 }, shrinks: false });
});

test("one episode of a seed, some of its steps, without some of their mutations", () => {
  const line = readCommandLine(["--seed", "5", "--episode", "16", "--steps", "3,47", "--without", "47:0,47:2"]);
  expect(line).toMatchObject({
    kind: "episode",
    script: { seed: 5, episode: 16, steps: [3, 47], without: new Map([[47, new Set([0, 2])]]) },
  });
});

test.each(bugs)("the bug $name can be put back, and help and docs/fuzzing.md tell of it", ({ name, what }) => {
  expect(name).toMatch(/^[a-z]+(-[a-z]+)+$/);
  expect(readCommandLine(["--bug", name])).toMatchObject({ options: { bug: { name } } });
  expect(usage).toMatch(new RegExp(`^  ${name} +${what}$`, "m"));
  expect(page).toContain(`| \`${name}\` | ${what} |`);
});

describe("is refused in a sentence", () => {
  test.each([
    { args: ["--inputs", "x"], says: '--inputs takes a whole number from 1 on, not "x"' },
    { args: ["--inputs", "0"], says: '--inputs takes a whole number from 1 on, not "0"' },
    { args: ["--bug", "nope"], says: "there is no bug nope to put back; there are: frame-ends-process, " },
    { args: ["--seed", "1", "--steps", "3"], says: "--steps is of one episode" },
    { args: ["--seed", "1", "--without", "3:0"], says: "--without is of one episode" },
    { args: ["--episode", "3"], says: "--episode is of one seed" },
    { args: ["--seed", "1", "--episode", "3", "--without", "3"], says: "--without takes pairs" },
    { args: ["--speed"], says: "Unknown option '--speed'" },
  ])("$args", ({ args, says }) => {
    expect(() => readCommandLine(args)).toThrow(UsageError);
    expect(() => readCommandLine(args)).toThrow(says);
  });
});
