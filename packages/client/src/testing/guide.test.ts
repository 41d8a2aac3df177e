/** The examples of docs/testing.md, run as one file, as a reader would type them. */

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const guide = new URL("../../../../docs/testing.md", import.meta.url);
const doors: Readonly<Record<string, string>> = {
  "@handfast/client/testing": new URL("./mod.ts", import.meta.url).href,
  "@handfast/client": new URL("../mod.ts", import.meta.url).href,
};

test("every example of docs/testing.md passes under node:test", async () => {
  const text = await readFile(guide, "utf8");
  const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```\n/gm)].map(([, code = ""]) => code);
  const names = blocks.flatMap((code) => [...code.matchAll(/^test\("(.*)"/gm)].map(([, name = ""]) => name));
  expect(names.length).toBeGreaterThan(7);
  const code = blocks.join("\n").replaceAll(/from "(@handfast\/[^"]+)"/g, (_all, name) => `from "${doors[name]}"`);
  const folder = await mkdtemp(join(tmpdir(), "handfast-guide-"));
  try {
    const path = join(folder, "guide.ts");
    await writeFile(path, code);
    const flags = ["--test-reporter=tap", path];
    const { stdout } = await promisify(execFile)(process.execPath, flags, { timeout: 55_000 }).catch((error) => error);
    for (const name of names) expect(stdout).toMatch(new RegExp(`^ok \\d+ - ${name}$`, "m"));
    expect(stdout).toMatch(/^# fail 0$/m);
  } finally {
    await rm(folder, { recursive: true });
  }
});
