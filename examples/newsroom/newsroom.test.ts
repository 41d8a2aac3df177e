/** The whole newsroom, as anybody would run it. It installs nothing: where the environments are not there it is skipped. */

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { hasPythonEnvironment } from "../../tests/support/python-environment.ts";

const root = join(import.meta.dirname, "../..");
const guide = join(root, "docs/newsroom.md");
const main = join(import.meta.dirname, "main.ts");
const minutes = 60_000;
const has_crewai = hasPythonEnvironment("crewai");
const options = has_crewai ? [] : ["--without-crewai"];
const missing = hasPythonEnvironment("agents") ? null : "the Python environment agents is not installed";

const shows_processes = existsSync("/proc/self/environ");

/** Everything that a run leaves would be in here. */
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "handfast-test-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Run {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly output: string }>;
}

function newsroom(): Run {
  const child = spawn(process.execPath, [main, ...options], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, TMPDIR: folder },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
  return { child, ended: new Promise((resolve) => child.once("close", (code) => resolve({ code, output }))) };
}

/** Those that were told of the folder, where the system shows that. */
function processesOf(folder: string): readonly string[] {
  if (!shows_processes) return [];
  return readdirSync("/proc").filter((pid) => {
    try {
      const told = ["environ", "cmdline"].map((file) => readFileSync(`/proc/${pid}/${file}`, "utf8"));
      return told.some((text) => text.includes(folder));
    } catch {
      // It is no process, or has ended meanwhile.
      return false;
    }
  });
}

/** Without what differs from run to run: times, the port, the id, and which of the two writers was there first. */
function steady(text: string): string {
  return text
    .replaceAll(/ +\+[\d.]+ s/g, "+T")
    .replaceAll(/127\.0\.0\.1:\d+/g, "RELAY")
    .replaceAll(/correlation [0-9a-f-]{36}/g, "correlation ID")
    .replaceAll(/writer-\d/g, "writer-N")
    .replaceAll(/ {2,}/g, "  ")
    .replaceAll("crewai", has_crewai ? "crewai" : "python");
}

test("an article is made by all of them, one is killed, and the guide shows just that", {
  timeout: 5 * minutes,
}, async (context) => {
  if (missing !== null) return context.skip(missing);
  const { code, output } = await newsroom().ended;
  expect(code, output).toBe(0);
  const [, shown = "the guide shows no run"] = /```\n(relay [\s\S]*?)```/.exec(readFileSync(guide, "utf8")) ?? [];
  expect(steady(output)).toBe(steady(shown));
  const killed = /KILLED +draft +(writer-\d)/.exec(output)?.[1];
  const successor = /(writer-\d) \(\w+\), signed, takes over: fence 2/.exec(output)?.[1];
  expect([killed, successor].toSorted()).toEqual(["writer-1", "writer-2"]);
  expect(readdirSync(folder)).toEqual([]);
  expect(processesOf(folder)).toEqual([]);
});

test("an interrupt ends everything", { timeout: 2 * minutes }, async (context) => {
  if (missing !== null) return context.skip(missing);
  if (!shows_processes) return context.skip("this system does not show processes under /proc");
  const { child, ended } = newsroom();
  // Six agents, a relay, and the one who starts them.
  await expect.poll(() => processesOf(folder).length, { timeout: minutes }).toBeGreaterThanOrEqual(8);
  child.kill("SIGINT");
  expect((await ended).code).toBe(130);
  expect(readdirSync(folder)).toEqual([]);
  await expect.poll(() => processesOf(folder)).toEqual([]);
});
