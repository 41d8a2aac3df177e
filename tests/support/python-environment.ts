/**
 * Virtual environments of Python: one for each file in interop/environments/, with the SDK as it is in this tree. Made on
 * first use, and kept in interop/.cache while that file stays as it is.
 */

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const lists = join(root, "interop/environments");
const cache = join(root, "interop/.cache");
const sdk = join(root, "python");
const least = [3, 10] as const;
const most_output = 64_000_000;
const tell_every_ms = 15_000;
/** Of those that take more than a moment. */
const sizes: Readonly<Record<string, string>> = { agents: "about 270 MB", crewai: "about 1.1 GB" };

/** It cannot be had on this machine; the message says why. */
export class NoPython extends Error {}

const made = new Map<string, Promise<string>>();

/** The path of the environment's interpreter. Throws NoPython where it cannot be made. */
export function pythonEnvironment(name: string, say: (line: string) => void): Promise<string> {
  const making = made.get(name) ?? make(name, say);
  made.set(name, making);
  return making;
}

/** Whether it is there already, as it should be. */
export function hasPythonEnvironment(name: string): boolean {
  const { mark, wanted } = placeOf(name);
  return existsSync(mark) && readFileSync(mark, "utf8") === wanted;
}

function placeOf(name: string) {
  const place = join(cache, name);
  const list = join(lists, `${name}.txt`);
  const wanted = digestOf([list, join(sdk, "pyproject.toml")]);
  return { place, list, wanted, mark: join(place, "made-of"), command: join(place, "bin/python") };
}

async function make(name: string, say: (line: string) => void): Promise<string> {
  const { place, list, wanted, mark, command } = placeOf(name);
  if (hasPythonEnvironment(name)) return command;
  const system = await systemPython();
  const size = sizes[name] === undefined ? "" : `, ${sizes[name]}`;
  say(`installing the Python environment ${name} into interop/.cache (once${size}) …`);
  const began = performance.now();
  const elapsed = () => `${Math.round((performance.now() - began) / 1_000)} s`;
  const telling = setInterval(() => say(`  still installing ${name}, ${elapsed()}`), tell_every_ms);
  try {
    mkdirSync(cache, { recursive: true });
    // What an interrupted installation left is no place to go on from.
    rmSync(place, { recursive: true, force: true });
    await run(system, ["-m", "venv", place]);
    const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    await run(command, [...pip, "-r", list, "-e", sdk], { maxBuffer: most_output });
  } catch (error) {
    const lines = (error instanceof Error ? error.message : String(error)).trim().split("\n");
    throw new NoPython(`the Python environment ${name} could not be installed: ${lines.at(-1)}`);
  } finally {
    clearInterval(telling);
  }
  writeFileSync(mark, wanted);
  say(`  installed ${name} in ${elapsed()}`);
  return command;
}

function digestOf(files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest("hex");
}

async function systemPython(): Promise<string> {
  for (const name of ["python3", "python"]) {
    const version = await run(name, ["-c", "import sys, venv; print(*sys.version_info[:2])"]).catch(() => null);
    const [major = 0, minor = 0] = version?.stdout.split(" ").map(Number) ?? [];
    if (major === least[0] && minor >= least[1]) return name;
  }
  throw new NoPython(`there is no Python ${least.join(".")} or newer with venv`);
}
