import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { promises, renderConformance } from "../../../scripts/generate-conformance.ts";
import { checks } from "./promises/all.ts";
import { untried } from "./promises/untried.ts";

const root = join(import.meta.dirname, "../../..");
const pages = [
  "handoffs",
  "ids-and-idempotency",
  "events",
  "status-codes",
  "signing",
  "manifest",
  "wire",
  "contracts",
  "websocket",
  "evolution",
  "discovery",
  "routing",
];
/** A heading over other headings, and two that are about the specification itself. */
const withoutPromises = [
  "handoffs.md#transitions",
  "evolution.md#how-this-specification-is-changed",
  "evolution.md#changes",
];

/** Every section of a page, as it is linked to. */
function sectionsOf(page: string): readonly string[] {
  const text = readFileSync(join(root, "spec", `${page}.md`), "utf8").replace(/```[\s\S]*?```/g, "");
  return [...text.matchAll(/^#{2,3} (.+)$/gm)].map(([, title = ""]) => {
    const anchor = title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-");
    return `${page}.md#${anchor}`;
  });
}

const sections = pages.flatMap(sectionsOf);

describe("the promises", () => {
  it("have ids of one form, each given once", () => {
    const ids = checks.map(({ id }) => id);
    expect(ids.filter((id) => !/^[A-Z]+-[1-9][0-9]?$/.test(id))).toEqual([]);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it("are sentences, each said once", () => {
    const said = [...checks, ...untried].map(({ promise }) => promise);
    expect(said.filter((promise) => !/^[`A-Z].*\.$/.test(promise))).toEqual([]);
    expect(said.filter((promise, index) => said.indexOf(promise) !== index)).toEqual([]);
  });

  it("name sections of the specification that exist", () => {
    const named = [...checks, ...untried].map(({ section }) => section);
    expect(named.filter((section) => !sections.includes(section))).toEqual([]);
  });

  it("are tried for every section that makes one", () => {
    const tried = new Set(checks.map(({ section }) => section));
    expect(sections.filter((section) => !tried.has(section)).toSorted()).toEqual(withoutPromises.toSorted());
  });

  it("are listed in spec/promises.json as they are (npm run generate)", () => {
    const listed: unknown = JSON.parse(readFileSync(join(root, "spec/promises.json"), "utf8"));
    expect(listed).toEqual(JSON.parse(JSON.stringify(promises())));
  });

  it("are told in docs/conformance.md as they are, and so are the mutants (npm run generate)", () => {
    expect(readFileSync(join(root, "docs/conformance.md"), "utf8")).toBe(renderConformance());
  });
});

describe("the suite", () => {
  it("is a black box: it imports the protocol and nothing else of ours", () => {
    const files = globSync("**/*.ts", { cwd: import.meta.dirname }).filter(
      (name) => !/\.test\.ts$|^testing/.test(name),
    );
    const imports = files.flatMap((name) => {
      const text = readFileSync(join(import.meta.dirname, name), "utf8");
      return [...text.matchAll(/from "([^"]+)"/g)].map(([, from = ""]) => from);
    });
    const allowed = /^(\.|node:|typebox|@handfast\/protocol(\/wire)?$)/;
    expect(imports.filter((from) => !allowed.test(from) || from.startsWith("../../../"))).toEqual([]);
    expect(files.length).toBeGreaterThan(40);
  });
});
