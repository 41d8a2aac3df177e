/** What the guides tell a reader to type is typed here, against a relay that the guide itself starts. */

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { env, execPath } from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { renderErrors } from "../scripts/generate-errors.ts";
import { onFreePorts } from "./support/free-ports.ts";
import { differences, follow, readGuide, writeFiles } from "./support/guide.ts";

const root = join(import.meta.dirname, "..");
const guides = [
  "README",
  "docs/first-handoff",
  "docs/workers",
  "docs/agreeing",
  "docs/timeouts",
  "docs/dead-letters",
  "docs/operations",
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "handfast-guides-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A folder as after `npm install`, with this workspace's packages. */
function project(name: string): string {
  const place = join(folder, name);
  mkdirSync(join(place, "node_modules/.bin"), { recursive: true });
  writeFileSync(join(place, "package.json"), '{ "type": "module" }');
  for (const [link, target] of [
    [".bin/handfast", "packages/cli/bin/handfast.js"],
    [".bin/node", "node_modules/.bin/node"],
    ["handfast", "packages/cli"],
    ["@handfast", "node_modules/@handfast"],
    ["@types", "node_modules/@types"],
    ["zod", "node_modules/zod"],
  ] as const) {
    symlinkSync(join(root, target), join(place, "node_modules", link));
  }
  // npm takes a second each time to find the command beside it. tests/packages.test.ts has the real npx.
  writeFileSync(join(place, "node_modules/.bin/npx"), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
  return place;
}

describe.each(guides)("%s.md", (name) => {
  const guide = readGuide(join(root, `${name}.md`));

  test("shows what its commands print", { timeout: 240_000 }, async () => {
    const place = project(name);
    const path = `${join(place, "node_modules/.bin")}:${dirname(execPath)}:${env["PATH"]}`;
    const free = await onFreePorts(guide);
    const told = await follow(free.guide, place, { PATH: path, HOME: place, NO_COLOR: "1", ...free.env });
    expect(told.length).toBeGreaterThan(0);
    const wrong = told.flatMap((each) => differences({ ...each, printed: free.shown(each.printed) }));
    expect(wrong).toEqual([]);
  });

  test("shows only programs that its commands run", () => {
    const typed = guide.blocks.flatMap(({ language, text }) => (language === "sh" ? [text] : [])).join("\n");
    const programs = guide.files.filter((file) => file.name.endsWith(".ts"));
    expect(programs.filter((file) => !typed.includes(`node ${file.name}`))).toEqual([]);
  });
});

test("the programs of all guides are sound TypeScript", { timeout: 240_000 }, () => {
  const place = project("types");
  for (const name of guides) writeFiles(readGuide(join(root, `${name}.md`)).files, join(place, name));
  writeFileSync(
    join(place, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        ...{ target: "es2024", module: "nodenext", strict: true, noEmit: true, skipLibCheck: true, types: ["node"] },
        ...{ allowImportingTsExtensions: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
      },
    }),
  );
  const told = run(execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", place]);
  expect(told).toBe("");
});

function run(command: string, words: readonly string[]): string {
  try {
    return execFileSync(command, words, { encoding: "utf8" });
  } catch (error) {
    return error instanceof Error && "stdout" in error ? String(error.stdout) : String(error);
  }
}

describe("docs/errors.md", () => {
  const text = readFileSync(join(root, "docs/errors.md"), "utf8");

  test("explains the codes and reasons as they are (npm run generate)", () => expect(text).toBe(renderErrors()));

  test("has a heading wherever something links to it", () => {
    const anchors = new Set([...text.matchAll(/^### (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading)));
    const pages = readdirSync(join(root, "docs")).filter((file) => file.endsWith(".md"));
    const links = pages.flatMap((page) => linksToErrors(readFileSync(join(root, "docs", page), "utf8"), page));
    expect(links.length).toBeGreaterThan(100);
    expect(links.filter((link) => !anchors.has(link))).toEqual([]);
  });
});

/** As the usual renderers of Markdown make one of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}

function linksToErrors(text: string, page: string): readonly string[] {
  const form = page === "errors.md" ? /\]\(#([^)]+)\)/g : /\]\((?:docs\/)?errors\.md#([^)]+)\)/g;
  return [...text.matchAll(form)].map(([, anchor = ""]) => anchor);
}

describe("pictures", () => {
  const pictures = readdirSync(join(root, "docs/pictures")).filter((name) => name.endsWith(".svg"));

  test.each(pictures)("%s can be read aloud, in light and in dark", (name) => {
    const svg = readFileSync(join(root, "docs/pictures", name), "utf8");
    // A terminal is dark in any light.
    if (name !== "demo.svg") expect(svg).toContain("prefers-color-scheme: dark");
    expect(svg).toMatch(/<title[\s\S]*<desc/);
  });

  test("each stands in a guide", () => {
    const texts = [...guides, "docs/performance"]
      .map((name) => readFileSync(join(root, `${name}.md`), "utf8"))
      .join("\n");
    expect(pictures.filter((name) => !texts.includes(`pictures/${name}`))).toEqual([]);
  });
});
