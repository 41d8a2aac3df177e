/** What the guides with curl tell a reader to type is typed here, against a relay as `npm start` runs it. */

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RelayProcess } from "./testing/relay-process.ts";

const mark = "=== end of block ===";

interface Block {
  readonly commands: string;
  /** The block of output that follows it, if one does. */
  readonly shown: string | undefined;
}

/** Blocks of commands; in another language than `bash` stand those that are not to be run. */
function blocksOf(text: string): readonly Block[] {
  const fences = /^```bash\n([\s\S]*?)^```\n(?:\n```(?:json)?\n([\s\S]*?)^```\n)?/gm;
  return [...text.matchAll(fences)].map(([, commands = "", shown]) => ({ commands, shown }));
}

function read(path: string): string {
  return readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
}

const guides = [
  { guide: "docs/http.md", blocks: blocksOf(read("docs/http.md")), least: 11 },
  { guide: "docs/contracts.md", blocks: blocksOf(read("docs/contracts.md")), least: 9 },
  { guide: "docs/discovery.md", blocks: blocksOf(read("docs/discovery.md")), least: 10 },
  { guide: "docs/routing.md", blocks: blocksOf(read("docs/routing.md")), least: 8 },
  { guide: "docs/reliability.md", blocks: blocksOf(read("docs/reliability.md")), least: 1 },
  { guide: "docs/schema-compatibility.md", blocks: blocksOf(read("docs/schema-compatibility.md")), least: 2 },
];

let directory: string;
const relays: RelayProcess[] = [];

function start(...flags: readonly string[]): RelayProcess {
  const relay = new RelayProcess("--port", "0", ...flags);
  relays.push(relay);
  return relay;
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "handfast-guide-"));
  // A guide starts in the clone's folder: there, and nowhere else, npx finds the command without asking a registry.
  const commands = join(directory, "node_modules", ".bin");
  await mkdir(commands, { recursive: true });
  await symlink(fileURLToPath(new URL("../../cli/bin/handfast.js", import.meta.url)), join(commands, "handfast"));
  const bin = join(directory, "bin");
  await mkdir(bin);
  // npm takes a second each time to find the command beside it. tests/packages.test.ts has the real npx.
  await writeFile(join(bin, "npx"), '#!/bin/sh\ncommand=$1\nshift\nexec "node_modules/.bin/$command" "$@"\n', {
    mode: 0o755,
  });
});
afterAll(async () => {
  for (const relay of relays) await relay.stop();
  await rm(directory, { recursive: true });
});

/** What each block prints, in one shell from the first to the last. `data` stands for the folder that a guide names. */
async function walk(relay: RelayProcess, blocks: readonly Block[], data = ""): Promise<readonly string[]> {
  const url = await relay.url();
  const script = blocks
    .map(({ commands }) => `${commands}echo "${mark}"\n`)
    .join("")
    .replaceAll(/http:\/\/127\.0\.0\.1:742\d/g, url)
    .replaceAll(/\/tmp\/handfast-[a-z]+/g, data);
  const path = `${join(directory, "bin")}:${dirname(execPath)}:${process.env["PATH"]}`;
  const env = { ...process.env, TMPDIR: directory, HOME: directory, PATH: path };
  const ran = await promisify(execFile)("bash", ["-eu", "-o", "pipefail", "-c", script], {
    cwd: directory,
    env,
    timeout: 50_000,
  });
  return ran.stdout.split(`${mark}\n`);
}

/** `…` stands for anything. Answers end without a line break, so one may follow another on the same line. */
function pattern(shown: string): RegExp {
  const literal = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const lines = shown
    .trimEnd()
    .split("\n")
    .map((line) => line.split("…").map(literal).join("[^\\n]*"));
  return new RegExp(`^${lines.join("\\n?")}\\n?$`);
}

function compare(blocks: readonly Block[], outputs: readonly string[]): void {
  for (const [index, { shown }] of blocks.entries()) {
    if (shown !== undefined) expect(outputs[index]).toMatch(pattern(shown));
  }
}

describe.each(guides)("$guide", ({ guide, blocks, least }) => {
  it("answers as it shows, also a second time on the same relay", async () => {
    expect(blocks.length).toBeGreaterThanOrEqual(least);
    expect(blocks.at(-1)?.shown).toBeDefined();
    const data = join(directory, guide);
    const relay = start("--data", data);
    compare(blocks, await walk(relay, blocks, data));
    compare(blocks, await walk(relay, blocks, data));
  });
});

describe("docs/configuration.md", () => {
  it("admits, saves and restores as it shows", async () => {
    const blocks = blocksOf(read("docs/configuration.md"));
    expect(blocks.length).toBeGreaterThanOrEqual(3);
    const relay = start("--production", "--data", join(directory, ".handfast"));
    const outputs = await walk(relay, blocks);
    compare(blocks, outputs);
    const [, token = ""] = /"token":"([^"]+)"/.exec(outputs[0] ?? "") ?? [];
    await relay.stop();

    const restored = await start("--production", "--data", join(directory, "saved")).url();
    const answer = await fetch(`${restored}/v1/agents/bob`, { headers: { authorization: `Bearer ${token}` } });
    expect(await answer.json()).toMatchObject({ name: "bob", capabilities: [{ name: "upper" }] });
  });
});
