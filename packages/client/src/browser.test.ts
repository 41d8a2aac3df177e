/** What a browser would load: everything that mod.ts reaches by static imports, and nothing of Node's among it. */

import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");
const packages: Readonly<Record<string, string>> = {
  "@handfast/protocol": join(root, "packages/protocol/src/mod.ts"),
  "@handfast/protocol/client": join(root, "packages/protocol/src/client.ts"),
  "@handfast/protocol/wire": join(root, "packages/protocol/src/wire/mod.ts"),
};

/** Specifiers of imports and exports that stay when types are stripped; dynamic imports are another matter. */
function staticImports(path: string): string[] {
  const code = readFileSync(path, "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
  const statements = code.matchAll(/^(?:import|export)\s(?!type\b)(?:[^;]*?\sfrom\s+)?"([^"]+)"/gm);
  return Array.from(statements, ([, specifier = ""]) => specifier);
}

function reach(entry: string): { readonly files: ReadonlySet<string>; readonly foreign: ReadonlySet<string> } {
  const files = new Set<string>();
  const foreign = new Set<string>();
  const queue = [entry];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (files.has(path)) continue;
    files.add(path);
    for (const specifier of staticImports(path)) {
      if (specifier.startsWith(".")) queue.push(join(dirname(path), specifier));
      else if (packages[specifier] !== undefined) queue.push(packages[specifier]);
      else foreign.add(specifier);
    }
  }
  return { files, foreign };
}

describe("the client in a browser", () => {
  const { files, foreign } = reach(join(import.meta.dirname, "mod.ts"));

  test("loads the client's own files", () => {
    const names = [...files].map((path) => relative(import.meta.dirname, path));
    expect(names).toEqual(expect.arrayContaining(["connect.ts", "client.ts", "link/ws-line.ts", "identity/sha256.ts"]));
  });

  test("loads nothing of Node's, no file made for Node, and no worker", () => {
    const names = [...files].map((path) => relative(import.meta.dirname, path));
    expect([...foreign].filter((name) => name.startsWith("node:"))).toEqual([]);
    expect(names.filter((name) => /(^|\/)node-/.test(name))).toEqual([]);
    expect(names).not.toContain("serve/mod.ts");
  });

  test("needs no package: the schemas, and typebox with them, are loaded once documents of others are read", () => {
    expect([...foreign]).toEqual([]);
  });
});
