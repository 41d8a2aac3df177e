/**
 * A guide as a reader follows it: its files are written, its commands typed, what they print held against what it shows.
 *
 * - `sh`: typed into one shell, from the first block to the last; a block without a language after it is what they print,
 *   with … for whatever differs each time.
 * - `sh stays=WORD`: typed into a terminal of its own, where it stays; the reader goes on when it has printed WORD.
 * - `ts` and `toml`: the first line is a comment with the file's name.
 * - `console`: needs more than this machine has, and is not run here.
 */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

interface Block {
  readonly language: string;
  readonly stays: string | null;
  readonly text: string;
  readonly shown: string | null;
}

export interface GuideFile {
  readonly name: string;
  readonly text: string;
}

export interface Guide {
  readonly blocks: readonly Block[];
  readonly files: readonly GuideFile[];
}

export function readGuide(path: string): Guide {
  return guideIn(readFileSync(path, "utf8"));
}

/** Of a whole guide, or of one part of it. */
export function guideIn(markdown: string): Guide {
  const fences = /^```(\w+)(?: stays=(\S+))?\n([\s\S]*?)^```\n(?:\n```\n([\s\S]*?)^```\n)?/gm;
  const blocks = [...markdown.matchAll(fences)].map(([, language = "", stays, text = "", shown]) => ({
    language,
    stays: stays ?? null,
    text,
    shown: shown ?? null,
  }));
  const files = blocks.flatMap(({ language, text }) => (["ts", "toml"].includes(language) ? [fileOf(text)] : []));
  return { blocks, files };
}

function fileOf(text: string): GuideFile {
  const name = /^(?:\/\/|#) (\S+)\n/.exec(text)?.[1];
  if (name === undefined) throw new Error(`This block does not begin with a comment that names its file:\n${text}`);
  return { name, text };
}

export function writeFiles(files: readonly GuideFile[], folder: string): void {
  for (const { name, text } of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** What each block of commands printed; where one fails, the guide ends there. */
export async function follow(guide: Guide, folder: string, env: NodeJS.ProcessEnv): Promise<readonly Told[]> {
  writeFiles(guide.files, folder);
  const shell = new Terminal(folder, env);
  const terminals = [shell];
  const told: Told[] = [];
  try {
    for (const block of guide.blocks.filter(({ language }) => language === "sh")) {
      if (block.stays === null) {
        told.push({ block, printed: await shell.type(block.text) });
        continue;
      }
      const terminal = new Terminal(folder, env);
      terminals.push(terminal);
      told.push({ block, printed: await terminal.stay(block.text, block.stays) });
    }
    return told;
  } finally {
    for (const terminal of terminals.toReversed()) await terminal.close();
  }
}

export interface Told {
  readonly block: Block;
  readonly printed: string;
}

const mark = "=== end of block ===";

class Terminal {
  readonly #child: ChildProcessWithoutNullStreams;
  #printed = "";
  #news = Promise.withResolvers<void>();

  constructor(cwd: string, env: NodeJS.ProcessEnv) {
    // A group of its own, so that whatever it started ends with it.
    this.#child = spawn("bash", ["-eu", "-o", "pipefail"], { cwd, env, detached: true });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#printed += text;
        this.#tell();
      });
    }
    this.#child.on("close", () => this.#tell());
  }

  async type(commands: string): Promise<string> {
    this.#printed = "";
    this.#child.stdin.write(`{\n${commands}} < /dev/null 2>&1\necho "${mark}"\n`);
    return this.#until(mark, commands);
  }

  async stay(commands: string, word: string): Promise<string> {
    this.#child.stdin.end(`{\n${commands}} < /dev/null 2>&1\n`);
    return this.#until(word, commands);
  }

  #tell(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  async #until(word: string, commands: string): Promise<string> {
    while (!this.#printed.includes(word)) {
      if (this.#child.exitCode !== null) throw new Error(`This ended early:\n${commands}It printed:\n${this.#printed}`);
      await this.#news.promise;
    }
    return this.#printed.split(mark, 1)[0] ?? "";
  }

  async close(): Promise<void> {
    const { pid, exitCode } = this.#child;
    if (pid === undefined || exitCode !== null) return;
    const closed = once(this.#child, "close");
    process.kill(-pid, "SIGTERM");
    await closed;
  }
}

/** Line by line; … stands for anything. Of a command that stays, further lines may have been printed meanwhile. */
export function differences({ block, printed }: Told): readonly string[] {
  if (block.shown === null) return [];
  const lines = printed
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "" && !line.startsWith("npm warn") && !isPassing(line));
  const shown = block.shown.split("\n").filter((line) => line.trim() !== "" && !isPassing(line));
  const missing = shown.filter((line) => !lines.some((other) => matches(line, other)));
  if (block.stays !== null) return missing;
  const unshown = lines.filter((line) => !shown.some((other) => matches(other, line)));
  return [...missing.map((line) => `not printed: ${line}`), ...unshown.map((line) => `not shown: ${line}`)];
}

/** Only the newest progress counts, so a report may be left out by the next. */
function isPassing(line: string): boolean {
  return line.startsWith("progress: ");
}

function matches(shown: string, printed: string): boolean {
  const literal = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${shown.trimEnd().split("…").map(literal).join(".*")}$`).test(printed);
}
