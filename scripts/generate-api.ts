// Writes docs/client-api.md, the reference of @handfast/client, from the declarations that the compiler makes of its
// public doors and the comments that stand there: node scripts/generate-api.ts
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
export const api_page = "docs/client-api.md";

const doors = [
  { title: "@handfast/client", source: "packages/client/src/mod.ts" },
  { title: "@handfast/client/testing", source: "packages/client/src/testing/mod.ts" },
];

interface Entry {
  readonly name: string;
  readonly comment: string;
  readonly declaration: string;
}

/** The page with the text that it must have now; its test compares. */
export function renderApi(): string {
  const built = mkdtempSync(join(tmpdir(), "handfast-api-"));
  try {
    const flags = [
      "--noEmit",
      "false",
      "--declaration",
      "--emitDeclarationOnly",
      "--stripInternal",
      // Writing side by side it loses a file now and then, and says nothing (TypeScript 7.0.2).
      "--singleThreaded",
      "--outDir",
      built,
      "--rootDir",
      root,
    ];
    // The doors and what they lead to, in place of the whole project.
    const only = {
      extends: join(root, "tsconfig.json"),
      compilerOptions: { typeRoots: [join(root, "node_modules/@types")] },
      include: [],
      files: doors.map(({ source }) => join(root, source)),
    };
    writeFileSync(join(built, "tsconfig.json"), JSON.stringify(only));
    const made = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", built, ...flags], { encoding: "utf8" });
    if (made.status !== 0) throw new Error(`the declarations could not be made: ${made.stdout}${made.stderr}`);
    const pages = doors.map(({ title, source }) =>
      renderDoor(title, exportsOf(join(built, source.replace(/\.ts$/, ".d.ts")))),
    );
    return `${head}\n${pages.join("\n")}`;
  } finally {
    rmSync(built, { recursive: true, force: true });
  }
}

const head = `# The client's interface

Generated from the source by \`npm run generate\`. The guides are gentler: [first-handoff.md](first-handoff.md),
[workers.md](workers.md), [testing.md](testing.md). Shapes that come from the relay (receipts, handoffs, events) are spelled as on the
wire and described in [spec/wire.md](../spec/wire.md).
`;

/** Every name that a door exports, with its declaration, in the door's order. */
function exportsOf(file: string): Entry[] {
  const text = readFileSync(file, "utf8");
  const found: Entry[] = [];
  for (const [, names = "", from = ""] of text.matchAll(/export (?:type )?\{([^}]*)\} from "([^"]+)"/g)) {
    if (!from.startsWith(".")) continue;
    const source = join(dirname(file), from.replace(/\.ts$/, ".d.ts"));
    const known = new Map(exportsOf(source).map((entry) => [entry.name, entry]));
    for (const each of names.split(",")) {
      const name = each.trim().replace(/^type /, "");
      const entry = known.get(name);
      if (entry !== undefined) found.push(entry);
    }
  }
  return [...found, ...declarationsOf(text)];
}

const begin = /^export (?:declare )?(?:abstract )?(?:function|class|interface|type|const) (\w+)/;

function declarationsOf(text: string): Entry[] {
  const lines = text.split("\n");
  const found: Entry[] = [];
  let comment: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (line.startsWith("/**")) {
      const end = lines.findIndex((each, i) => i >= at && each.includes("*/"));
      comment = lines.slice(at, end + 1);
      at = end;
      continue;
    }
    const name = begin.exec(line)?.[1];
    if (name !== undefined) {
      const end = endOf(lines, at);
      const declaration = lines.slice(at, end + 1).map((each) => each.replace(/^export declare /, "export "));
      found.push({ name, comment: plainComment(comment), declaration: withoutPrivate(declaration).join("\n") });
      at = end;
    }
    comment = [];
  }
  return found;
}

/** The line on which every bracket that the declaration opened is closed again. */
function endOf(lines: readonly string[], begun: number): number {
  let depth = 0;
  for (let at = begun; at < lines.length; at++) {
    const code = (lines[at] ?? "").replace(/=>/g, "").replace(/\/\*.*?\*\/|\/\/.*$/g, "");
    for (const char of code) depth += "{([".includes(char) ? 1 : "})]".includes(char) ? -1 : 0;
    if (depth === 0 && /[;}]\s*$/.test(code)) return at;
  }
  return lines.length - 1;
}

function withoutPrivate(lines: readonly string[]): string[] {
  return lines.filter((line) => !/^\s+(#|private )/.test(line));
}

function plainComment(lines: readonly string[]): string {
  return lines
    .join("\n")
    .replace(/^\/\*\*\s?|\s*\*\/$/g, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .join("\n")
    .trim();
}

function renderDoor(title: string, entries: readonly Entry[]): string {
  const parts = entries.map(({ name, comment, declaration }) => {
    const told = comment === "" ? "" : `${comment}\n\n`;
    return `### ${name}\n\n${told}\`\`\`typescript\n${declaration}\n\`\`\`\n`;
  });
  return `## ${title}\n\n${parts.join("\n")}`;
}

if (import.meta.main) writeFileSync(join(root, api_page), renderApi());
