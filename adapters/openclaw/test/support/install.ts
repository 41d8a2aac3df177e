/** Gets OpenClaw and the packed plugin in place: OpenClaw once per lock, the plugin whenever its sources have changed. */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packAll } from "../../../../scripts/pack.ts";
import { host_folder, install_folder, openclaw_program } from "./places.ts";

type Say = (line: string) => void;

/** What a plugin needs beside itself, before what needs it. */
const packages = ["packages/protocol", "packages/client", "adapters/openclaw"];
const root = join(import.meta.dirname, "../../../..");

/** It cannot be had on this machine; the message says why. */
export class NoOpenClaw extends Error {}

/** OpenClaw's version, as it says it itself. */
export function openclawVersion(): string {
  try {
    const said = execFileSync(process.execPath, [openclaw_program, "--version"], { encoding: "utf8" });
    return /\d+\.\d+\.\d+\S*/.exec(said)?.[0] ?? said.trim();
  } catch (error) {
    // Such as: this Node does not suit it.
    throw new NoOpenClaw(`OpenClaw does not run: ${messageOf(error)}`);
  }
}

export function installHost(say: Say): void {
  const stamp = join(host_folder, "node_modules/.installed-from");
  const lock = digestOf([join(host_folder, "package-lock.json")]);
  if (isStamped(stamp, lock)) return;
  say("installing OpenClaw into adapters/openclaw/test/host/node_modules (about 650 MB, once) …");
  // No package's own scripts run: none of what is used here needs them.
  npm(["ci", "--ignore-scripts", "--no-audit", "--no-fund"], host_folder);
  writeFileSync(stamp, lock);
}

/** As `npm install` of the packed files, in a folder of its own. */
export function installPlugin(say: Say): void {
  const stamp = join(install_folder, "node_modules/.installed-from");
  const sources = packages.flatMap((each) => globSync(`${each}/{*.json,src/**/*.{ts,json}}`, { cwd: root }));
  const digest = digestOf(
    ["package-lock.json", "scripts/pack.ts", ...sources.toSorted()].map((each) => join(root, each)),
  );
  if (isStamped(stamp, digest)) return;
  say("packing the plugin and installing it into adapters/openclaw/.openclaw …");
  const packed = mkdtempSync(join(tmpdir(), "handfast-packed-"));
  try {
    const files = packAll(packed, packages).map((name) => join(packed, name));
    rmSync(install_folder, { recursive: true, force: true });
    mkdirSync(install_folder, { recursive: true });
    writeFileSync(join(install_folder, "package.json"), '{ "private": true }\n');
    npm(["install", "--omit=peer", "--no-audit", "--no-fund", "--ignore-scripts", ...files], install_folder);
    writeFileSync(stamp, digest);
  } finally {
    rmSync(packed, { recursive: true, force: true });
  }
}

function npm(words: readonly string[], cwd: string): void {
  try {
    execFileSync("npm", words, { cwd, stdio: ["ignore", "ignore", "pipe"] });
  } catch (error) {
    const said = error instanceof Error && "stderr" in error ? String(error.stderr) : messageOf(error);
    const faults = said.split("\n").filter((line) => line.startsWith("npm error"));
    throw new NoOpenClaw(`npm ${words[0]} failed: ${faults.length === 0 ? said : faults.slice(0, 3).join("; ")}`);
  }
}

function isStamped(stamp: string, digest: string): boolean {
  return existsSync(stamp) && readFileSync(stamp, "utf8") === digest;
}

function digestOf(files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest("hex");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
