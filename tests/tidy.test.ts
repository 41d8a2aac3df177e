/** What a linter cannot see: purity of core, no dead files or unused exports, files that open with what they are. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { missingFrom } from "../scripts/complete-lock.ts";

const root = join(import.meta.dirname, "..");
const longest_file_lines = 450;

function tracked(pattern: string): readonly string[] {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", pattern], {
    cwd: root,
  });
  return listed.toString().split("\n").filter(Boolean);
}

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

function isSource(path: string): boolean {
  return !path.endsWith(".test.ts") && !path.endsWith(".conformance.ts") && !path.includes("/testing/");
}

const core = tracked("packages/core/src/**.ts").filter(isSource);
const sources = tracked("packages/**.ts").filter(isSource);

describe("core is pure", () => {
  const impure = [
    /\bDate\b/,
    /\bMath\.random\b/,
    /\bperformance\b/,
    /\bprocess\b/,
    /\bglobalThis\b/,
    /\bset(Timeout|Interval|Immediate)\b/,
    /\bqueueMicrotask\b/,
    /\bcrypto\b/,
    /\bconsole\b/,
    /\bfetch\(/,
    /\basync\b/,
    /\bimport\(/,
  ];

  test("it has files to look at", () => expect(core.length).toBeGreaterThan(10));

  test.each(core)("%s uses no clock, no randomness, no I/O", (path) => {
    const code = read(path).replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
    expect(impure.filter((pattern) => pattern.test(code))).toEqual([]);
  });

  test.each(core)("%s imports only its own neighbours", (path) => {
    const imports = [...read(path).matchAll(/from "([^"]+)"/g)].map((match) => match[1] ?? "");
    expect(imports.filter((name) => !name.startsWith("./"))).toEqual([]);
  });
});

describe("every source file", () => {
  test.each(sources)("%s is short, says what it is, and holds no left-overs", (path) => {
    const text = read(path);
    expect(text.split("\n").length).toBeLessThan(longest_file_lines);
    expect(text).not.toMatch(/\b(TODO|FIXME|XXX)\b|@ts-(ignore|expect-error)/);
    if (!path.endsWith("/mod.ts")) expect(text).toMatch(/^(#!.*\n)?\/(\*\*|\/)/);
  });
});

test("no dead files, no unused exports, no undeclared or unused dependencies", () => {
  const knip = join(root, "node_modules/knip/bin/knip.js");
  try {
    execFileSync(process.execPath, [knip, "--no-progress"], { cwd: root, stdio: "pipe" });
  } catch (error) {
    const output = error instanceof Error && "stdout" in error ? String(error.stdout) : String(error);
    expect(output).toBe("");
  }
});

test("package-lock.json has every optional package it speaks of, or npm ci refuses it (node scripts/complete-lock.ts)", () => {
  expect([...missingFrom(JSON.parse(read("package-lock.json"))).keys()]).toEqual([]);
});
