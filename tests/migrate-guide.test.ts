/** What docs/migrate.md tells a reader to type is typed here, each part in a folder of its own. */

import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { env, execPath } from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer } from "../packages/store-postgres/src/testing/server.ts";
import { type Bullmq, startBullmq } from "./support/bullmq.ts";
import { onFreePorts } from "./support/free-ports.ts";
import { differences, follow, guideIn } from "./support/guide.ts";
import { makeProject, typeFaults } from "./support/project.ts";

const root = join(import.meta.dirname, "..");
const parts = new Map(
  readFileSync(join(root, "docs/migrate.md"), "utf8")
    .split(/^## /m)
    .slice(1)
    .map((part) => [part.slice(0, part.indexOf("\n")), part]),
);

let folder: string;
let server: TestServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "handfast-migrate-"));
  server = await startServer({ durable: true });
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

async function walk(
  part: string,
  more: Readonly<Record<string, string>> = {},
  installed: Readonly<Record<string, string>> = {},
  npx: "quick" | "real" = "quick",
): Promise<void> {
  const guide = guideIn(parts.get(part) ?? "");
  const typed = guide.blocks.flatMap(({ language, text }) => (language === "sh" ? [text] : [])).join("\n");
  expect(guide.files.filter((file) => !typed.includes(`node ${file.name}`))).toEqual([]);
  const place = join(folder, part.replaceAll(" ", "-"));
  makeProject(place, { postgres: join(root, "node_modules/postgres"), ...installed });
  if (npx === "real") await rm(join(place, "node_modules/.bin/npx"));
  const path = `${join(place, "node_modules/.bin")}:${dirname(execPath)}:${env["PATH"]}`;
  const free = await onFreePorts(guide);
  const told = await follow(free.guide, place, { PATH: path, HOME: place, NO_COLOR: "1", ...free.env, ...more });
  expect(told.length).toBeGreaterThan(2);
  if (guide.files.length > 0) expect(typeFaults(place)).toBe("");
  expect(told.flatMap((each) => differences({ ...each, printed: free.shown(each.printed) }))).toEqual([]);
}

test("every part is tried", () => {
  const tried = ["From a jobs table", "From BullMQ", "From an HTTP call", "From a file to PostgreSQL"];
  expect([...parts.keys()]).toEqual(tried);
});

test("from a jobs table, also where the owner is called as the relay's schema", { timeout: 240_000 }, async () => {
  const database = await server.createDatabase();
  await server.ask("postgres", `CREATE ROLE handfast LOGIN CREATEROLE; ALTER DATABASE ${database} OWNER TO handfast`);
  const as = (role: string) => server.url(database).replace("postgres@", `${role}@`);
  await walk("From a jobs table", { DATABASE_URL: as("handfast"), APP_DATABASE_URL: as("app") });
});

test("from BullMQ", { timeout: 600_000 }, async ({ skip }) => {
  const directory = join(folder, "redis");
  await mkdir(directory);
  const bullmq: Bullmq | Error = await startBullmq(directory).catch((error: Error) => error);
  if (bullmq instanceof Error) return skip(`BullMQ and Redis cannot be had here: ${bullmq.message}`);
  try {
    await walk("From BullMQ", { REDIS_PORT: String(bullmq.redis_port) }, { bullmq: bullmq.folder });
  } finally {
    await bullmq.stop();
  }
});

test("from an HTTP call", { timeout: 240_000 }, () => walk("From an HTTP call"));

test("from a file to PostgreSQL, with the npx of npm", { timeout: 240_000 }, async () => {
  const url = server.url(await server.createDatabase());
  await walk("From a file to PostgreSQL", { DATABASE_URL: url }, {}, "real");
});
