/** The options of `npm run test:frameworks`. What it runs takes minutes and is not run here. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { execPath } from "node:process";
import { expect, test } from "vitest";
import { readCommandLine, usage } from "../scripts/frameworks-command-line.ts";

const program = join(import.meta.dirname, "../scripts/test-frameworks.ts");

function ran(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(execPath, [program, ...args], { encoding: "utf8" });
  return { status, stdout, stderr };
}

test("--help tells the options, and runs nothing", () => {
  expect(ran("--help")).toEqual({ status: 0, stdout: usage, stderr: "" });
});

test.each([
  { args: ["--hlep"], why: "Unknown option '--hlep'" },
  { args: ["langgraph"], why: "Unexpected argument 'langgraph'" },
  { args: ["--only", "langraph,crewai"], why: "no adapter langraph; there are langgraph, autogen" },
])("$args is refused with 64, the reason and the options", ({ args, why }) => {
  const { status, stdout, stderr } = ran(...args);
  expect([status, stdout]).toEqual([64, ""]);
  expect(stderr).toContain(why);
  expect(stderr).toContain(usage);
});

test("without options everything is run, each adapter in the environment of its framework", () => {
  const agents = ["agents", ["langgraph", "autogen", "agent_framework"]];
  const { python, openclaw } = readCommandLine([]);
  expect([[...python], openclaw]).toEqual([[agents, ["crewai", ["crewai"]]], true]);
});

test("--only leaves the others out, and their environments", () => {
  const { python, openclaw } = readCommandLine(["--only", "autogen, langgraph"]);
  expect([[...python], openclaw]).toEqual([[["agents", ["langgraph", "autogen"]]], false]);
});
