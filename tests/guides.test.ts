/** What the guides tell a reader to type is typed here, against a relay that the guide itself starts. */

import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { env, execPath } from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { renderErrors } from "../scripts/generate-errors.ts";
import { onFreePorts } from "./support/free-ports.ts";
import { differences, follow, readGuide, writeFiles } from "./support/guide.ts";
import { makeProject, typeFaults } from "./support/project.ts";

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

function project(name: string): string {
  const place = join(folder, name);
  makeProject(place);
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
  expect(typeFaults(place)).toBe("");
});

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
