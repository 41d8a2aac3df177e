/** A long run that is ended from outside ends at once, blames nobody, and leaves no process and no folder. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, test, vi } from "vitest";

const fuzz = [join(import.meta.dirname, "../fuzz/main.ts"), "--inputs", "1000000", "--lanes", "4"];
const crash = [join(import.meta.dirname, "main.ts"), "--kills", "300"];
/** Both tell now and then how it goes, once everybody is there. */
const progress = /\d+ (honest handoffs|accepted)/;
const at_once_ms = 10_000;

describe.concurrent("ended from outside", () => {
  test.for([
    { what: "fuzz by SIGINT", command: fuzz, signal: "SIGINT", code: 130 },
    { what: "fuzz by output that nobody reads", command: fuzz, signal: null, code: 141 },
    { what: "crash by SIGTERM", command: crash, signal: "SIGTERM", code: 143 },
    { what: "crash by output that nobody reads", command: crash, signal: null, code: 141 },
  ] as const)(
    "$what: $code, and nothing is left",
    { timeout: 240_000 },
    async ({ command, signal, code }, { expect }) => {
      const room = mkdtempSync(join(tmpdir(), "handfast-ended-"));
      const env = { ...process.env, TMPDIR: room };
      const child = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "pipe"], env });
      const gone = once(child, "exit");
      const said: string[] = [];
      createInterface({ input: child.stderr }).on("line", (line) => said.push(line));
      for await (const line of createInterface({ input: child.stdout })) if (progress.test(line)) break;
      expect(readdirSync(room), said.join("\n")).toHaveLength(1);
      expect(processesOf(room)).not.toEqual([]);

      const began = performance.now();
      if (signal === null) child.stdout.destroy();
      else child.kill(signal);
      const [ended_with] = await gone;
      expect({ ended_with, said }).toEqual({ ended_with: code, said: [] });
      // Without a signal it is noticed at the next line.
      if (signal !== null) expect(performance.now() - began).toBeLessThan(at_once_ms);
      expect(readdirSync(room)).toEqual([]);
      await vi.waitFor(() => expect(processesOf(room)).toEqual([]));
      rmSync(room, { recursive: true });
    },
  );
});

/** By their command lines, which name the folder that they work in. */
function processesOf(folder: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(commandOf)
    .filter((command) => command.includes(folder));
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
