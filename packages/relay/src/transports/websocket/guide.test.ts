import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { TestRelay } from "../../testing/test-relay.ts";

it("the program in docs/websocket.md prints what is shown beneath it", async () => {
  const guide = readFileSync(new URL("../../../../../docs/websocket.md", import.meta.url), "utf8");
  const [, program = "", shown] = /^```js\n([\s\S]*?)^```\n\n```\n([\s\S]*?)^```\n/m.exec(guide) ?? [];
  const directory = await mkdtemp(join(tmpdir(), "handfast-guide-"));
  const relay = await TestRelay.start();
  try {
    const file = join(directory, "hello.mjs");
    await writeFile(file, program);
    const env = { ...process.env, HANDFAST_URL: relay.url };
    const { stdout } = await promisify(execFile)(execPath, [file], { env });
    expect(stdout).toBe(shown);
  } finally {
    await relay.stop();
    await rm(directory, { recursive: true });
  }
});
