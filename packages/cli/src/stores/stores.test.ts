import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer, type TestServer } from "../../../store-postgres/src/testing/server.ts";
import { Cli } from "../testing/cli.ts";

let server: TestServer;
let cli: Cli;
beforeAll(async () => {
  server = await startServer({ durable: true });
  cli = await Cli.make();
  const relay = cli.spawn(["start", "--port", "0"]);
  const [, url = ""] = await relay.said(/relay (\S+)/);
  writeFileSync(join(cli.folder, "note.txt"), "a file that goes along");
  await cli.run([
    "send",
    "upper",
    "--text",
    "hello",
    "--file",
    "note.txt",
    "--queue-if-absent",
    "--no-wait",
    "--url",
    url,
  ]);
  expect((await cli.run(["export", "early.jsonl"])).stderr).toContain("Stop the relay first");
  await relay.stop();
});
afterAll(async () => {
  await cli.stop();
  await server.stop();
});

describe("handfast export and import", () => {
  it("move a stopped store into PostgreSQL, and say what was moved", async () => {
    const store = server.url(await server.createDatabase());
    const out = await cli.run(["export", "relay.jsonl"]);
    expect(out.stdout).toMatch(/^handoffs +1 +sha256 [0-9a-f]{16}$/m);
    expect(out.stdout).toContain("to relay.jsonl");
    expect(out.stderr).not.toContain("artifact");
    const into = await cli.run(["import", "relay.jsonl", "--store", store]);
    expect(into.stdout.split("\n").slice(0, 5)).toEqual(out.stdout.split("\n").slice(0, 5));
    expect(into.stdout).toContain(`imported relay.jsonl into ${store}`);
    const twice = await cli.run(["import", "relay.jsonl"], { env: { HANDFAST_STORE: store } });
    expect(twice).toMatchObject({ code: 65, stderr: expect.stringContaining("There is a store in") });
    const back = await cli.json(["export", "back.jsonl", "--store", store]);
    expect(back).toMatchObject({ counts: { handoff: 1 }, store, artifacts_left: 1 });
    const told = await cli.run(["export", "told.jsonl", "--store", store]);
    expect(told.stderr).toContain("not in the file: the bytes of 1 artifact, which stay in the database");
  });

  it("say what is wrong", async () => {
    expect(await cli.run(["export", "relay.jsonl"])).toMatchObject({
      code: 73,
      stderr: expect.stringContaining("There is a file of that name already"),
    });
    expect(await cli.run(["export", "x", "--data", "nowhere"])).toMatchObject({
      code: 66,
      stderr: expect.stringMatching(/There is no store in .*--data.*--store/s),
    });
    expect(await cli.run(["export", "no/folder.jsonl"])).toMatchObject({
      code: 73,
      stderr: expect.stringMatching(/There is no folder .*no\.\nMake it/),
    });
    expect(existsSync(join(cli.folder, "nowhere"))).toBe(false);
    expect((await cli.run(["import", "nothing.jsonl", "--data", "new"])).code).toBe(66);
    expect(await cli.run(["import", "home", "--data", "x", "--store", "y"])).toMatchObject({
      code: 64,
      stderr: expect.stringContaining("two stores"),
    });
    expect((await cli.run(["import", "relay.jsonl", "--store", "mysql://h/d"])).code).toBe(64);
    expect((await cli.run(["export", "y", "--store", "postgres://a:secret@127.0.0.1:1/d"])).stderr).not.toContain(
      "secret",
    );
  });
});

describe("handfast migrate", () => {
  it("says what would run, and after each step which versions can use the schema; then runs it", async () => {
    const store = server.url(await server.createDatabase());
    const dry = await cli.run(["migrate", "--dry-run", "--store", store]);
    expect(dry.stdout).toMatch(/^1 +initial +would run +usable by versions that know step 1$/m);
    expect(dry.stdout).toMatch(/would be brought from schema 0 to \d+; nothing was changed/);
    const ran = await cli.run(["migrate", "--store", store]);
    expect(ran.stdout).toMatch(/was brought from schema 0 to/);
    const again = await cli.json(["migrate", "--store", store, "--dry-run"]);
    expect(again["steps"]).toEqual(expect.arrayContaining([expect.objectContaining({ step: 1, applied: true })]));
    expect(again["found"]).toBe(again["known"]);
  });

  it("knows embedded stores too, of this version and of others", async () => {
    expect((await cli.run(["migrate", "--dry-run"])).stdout).toMatch(/has schema \d+, the newest/);
    expect((await cli.run(["migrate", "--data", "nowhere"])).code).toBe(66);
    await cli.run(["import", "relay.jsonl", "--data", "later"]);
    const db = new DatabaseSync(join(cli.folder, "later", "handfast.db"));
    db.exec("PRAGMA user_version = 99");
    db.close();
    for (const words of [["migrate", "--dry-run"], ["migrate"]]) {
      expect(await cli.run([...words, "--data", "later"])).toMatchObject({
        code: 65,
        stderr: expect.stringContaining("The database has schema 99"),
      });
    }
  });

  it("refuses a schema from the future in PostgreSQL, and names one that can still be used", async () => {
    const database = await server.createDatabase();
    const store = server.url(database);
    await cli.run(["migrate", "--store", store]);
    const step = (number: number, oldest: number) =>
      server.ask(database, `INSERT INTO handfast.schema_step VALUES (${number}, 'later-${number}', ${oldest})`);
    await step(98, 1);
    const usable = await cli.run(["migrate", "--dry-run", "--store", store]);
    expect(usable.stdout).toMatch(/^98 +later-98 +is there, of a newer version +usable by versions that know step 1$/m);
    expect(usable.stdout).toContain("and can use it");
    await step(99, 99);
    expect(await cli.run(["migrate", "--dry-run", "--store", store])).toMatchObject({
      code: 65,
      stderr: expect.stringContaining("needs a version of Handfast that knows schema 99"),
    });
  });
});
