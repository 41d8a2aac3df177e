/** What the suite hears of a program, and how one ends that does not stop. */

import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { SenderProcess } from "./line-process.ts";

function programOf(code: string, patience_ms = 20_000): SenderProcess {
  const node = { command: process.execPath, environment: {}, folder: tmpdir(), patience_ms };
  return new SenderProcess({ ...node, arguments: ["-e", code] });
}

const stopsAtEnd = "process.stdin.resume();";

test("what breaks under the id of a handoff is told to whoever waits for its outcome", async () => {
  const lines = [
    { tag: "t1", sent: "h1" },
    { tag: "h1", broken: "the run was lost" },
  ];
  const sender = programOf(`${lines.map((line) => `console.log('${JSON.stringify(line)}');`).join("")}${stopsAtEnd}`);
  await expect(sender.heard("t1", "outcome")).rejects.toThrow("t1: the run was lost");
  await sender.stop();
});

test("what breaks elsewhere is shown to whoever waits in vain", async () => {
  const line = JSON.stringify({ tag: "h2", broken: "the run was lost" });
  const sender = programOf(`console.log('${line}');${stopsAtEnd}`, 2_000);
  await expect(sender.heard("t1", "scattered")).rejects.toThrow(/did not come in 2000 ms:\n.*the run was lost/s);
  await sender.stop();
});

test("one that ends otherwise than in order says so", async () => {
  const sender = programOf("process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL')).resume();");
  await expect(sender.stop()).rejects.toThrow("it ended with SIGKILL");
});
