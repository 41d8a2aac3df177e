import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { execPath } from "node:process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RelayProcess } from "./testing/relay-process.ts";

const guide = readFileSync(new URL("../../../docs/http.md", import.meta.url), "utf8");
const mark = "=== end of block ===";

let directory: string;
let relay: RelayProcess;
let outputs: string[];

/** Each block of commands, with the block of output that follows it. */
const blocks = [...guide.matchAll(/^```bash\n([\s\S]*?)^```\n(?:\n```(?:json)?\n([\s\S]*?)^```\n)?/gm)].map(
  ([, commands = "", shown]) => ({ commands, shown }),
);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "handfast-guide-"));
  relay = new RelayProcess("--port", "0", "--data", join(directory, "data"));
  const url = await relay.url();
  const script = blocks
    .map(({ commands }) => `${commands}echo "${mark}"\n`)
    .join("")
    .replaceAll("http://127.0.0.1:7420", url);
  const env = { ...process.env, PATH: `${dirname(execPath)}:${process.env["PATH"]}` };
  const ran = await promisify(execFile)("bash", ["-eu", "-o", "pipefail", "-c", script], {
    cwd: directory,
    env,
    timeout: 50_000,
  });
  outputs = ran.stdout.split(`${mark}\n`);
});
afterAll(async () => {
  await relay.stop();
  await rm(directory, { recursive: true });
});

/** `…` stands for anything. Answers end without a line break, so one may follow another on the same line. */
function pattern(shown: string): RegExp {
  const literal = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const lines = shown
    .trimEnd()
    .split("\n")
    .map((line) => line.split("…").map(literal).join("[^\\n]*"));
  return new RegExp(`^${lines.join("\\n?")}\\n?$`);
}

describe("docs/http.md", () => {
  it("shows a whole life", () => {
    expect(blocks.length).toBeGreaterThan(10);
  });

  it.each(blocks.map(({ shown }, index) => ({ index, shown })).filter(({ shown }) => shown !== undefined))(
    "answers as block $index shows",
    ({ index, shown = "" }) => {
      expect(outputs[index]).toMatch(pattern(shown));
    },
  );
});
