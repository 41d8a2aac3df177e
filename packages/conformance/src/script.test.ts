import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const script = join(import.meta.dirname, "../../../scripts/conformance.ts");

describe("npm run conformance", () => {
  /** Where it puts the relays' data. */
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "handfast-script-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function start(words: readonly string[]): ChildProcess {
    const { PATH = "" } = process.env;
    return spawn(execPath, [script, ...words], { env: { PATH, TMPDIR: folder }, stdio: ["ignore", "pipe", "pipe"] });
  }

  async function run(words: readonly string[]) {
    const child = start(words);
    const said = { stdout: "", stderr: "" };
    child.stdout?.on("data", (piece) => {
      said.stdout += String(piece);
    });
    child.stderr?.on("data", (piece) => {
      said.stderr += String(piece);
    });
    const [code] = await once(child, "close");
    return { code, ...said };
  }

  it("lists the promises as JSON", async () => {
    const { code, stdout } = await run(["--list", "--json", "--only", "FENCE-1"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      { id: "FENCE-1", promise: expect.any(String), section: "ids-and-idempotency.md#fences" },
    ]);
  });

  it("tells of mutants as JSON, and leaves nothing behind", async () => {
    const { code, stdout } = await run(["--mutant", "stale-fence-accepted", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      summary: { noticed: 1, not_noticed: 0 },
      mutants: [{ name: "stale-fence-accepted", noticed: true, noticed_by: [{ id: "FENCE-2" }] }],
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each([
    [["--mutant", "stale-fence-accepted", "--only", "FENCE"], "--only is not for mutants."],
    [["--mutants", "--production"], "--production is not for mutants."],
    [["--full"], "--full is only for mutants."],
  ])("refuses %j", async (words, complaint) => {
    const { code, stderr } = await run(words);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(complaint) });
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("ends its relays and removes their folders at %s", async (signal, wanted) => {
    const child = start(["--only", "DURABLE"]);
    // Both relays have begun to write.
    const written = () => readdirSync(folder).filter((name) => existsSync(join(folder, name, "handfast.db")));
    while (written().length < 2) {
      expect(child.exitCode).toBe(null);
      await pause(20);
    }
    const relays = childrenOf(child.pid ?? 0);
    expect(relays.length).toBe(2);
    child.kill(signal);
    expect(await once(child, "close")).toEqual([wanted, null]);
    expect(readdirSync(folder)).toEqual([]);
    expect(relays.filter(isAlive)).toEqual([]);
  });
});

function ps(...words: readonly string[]): readonly string[] {
  const { stdout } = spawnSync("ps", [...words], { encoding: "utf8" });
  return stdout.split("\n").filter(Boolean);
}

function childrenOf(pid: number): readonly number[] {
  return ps("-o", "pid=", "--ppid", `${pid}`).map(Number);
}

/** One that has ended and waits to be reaped does not live. */
function isAlive(pid: number): boolean {
  return ps("-o", "stat=", "-p", `${pid}`).some((stat) => !stat.startsWith("Z"));
}
