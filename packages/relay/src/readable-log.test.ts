import { pino } from "pino";
import { expect, it } from "vitest";
import { readableLog } from "./readable-log.ts";

it("shows time, level, message and facts in one line that steers no terminal", () => {
  const lines: string[] = [];
  const log = pino({ base: null }, readableLog({ write: (line) => lines.push(line) }));
  log.warn({ agent: "eve\u001b[2J", tries: 3 }, "refused\nhere");
  expect(lines).toEqual([expect.stringMatching(/^\d\d:\d\d:\d\d warn {2}refused here agent=eve tries=3\n$/)]);
});

it("shows the stack of an error below", () => {
  const lines: string[] = [];
  pino({ base: null }, readableLog({ write: (line) => lines.push(line) })).error(
    { err: new Error("broken") },
    "failed",
  );
  expect(lines[0]).toMatch(/error failed\nError: broken\n {4}at /);
});
