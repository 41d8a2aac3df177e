// Builds every public package and packs it: npm run pack [folder]. The packed files go to dist-packages/, or the folder;
// those of adapters into adapters/ there, because each brings its framework along, and nobody has all of them. The image of
// deploy/Dockerfile has no adapters, nor their sources: --no-adapters.
//
// In development a package is its TypeScript sources. Published it is JavaScript with declarations, so each is copied to
// a staging folder, where the other staged packages stand in for the workspace's, compiled there, and packed from there.
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { argv, execPath, stderr, stdout } from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Each after those it needs. */
const folders = [
  "packages/protocol",
  "packages/core",
  "packages/engine",
  "packages/store-sqlite",
  "packages/store-postgres",
  "packages/relay",
  "packages/client",
  "packages/conformance",
  "packages/cli",
  "adapters/openclaw",
  "adapters/kit",
  "adapters/langgraph",
  "adapters/ai-sdk",
  "adapters/openai-agents",
] as const;

/** Where adapters are, here and among the packed files. */
const adapters = "adapters";

/** What OpenClaw reads of a plugin before it loads it. */
const plugin_manifest = "openclaw.plugin.json";

/** Doors for our own tests only. */
const internal = new Set(["@handfast/core/testing"]);

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports?: Readonly<Record<string, string>>;
  /** What OpenClaw reads of a plugin's package: where it is entered, and which OpenClaw it needs. */
  readonly openclaw?: { readonly extensions: readonly string[] };
  readonly [member: string]: unknown;
}

/** The packed files, from `target`, in the order in which they need each other. `only`: of these folders, not of all. */
export function packAll(target: string, only: readonly string[] = folders): readonly string[] {
  mkdirSync(target, { recursive: true });
  const staging = join(root, "dist-packages");
  mkdirSync(staging, { recursive: true });
  const stage = mkdtempSync(join(staging, "build-"));
  try {
    return folders.filter((folder) => only.includes(folder)).map((folder) => packOne(folder, stage, target));
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

function packOne(folder: string, stage: string, target: string): string {
  const source = join(root, folder);
  const built = join(stage, basename(folder));
  const manifest: Manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
  copySources(source, built);
  writeJson(join(built, "package.json"), published(manifest));
  copyFileSync(join(root, "LICENSE"), join(built, "LICENSE"));
  copyFileSync(join(source, "README.md"), join(built, "README.md"));
  if (folder === "packages/cli") prepareCommand(source, built);
  if (existsSync(join(source, plugin_manifest)))
    copyFileSync(join(source, plugin_manifest), join(built, plugin_manifest));
  compile(built);
  standIn(stage, folder, manifest.name);
  return pack(built, target, dirname(folder) === adapters ? adapters : "");
}

/** What only tests need stays behind; what a door leads to comes along, wherever it lies. */
function copySources(source: string, built: string): void {
  const isDoor = (name: string) => source.endsWith("client") && name.startsWith("src/testing/");
  const names = globSync("src/**/*.{ts,json}", { cwd: source }).filter(
    (name) => !/\.(test|conformance|samples)\.ts$/.test(name) && (isDoor(name) || !/\/(testing|mutants)\//.test(name)),
  );
  for (const name of names) {
    mkdirSync(join(built, dirname(name)), { recursive: true });
    copyFileSync(join(source, name), join(built, name));
  }
}

/** The same package, with doors that lead to what is built, and nothing that only development needs. */
function published({ devDependencies: _, scripts: __, exports, ...manifest }: Manifest): Manifest {
  const doors = Object.entries(exports ?? {})
    .filter(([door]) => !internal.has(manifest.name + door.slice(1)))
    .map(([door, file]) => [door, { types: inDist(file, ".d.ts"), default: inDist(file, ".js") }]);
  const { bin, openclaw } = manifest;
  const files = [
    "dist",
    ...(bin === undefined ? [] : ["bin", "deploy", "docs"]),
    ...(openclaw === undefined ? [] : [plugin_manifest]),
  ];
  return {
    ...manifest,
    name: manifest.name,
    version: manifest.version,
    ...(doors.length === 0 ? {} : { exports: Object.fromEntries(doors) }),
    ...(openclaw === undefined
      ? {}
      : { openclaw: { ...openclaw, extensions: openclaw.extensions.map((file) => inDist(file, ".js")) } }),
    files,
    publishConfig: { access: "public" },
  };
}

function inDist(file: string, extension: string): string {
  return file.replace(/^\.\/src\//, "./dist/").replace(/\.ts$/, extension);
}

/** The command starts what is built, and brings the guides along: its messages speak of them. */
function prepareCommand(source: string, built: string): void {
  mkdirSync(join(built, "bin"));
  const command = readFileSync(join(source, "bin/handfast.js"), "utf8");
  const door = "../src/main.ts";
  if (!command.includes(door)) throw new Error(`bin/handfast.js does not import ${door}: mend it, or scripts/pack.ts`);
  writeFileSync(join(built, "bin/handfast.js"), command.replace(door, "../dist/main.js"), { mode: 0o755 });
  mkdirSync(join(built, "deploy"));
  for (const unit of ["handfast.service", "handfast@.service"])
    copyFileSync(join(root, "deploy", unit), join(built, "deploy", unit));
  copyGuides(join(built, "docs"));
}

/** What is about the development of Handfast stays behind, and so do links to what is not in the package. */
function copyGuides(target: string): void {
  const trials = ["fuzzing.md", "simulation.md", "testing-the-relay.md"];
  const development = new Set(["dependencies.md", "invariants.md", "performance.md", ...trials]);
  cpSync(join(root, "docs"), target, { recursive: true, filter: (path) => !development.has(basename(path)) });
  for (const name of globSync("*.md", { cwd: target })) {
    const text = readFileSync(join(target, name), "utf8");
    const isHere = (link: string) => /^(#|https?:)/.test(link) || existsSync(join(target, link.replace(/#.*$/, "")));
    const linked = text.replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (all, words, link) => (isHere(link) ? all : words));
    writeFileSync(join(target, name), linked);
  }
}

function compile(built: string): void {
  writeJson(join(built, "tsconfig.json"), {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      stripInternal: true,
      // package.json, which a source may read, lies above src: so it does above dist.
      rootDir: ".",
      outDir: "out",
    },
    include: ["src/**/*.ts"],
  });
  // Writing side by side it loses a file now and then, and says nothing (TypeScript 7.0.2).
  run(execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.json", "--singleThreaded"], built);
  checkCompiled(built);
  renameSync(join(built, "out/src"), join(built, "dist"));
  for (const name of globSync("dist/**/*.d.ts", { cwd: built })) pointToBuilt(join(built, name));
  for (const name of ["out", "src", "tsconfig.json"]) rmSync(join(built, name), { recursive: true, force: true });
}

/** Throws where `out/` lacks what was to be made of `src/`: a package without a file would fail where it is installed. */
export function checkCompiled(built: string): void {
  const sources = globSync("src/**/*.ts", { cwd: built }).filter((name) => !name.endsWith(".d.ts"));
  const due = sources.flatMap((name) => [".js", ".d.ts"].map((extension) => name.replace(/\.ts$/, extension)));
  const missing = due.filter((name) => !existsSync(join(built, "out", name)));
  if (missing.length > 0) throw new Error(`the compiler did not write ${missing.join(", ")} of ${built}`);
}

/**
 * The compiler rewrites extensions in JavaScript only; older ones than ours do not take `.ts` in a declaration. And who
 * has not named the library of `using` still is to understand a declaration that speaks of it.
 */
function pointToBuilt(declaration: string): void {
  const text = readFileSync(declaration, "utf8").replace(/((?:from |import\()"\.{1,2}\/[^"]+)\.ts"/g, '$1.js"');
  const needs = /\basyncDispose\b|\bAsyncDisposable\b/.test(text);
  writeFileSync(declaration, `${needs ? '/// <reference lib="esnext.disposable" />\n' : ""}${text}`);
}

/** For the packages after it this one is now the built one. */
function standIn(stage: string, folder: string, name: string): void {
  const link = join(stage, "node_modules", name);
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(join(stage, basename(folder)), link, "dir");
}

function pack(built: string, target: string, shelf: string): string {
  mkdirSync(join(target, shelf), { recursive: true });
  const told = run("npm", ["pack", "--json", "--pack-destination", join(target, shelf)], built);
  const [packed]: readonly { readonly filename: string }[] = JSON.parse(told);
  if (packed === undefined) throw new Error(`npm pack packed nothing in ${built}`);
  return join(shelf, packed.filename);
}

function run(command: string, words: readonly string[], cwd: string): string {
  try {
    return execFileSync(command, words, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string };
    throw new Error(`${command} ${words.join(" ")} failed in ${cwd}:\n${stdout}${stderr}`);
  }
}

function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

const usage =
  "npm run pack [-- [--no-adapters] FOLDER]\nBuilds every public package and packs it, into dist-packages/ or the folder.\n";

interface Asked {
  readonly help: boolean;
  readonly no_adapters: boolean;
  readonly folder: string | undefined;
}

/** What is asked for; text: why it cannot be done. */
function read(args: readonly string[]): Asked | string {
  try {
    const flag = { type: "boolean", default: false } as const;
    const options = { help: flag, "no-adapters": flag };
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [folder, ...more] = positionals;
    if (more.length > 0) return `One folder at most, not ${positionals.length}.`;
    return { help: values.help, no_adapters: values["no-adapters"], folder };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function main({ help, no_adapters, folder }: Asked): void {
  if (help) return void stdout.write(usage);
  const target = resolve(folder ?? join(root, "dist-packages"));
  // What an earlier version left there would be installed beside this one.
  if (folder === undefined) {
    for (const old of globSync("{,adapters/}*.tgz", { cwd: target })) rmSync(join(target, old));
  }
  const wanted = no_adapters ? folders.filter((each) => dirname(each) !== adapters) : folders;
  for (const name of packAll(target, wanted)) stdout.write(`${join(target, name)}\n`);
}

if (import.meta.main) {
  const asked = read(argv.slice(2));
  if (typeof asked === "string") {
    stderr.write(`${asked}\n${usage}`);
    process.exitCode = 64;
  } else main(asked);
}
