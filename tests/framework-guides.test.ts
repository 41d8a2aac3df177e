/**
 * Whoever copies a file out of docs/frameworks/ has installed what its guide says, and no more. The tests that run these
 * files have everything, so what a guide forgets to name is found here, from its text alone.
 */

import { globSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const folder = "docs/frameworks";
const textOf = (path: string) => readFileSync(join(root, path), "utf8");
const guides = globSync("*.md", { cwd: join(root, folder) }).filter((name) => name !== "README.md");
const overview = textOf(`${folder}/README.md`);

/** Modules whose name does not tell the package that they are of. */
const packages_of_modules: Readonly<Record<string, string>> = {
  agent_framework: "agent-framework-core",
  "langgraph.checkpoint.sqlite": "langgraph-checkpoint-sqlite",
};

test.each(guides)("%s names every package that its file imports", (name) => {
  const { python, javascript } = guideOf(name);
  const named = [...python.installed.map(nameIn), ...javascript.installed.map(unversioned)];
  const imported = [...python.imported, ...javascript.imported];
  // OpenClaw's reader copies a configuration.
  if (name !== "openclaw.md") expect(imported.length).toBeGreaterThan(1);
  expect(imported.filter((each) => !named.includes(each))).toEqual([]);
});

test.each(guides)("%s asks for versions that the tests run with", (name) => {
  const { python, javascript } = guideOf(name);
  const tested = [...globSync("interop/environments/*.txt", { cwd: root }), "python/pyproject.toml"].map(textOf);
  const wanted = python.installed.filter((each) => !each.startsWith("handfast"));
  expect(wanted.filter((each) => !tested.some((list) => list.includes(each)))).toEqual([]);
  const locked = JSON.parse(textOf("package-lock.json")).packages;
  const versioned = javascript.installed.filter((each) => each.lastIndexOf("@") > 0);
  const isTested = (each: string) =>
    `${locked[`node_modules/${unversioned(each)}`].version}.`.startsWith(`${each.slice(each.lastIndexOf("@") + 1)}.`);
  expect(versioned.filter((each) => !isTested(each))).toEqual([]);
});

test.each(guides)("%s leads to how it is installed from a clone", (name) => {
  expect(textOf(`${folder}/${name}`)).toContain("](README.md#from-a-clone)");
  expect(overview).toContain("\n## From a clone\n");
});

test.each([
  ["README.md", "langgraph"],
  ["README.md", "ai-sdk"],
  ["README.md", "openai-agents"],
  ["openclaw.md", "openclaw"],
])("%s names every packed file that @handfast/%s needs", (page, adapter) => {
  // One line stands for three adapters: its reader puts in the name of his own.
  const line = textOf(`${folder}/${page}`).replaceAll("handfast-langgraph-", `handfast-${adapter}-`);
  const files = [...line.matchAll(/CLONE\/dist-packages\/((?:adapters\/)?)handfast-([\w-]+)-\*\.tgz/g)];
  const named = files.map(([, shelf = "", name = ""]) => shelf + name);
  expect(named.toSorted()).toEqual([...neededBy(`@handfast/${adapter}`)].toSorted());
});

/** Packages of ours without which it cannot be installed, as `npm run pack` lays them out. */
function neededBy(name: string, found = new Set<string>()): ReadonlySet<string> {
  const isOf = (path: string) => JSON.parse(textOf(path)).name === name;
  const path = globSync("{packages,adapters}/*/package.json", { cwd: root }).find(isOf) ?? "";
  const { dependencies, peerDependencies, peerDependenciesMeta: peers } = JSON.parse(textOf(path));
  found.add(name.replace("@handfast/", path.startsWith("adapters/") ? "adapters/" : ""));
  for (const each of Object.keys({ ...dependencies, ...peerDependencies })) {
    if (each.startsWith("@handfast/") && peers?.[each]?.optional !== true) neededBy(each, found);
  }
  return found;
}

function guideOf(name: string) {
  const text = textOf(`${folder}/${name}`);
  const file = /^```(?:python|ts)\n(?:#|\/\/) \S+\n([\s\S]*?)^```$/m.exec(text)?.[1] ?? "";
  const pip = wordsAfter(text, "pip install").flatMap((word) => [word, ...broughtBy(word)]);
  return {
    python: { installed: pip, imported: pip.length === 0 ? [] : pythonImports(file) },
    javascript: {
      installed: wordsAfter(text, "npm install"),
      imported: pip.length === 0 ? javascriptImports(file) : [],
    },
  };
}

/** The words of the first such line in the guide's commands. */
function wordsAfter(text: string, command: string): readonly string[] {
  const line = new RegExp(`^${command} (.+)$`, "m").exec(text)?.[1] ?? "";
  return line
    .split(" ")
    .filter(Boolean)
    .map((word) => word.replaceAll("'", ""));
}

/** What comes with `handfast[extra]`, as python/pyproject.toml has it. */
function broughtBy(word: string): readonly string[] {
  const extra = /^handfast\[([\w-]+)\]$/.exec(word)?.[1];
  if (extra === undefined) return [];
  const project = textOf("python/pyproject.toml");
  const lists = ["dependencies", extra].map(
    (list) => new RegExp(`^${list} = \\[([\\s\\S]*?)\\]$`, "m").exec(project)?.[1],
  );
  return ["handfast", ...lists.flatMap((list = "") => [...list.matchAll(/"([^"]+)"/g)].map(([, each = ""]) => each))];
}

function pythonImports(file: string): readonly string[] {
  const modules = [...file.matchAll(/^(?:import|from) ([\w.]+)/gm)].map(([, module = ""]) => module);
  return modules.filter((module) => !standard_library.has(module.split(".")[0] ?? "")).map(packageOf);
}

/** As far as the files use it. */
const standard_library = new Set(["asyncio", "json", "sqlite3", "sys", "threading", "time", "typing"]);

function packageOf(module: string): string {
  const top = module.split(".")[0] ?? "";
  return packages_of_modules[module] ?? packages_of_modules[top] ?? top.replaceAll("_", "-");
}

function javascriptImports(file: string): readonly string[] {
  const modules = [...file.matchAll(/^import .*from "([^"]+)";$/gm)].map(([, module = ""]) => module);
  const outside = modules.filter((module) => !isBuiltin(module) && !module.startsWith("."));
  return outside.map((module) =>
    module
      .split("/")
      .slice(0, module.startsWith("@") ? 2 : 1)
      .join("/"),
  );
}

/** Of a requirement of Python: `autogen-ext` of `autogen-ext>=0.7,<0.8`. */
function nameIn(requirement: string): string {
  return /^[\w.-]+/.exec(requirement)?.[0] ?? requirement;
}

/** `ai` of `ai@7`. */
function unversioned(name: string): string {
  return name.replace(/(?<=.)@.*$/, "");
}
