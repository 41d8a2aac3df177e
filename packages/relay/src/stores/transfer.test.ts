/** A stopped relay's store is moved through a file into PostgreSQL, and a relay goes on there where the first one stopped. */

import { createHash } from "node:crypto";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer, type TestServer } from "../../../store-postgres/src/testing/server.ts";
import { RelayProcess } from "../testing/relay-process.ts";
import { TestRelay } from "../testing/test-relay.ts";
import { exportStore, importStore } from "./mod.ts";

let server: TestServer;
let folder: string;
let relay: TestRelay;
let file: string;
const made = { now: new Date(0), by: "a test" };
beforeAll(async () => {
  server = await startServer({ durable: true });
  folder = mkdtempSync(join(tmpdir(), "handfast-transfer-"));
  file = join(folder, "relay.jsonl");
  relay = await TestRelay.start();
});
afterAll(async () => {
  await relay.stop();
  await server.stop();
  rmSync(folder, { recursive: true });
});

const database = async () => server.url(await server.createDatabase());

test("a relay on PostgreSQL goes on with the open handoffs of an embedded one: queued, leased, ended, with artifacts", async () => {
  const alice = await relay.agent("alice");
  const bob = await relay.agent("bob", "upper");
  const bytes = Buffer.alloc(100_000, "large");
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  await relay.call("PUT", `/v1/artifacts/${sha256}`, { token: alice.token, raw: bytes });
  const named = [{ sha256, size: bytes.length, media_type: "application/json" }];
  const ended = await alice.submit({ capability: "upper", text: "first", labels: { team: "blue" } });
  await bob.claim();
  await bob.act(ended, "complete", { fence: 1, output: "FIRST" });
  const leased = await alice.submit({ capability: "upper", text: "second", artifacts: named });
  await bob.claim();
  await bob.act(leased, "ack", { fence: 1 });
  await bob.act(leased, "checkpoint", { fence: 1, state: { at: 3 } });
  const queued = await alice.submit({ capability: "upper", text: "third", idempotency_key: "once" });
  const before = (await alice.get(`/v1/handoffs/${ended}/events`)).body;

  await expect(exportStore(relay.directory, file, made)).rejects.toMatchObject({ fault: "in_use" });
  await relay.pause();
  const told: string[] = [];
  const { artifacts_left, ...out } = await exportStore(relay.directory, file, made, {
    progress: (doing) => told.push(doing),
  });
  expect(out.counts).toMatchObject({ handoff: 3, log: 1 });
  expect(artifacts_left).toBe(0);
  expect(new Set(told)).toEqual(new Set(["reading", "checking"]));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await expect(exportStore(relay.directory, file, made)).rejects.toMatchObject({ code: "EEXIST" });

  const url = await database();
  const into = await importStore(file, url);
  expect(into).toEqual({ ...out, store: url });
  await expect(importStore(file, url)).rejects.toMatchObject({ fault: "not_empty" });

  await relay.resume("--store", url);
  // What was in flight ends under the fence that it had.
  expect((await bob.act(leased, "complete", { fence: 1, output: "SECOND" })).status).toBe(200);
  const lease = await bob.claim();
  expect(lease).toMatchObject({ id: queued, fence: 1 });
  expect((await bob.act(queued, "complete", { fence: 1, output: "THIRD" })).status).toBe(200);
  const states = await Promise.all([ended, leased, queued].map((id) => alice.get(`/v1/handoffs/${id}`)));
  expect(states.map(({ body }) => body.outcome.output)).toEqual(["FIRST", "SECOND", "THIRD"]);
  expect((await alice.get(`/v1/handoffs/${ended}/events`)).body).toEqual(before);
  const again = await alice.post("/v1/handoffs", { capability: "upper", text: "third", idempotency_key: "once" });
  expect(again.body).toMatchObject({ id: queued, repeated: true });
  expect((await bob.get(`/v1/artifacts/${sha256}`)).text).toBe(bytes.toString());
  await relay.pause();

  await expect(importStore(file, relay.directory)).rejects.toMatchObject({ fault: "not_empty" });
  const copy = join(folder, "copy.jsonl");
  const back = await exportStore(url, copy, made);
  // Their bytes are in the database, and the file has none of them.
  expect(back.artifacts_left).toBe(1);
  const embedded = join(folder, "embedded");
  expect(await importStore(copy, embedded)).toMatchObject({ counts: back.counts, sha256: back.sha256 });
  // It is the same relay: whoever pinned its key goes on.
  const alone = new RelayProcess("--port", "0", "--data", embedded);
  try {
    await alone.url();
    const keyOf = (place: string) => readFileSync(join(place, "relay-key.json"), "utf8");
    expect(keyOf(embedded)).toBe(keyOf(relay.directory));
  } finally {
    await alone.stop("SIGKILL");
  }
});

describe("a file that is not whole is refused, and nothing is written", () => {
  const spoilt = async (spoil: (text: string, path: string) => string | undefined) => {
    const path = join(folder, "spoilt.jsonl");
    writeFileSync(path, readFileSync(file));
    const text = spoil(readFileSync(path, "utf8"), path);
    if (text !== undefined) writeFileSync(path, text);
    const url = await database();
    const error = await importStore(path, url).catch((refusal: unknown) => refusal);
    const name = new URL(url).pathname.slice(1);
    expect(await server.ask(name, "SELECT to_regnamespace('handfast') AS made")).toMatchObject([{ made: null }]);
    return error;
  };

  test("cut off, between lines and within one", async () => {
    const lines = await spoilt((text) => `${text.split("\n").slice(0, 5).join("\n")}\n`);
    expect(lines).toMatchObject({ fault: "cut_off", message: expect.stringContaining("Export it again") });
    const within = await spoilt((_, path) => {
      truncateSync(path, statSync(path).size - 20);
      return undefined;
    });
    expect(within).toMatchObject({ fault: "cut_off" });
  });

  test("one digit changed, a line left out, one twice, one added at the end", async () => {
    const changed = await spoilt((text) => text.replace(/"version":1/, '"version":2'));
    expect(changed).toMatchObject({ fault: "damaged" });
    const lines = (text: string) => text.split("\n");
    const without = await spoilt((text) => lines(text).toSpliced(3, 1).join("\n"));
    expect(without).toMatchObject({ fault: "damaged" });
    const twice = await spoilt((text) => {
      const all = lines(text);
      return all.toSpliced(3, 0, all[3] ?? "").join("\n");
    });
    expect(twice).toMatchObject({ fault: "damaged" });
    const more = await spoilt((_, path) => {
      appendFileSync(path, '{"record":{}}\n');
      return undefined;
    });
    expect(more).toMatchObject({ fault: "damaged", message: expect.stringContaining("after its closing line") });
  });

  test("something else altogether, and one of a later format", async () => {
    for (const text of ["", "hello\n", '{"json":1}\n', "\u0000".repeat(1_000)]) {
      expect(await spoilt(() => text)).toMatchObject({ fault: "damaged" });
    }
    const later = await spoilt((text) => text.replace('"handfast_export":1', '"handfast_export":2'));
    expect(later).toMatchObject({ fault: "too_new", message: expect.stringContaining("format 2") });
  });
});

test("a directory without a store, and a database without one, are not made into one by reading them", async () => {
  const path = join(folder, "none.jsonl");
  await expect(exportStore(join(folder, "nowhere"), path, made)).rejects.toMatchObject({ fault: "missing" });
  await expect(exportStore(await database(), path, made)).rejects.toMatchObject({ fault: "missing" });
  expect(statSync(join(folder, "nowhere"), { throwIfNoEntry: false })).toBeUndefined();
});
