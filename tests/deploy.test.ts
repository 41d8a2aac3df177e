/**
 * What deploy/ has for several nodes, started as it says: the environment and the commands of the compose file and of the unit, against a
 * real PostgreSQL. Neither a container runtime nor systemd runs here: what those two do themselves is not tried.
 */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env, execPath } from "node:process";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { startServer, type TestServer } from "../packages/store-postgres/src/testing/server.ts";
import { freePort } from "./support/relay-process.ts";

const root = join(import.meta.dirname, "..");
const bin = join(root, "packages/cli/bin/handfast.js");
let server: TestServer;
let folder: string;
const started: ChildProcess[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "handfast-deploy-"));
  server = await startServer({ durable: true });
  await server.ask("postgres", "CREATE ROLE handfast SUPERUSER LOGIN PASSWORD 'secret'");
});
afterEach(async () => {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGTERM");
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
  }
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Resolves with what it printed once it listens. */
async function start(
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
  cwd: string,
): Promise<string> {
  const child = spawn(execPath, [...words], { cwd, env: { PATH: env["PATH"], ...environment } });
  started.push(child);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      said += String(chunk);
    });
  }
  while (!said.includes("next:")) {
    await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${said}`);
  }
  return said;
}

/** The nodes are one relay: the operator's token of the first makes an agent there, whom the others know. */
async function expectOneRelay(urls: readonly string[], data: readonly string[]): Promise<void> {
  const operators = data.map((place) => readFileSync(join(place, "operator-token"), "utf8").trim());
  expect(new Set(operators).size).toBe(1);
  for (const [nth, url] of urls.entries()) {
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const made = await fetch(`${url}/v1/tokens`, {
      method: "POST",
      headers: { authorization: `Bearer ${operators[0]}`, "content-type": "application/json" },
      body: JSON.stringify({ agent: `agent-${nth}` }),
    });
    expect(made.status).toBe(201);
    const { token }: { token: string } = JSON.parse(await made.text());
    for (const other of urls) {
      const seen = await fetch(`${other}/v1/agents/agent-${nth}`, { headers: { authorization: `Bearer ${token}` } });
      expect(seen.status).toBe(200);
    }
  }
}

interface Service {
  readonly environment: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly tmpfs?: readonly string[];
  readonly ports?: readonly string[];
  readonly read_only?: boolean;
}

test("the relays of compose.cluster.yaml start with the environment that it gives them, and are one relay", async () => {
  const text = readFileSync(join(root, "deploy/compose.cluster.yaml"), "utf8");
  const { services }: { services: Record<string, Service> } = parse(text, { merge: true });
  const { database, ...relays } = services;
  expect(Object.keys(relays)).toEqual(["relay-1", "relay-2", "relay-3"]);
  expect(database?.environment["POSTGRES_USER"]).toBe("handfast");
  // The image makes a database of the user's name.
  await server.ask("postgres", "CREATE DATABASE handfast OWNER handfast");
  const dockerfile = readFileSync(join(root, "deploy/Dockerfile"), "utf8");
  const image = Object.fromEntries(
    (/^ENV (.+)$/m.exec(dockerfile)?.[1] ?? "").split(" ").map((setting) => setting.split("=") as [string, string]),
  );
  expect(dockerfile).toContain('CMD ["start"]');
  const urls: string[] = [];
  const data: string[] = [];
  for (const [name, { environment, depends_on, tmpfs, ports, read_only }] of Object.entries(relays)) {
    expect([depends_on?.["database"]?.condition, read_only]).toEqual(["service_healthy", true]);
    // Where it keeps its data is the one place, besides /tmp, that it may write to.
    expect(tmpfs).toContain(`${image["HANDFAST_DATA"]}:mode=0700,uid=1000,gid=1000`);
    expect(ports?.[0]?.split(":").at(-1)).toBe(image["HANDFAST_PORT"]);
    const port = await freePort();
    const place = join(folder, name);
    mkdirSync(place);
    const here = {
      HANDFAST_PORT: String(port),
      HANDFAST_DATA: place,
      HANDFAST_HOST: "127.0.0.1",
      HANDFAST_PRODUCTION: "true",
    };
    const given = Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, filledIn(value)]));
    expect(given["HANDFAST_STORE"]).toContain("@127.0.0.1:");
    const said = await start([bin, "start"], { ...image, ...given, ...here }, place);
    expect(said).toContain("relay http://localhost:7421");
    urls.push(`http://127.0.0.1:${port}`);
    data.push(place);
  }
  await expectOneRelay(urls, data);
}, 300_000);

/** As compose does it; and the name of the database's service is this machine here. */
function filledIn(value: string): string {
  return value
    .replace(/\$\{POSTGRES_PASSWORD:\?[^}]*\}/, "secret")
    .replace(/\$\{\w+:-([^}]*)\}/, "$1")
    .replace("@database/", `@127.0.0.1:${server.port}/`);
}

test("two of handfast@.service start with the command and the environment that it gives them, and are one relay", async () => {
  const unit = readFileSync(join(root, "deploy/handfast@.service"), "utf8");
  const [, node, program, rest = ""] = /^ExecStart=(\S+) (\S+) (.+)$/m.exec(unit) ?? [];
  expect([node, program]).toEqual(["/usr/bin/node", "/opt/handfast/node_modules/handfast/bin/handfast.js"]);
  const database = await server.createDatabase();
  const ports = [String(await freePort()), String(await freePort())];
  const data: string[] = [];
  for (const port of ports) {
    const filled = (text: string) => text.replaceAll("%i", port).replaceAll("/var/lib", join(folder, "lib"));
    const [, settings = ""] = /^Environment=(.+)$/m.exec(unit) ?? [];
    const environment = Object.fromEntries(
      filled(settings)
        .split(" ")
        .map((each) => each.split("=") as [string, string]),
    );
    const [, state] = /^StateDirectory=(.+)$/m.exec(filled(unit)) ?? [];
    expect(environment["HANDFAST_DATA"]).toBe(join(folder, "lib", state ?? ""));
    mkdirSync(environment["HANDFAST_DATA"] ?? "", { recursive: true });
    // From /etc/handfast/environment.
    const public_urls = ports.map((each) => `http://127.0.0.1:${each}`).join(",");
    const own = { HANDFAST_STORE: server.url(database), HANDFAST_PUBLIC_URLS: public_urls };
    expect(await start([bin, ...filled(rest).split(" ")], { ...environment, ...own }, folder)).toContain("production");
    data.push(environment["HANDFAST_DATA"] ?? "");
  }
  await expectOneRelay(
    ports.map((port) => `http://127.0.0.1:${port}`),
    data,
  );
}, 300_000);

const analyze = "/usr/bin/systemd-analyze";
test.runIf(existsSync(analyze))("systemd finds no fault with handfast@.service", () => {
  const unit = readFileSync(join(root, "deploy/handfast@.service"), "utf8");
  const here = join(folder, "handfast@7421.service");
  writeFileSync(here, unit.replace("/usr/bin/node", execPath).replace(/\/opt\/handfast\/\S+handfast\.js/, bin));
  const { stdout, stderr } = spawnSync(analyze, ["verify", here], { encoding: "utf8" });
  const said = `${stdout}${stderr}`.split("\n");
  expect(said.filter((line) => line.includes("handfast@") && !line.includes("operations.md"))).toEqual([]);
});

test.each(["handfast.service", "handfast@.service"])("%s is started again however often that has failed", (name) => {
  const [, section = ""] = /^\[Unit\]$(.*?)^\[/ms.exec(readFileSync(join(root, "deploy", name), "utf8")) ?? [];
  expect(section).toMatch(/^StartLimitIntervalSec=0$/m);
});
