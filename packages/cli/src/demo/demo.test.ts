import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { Context } from "../command.ts";
import { Terminal } from "../terminal.ts";
import { perform } from "./command.ts";
import { must } from "./step.ts";

const bin = fileURLToPath(new URL("../../bin/handfast.js", import.meta.url));

function handfast(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [bin, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let err = "";
  child.stdout.on("data", (text) => (out += text));
  child.stderr.on("data", (text) => (err += text));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, out, err })));
}

test("the demo shows every step, with its events, and ends well", async () => {
  const { code, out, err } = await handfast("demo", "--json");
  expect(err).toBe("");
  const lines = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const ended = lines.filter((line) => "ok" in line).map(({ step, ok }) => [step, ok]);
  expect(ended).toEqual([
    ["receipts", true],
    ["scatter", true],
    ["worker-killed", true],
    ["relay-killed", true],
    ["deadline", true],
    ["question", true],
    ["stream", true],
  ]);
  expect(lines.at(-1)).toMatchObject({ steps: 7, failed: 0 });
  const types = (step: string) =>
    lines.filter((line) => line.step === step && line.event).map(({ event }) => event.type);
  expect(types("receipts")).toEqual(expect.arrayContaining(["accepted", "delivered", "acknowledged", "completed"]));
  expect(types("worker-killed")).toContain("requeued");
  expect(types("relay-killed")).not.toContain("requeued");
  expect(types("deadline")).toEqual(expect.arrayContaining(["expired", "redriven", "completed"]));
  expect(code).toBe(0);
});

test("a step that did not happen is told, and makes the demo fail", async () => {
  const said: string[] = [];
  const sink = { write: (text: string) => said.push(text) > 0 };
  const terminal = new Terminal({ out: sink, err: sink, json: true, plain: true, debug: false, env: {} });
  const steps = [
    { name: "fine", title: "what happens", run: async () => undefined },
    { name: "not", title: "what does not", run: async () => must(1 + 1 === 3, "one and one is three") },
  ];
  const context = { terminal, signal: new AbortController().signal } as Context;
  expect(await perform(steps, context)).toBe("ended");
  const out = said.join("");
  expect(out).toContain('"step":"fine","ok":true');
  expect(out).toContain('"step":"not","ok":false');
  expect(out).toContain("one and one is three");
});
