import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import { isAlive } from "../testing/is-alive.ts";
import { type ProgramRun, runProgram } from "./run-program.ts";

const sh = (script: string, more: Partial<ProgramRun> = {}) =>
  runProgram({
    command: ["sh", "-c", script],
    cwd: tmpdir(),
    env: process.env,
    stdin: "",
    output_bytes: 1_000_000,
    kill_ms: 300,
    signal: new AbortController().signal,
    onNote: () => undefined,
    onControl: () => undefined,
    ...more,
  });

/** Aborts once the program has said that it is there, and says what it said. */
function abortWhenUp() {
  const controller = new AbortController();
  const notes: string[] = [];
  const onNote = (line: string) => {
    notes.push(line);
    controller.abort();
  };
  return { signal: controller.signal, onNote, notes };
}

describe("a program under serve", () => {
  it("gets its input on stdin and gives its output on stdout", async () => {
    expect(await sh("tr a-z A-Z", { stdin: "hello" })).toEqual({
      kind: "exited",
      code: 0,
      output: Buffer.from("HELLO"),
      stderr: "",
    });
  });

  it("need not read its input, however large", async () => {
    expect(await sh("exit 4", { stdin: "x".repeat(5_000_000) })).toMatchObject({ kind: "exited", code: 4 });
  });

  it("that writes a gigabyte is stopped at the limit, with no more than that kept", async () => {
    const before = process.memoryUsage().arrayBuffers;
    expect(await sh("yes | head -c 1000000000")).toMatchObject({ kind: "too_much" });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
  });

  it("that floods stderr is not held up, and only the last 4 KB are kept", async () => {
    const end = await sh("yes noise | head -c 20000000 >&2; echo the end >&2; exit 1");
    const stderr = "stderr" in end ? end.stderr : "";
    expect(stderr.length).toBeLessThanOrEqual(4_096);
    expect(stderr).toMatch(/the end\n$/);
  });

  it("that ends a line with a carriage return, or not at all, is heard line by line", async () => {
    const notes: string[] = [];
    await sh("printf '10 %%\\r20 %%\\rdone' >&2", { onNote: (line) => notes.push(line) });
    expect(notes).toEqual(["10 %", "20 %", "done"]);
  });

  it("that ignores SIGTERM is killed", async () => {
    const up = abortWhenUp();
    expect(await sh("trap '' TERM; echo $$ >&2; while :; do sleep 0.1; done", up)).toEqual({ kind: "stopped" });
    expect(isAlive(up.notes[0] ?? "")).toBe(false);
  });

  it("takes all that it forked along when it is stopped", async () => {
    const up = abortWhenUp();
    expect(await sh("sleep 1000 & echo $! >&2; wait", up)).toEqual({ kind: "stopped" });
    await expect.poll(() => isAlive(up.notes[0] ?? "")).toBe(false);
  });

  it("that leaves children behind ends with what it wrote, and they end too", async () => {
    const notes: string[] = [];
    const end = await sh("sleep 1000 & echo $! >&2; echo done", { onNote: (line) => notes.push(line) });
    expect(end).toMatchObject({ kind: "exited", code: 0, output: Buffer.from("done\n") });
    await expect.poll(() => isAlive(notes[0] ?? "")).toBe(false);
  });

  it("whose child fled into a session of its own still comes to an end", async () => {
    const notes: string[] = [];
    const flee = `const {spawn} = require("child_process");
      const child = spawn("sleep", ["1000"], { detached: true, stdio: "inherit" });
      console.error(child.pid); child.unref();`;
    const end = await sh("", { command: [process.execPath, "-e", flee], onNote: (line) => notes.push(line) });
    expect(end).toMatchObject({ kind: "exited", code: 0 });
    // Nobody can reach it any more but by its number.
    process.kill(Number(notes[0]), "SIGKILL");
  });

  it("that is not there, or was called off before it began, never runs", async () => {
    const started = await sh("", { command: ["./no-such-program"] });
    expect(started).toMatchObject({ kind: "not_started" });
    expect(await sh("exit 0", { signal: AbortSignal.abort() })).toEqual({ kind: "stopped" });
  });
});
