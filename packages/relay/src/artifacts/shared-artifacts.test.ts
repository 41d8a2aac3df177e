/** Artifacts of several nodes on one store: put up at one, read at another, collected by any, and by none too early. */

import { createHash, randomBytes } from "node:crypto";
import { Engine, realSurroundings, type Store } from "@handfast/engine";
import { openPostgresStore } from "@handfast/store-postgres";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { startServer, type TestServer } from "../../../store-postgres/src/testing/server.ts";
import { limits } from "../limits.ts";
import { Artifacts } from "./artifacts.ts";
import { SharedArtifacts } from "./shared-artifacts.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

interface Place {
  readonly store: Store;
  readonly engine: Engine;
  readonly bytes: SharedArtifacts;
  readonly artifacts: Artifacts;
}

let ahead_ms: number;
let here: Place;
let there: Place;

async function open(url: string): Promise<Place> {
  const store = await openPostgresStore(url, { may_lose: true, shared: true });
  if (store.sharing === undefined) throw new Error("not shared");
  const engine = new Engine({ store, surroundings: realSurroundings(), others: () => 0 });
  await engine.start();
  const now = () => engine.now() + ahead_ms;
  const bytes = new SharedArtifacts({ bytes: store.sharing.bytes("default"), now, space: () => store.space() });
  const putRecords = engine.putRecords.bind(engine);
  const artifacts = await Artifacts.open({
    namespace: "default",
    bytes,
    engine: { now, putRecords },
    store,
    reserve_bytes: 0,
  });
  return { store, engine, bytes, artifacts };
}

beforeEach(async () => {
  ahead_ms = 0;
  const url = server.url(await server.createDatabase());
  here = await open(url);
  there = await open(url);
});
afterEach(async () => {
  for (const { engine, store } of [here, there]) {
    await engine.stop();
    await store.close();
  }
});

const caller = { namespace: "default", name: "sender", role: "agent", key: null } as const;
const day_ms = limits.unreferenced_artifact_life_ms;
const minute_ms = 60_000;
const large = randomBytes(700_001);
const digest = createHash("sha256").update(large).digest("hex");

/** In pieces as a network would cut them. */
async function* pieces() {
  for (let at = 0; at < large.length; at += 60_000) yield large.subarray(at, at + 60_000);
}
const put = ({ artifacts }: Place) => artifacts.put(caller, digest, "application/x", large.length, pieces());
const reference = { sha256: digest, size: large.length, media_type: "application/x" };

async function read({ artifacts }: Place, start: number, end: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of artifacts.read(digest, start, end)) parts.push(part);
  return Buffer.concat(parts);
}

it("is put up at one node and read at the other, whole or in part", async () => {
  expect(await put(here)).toEqual({ size: large.length, created: true });
  expect(await there.artifacts.find(caller, digest)).toEqual({ size: large.length, media_type: "application/x" });
  expect((await read(there, 0, large.length - 1)).equals(large)).toBe(true);
  for (const [start, end] of [
    [0, 0],
    [262_143, 262_144],
    [300_000, 600_000],
    [700_000, 700_000],
  ] as const) {
    expect((await read(there, start, end)).equals(large.subarray(start, end + 1))).toBe(true);
  }
  expect(await put(there)).toEqual({ size: large.length, created: false });
});

it("that is not what its digest says leaves nothing", async () => {
  const other = "0".repeat(64);
  await expect(here.artifacts.put(caller, other, "application/x", null, pieces())).rejects.toMatchObject({ code: 422 });
  expect([await there.bytes.size(other), await there.bytes.size(digest)]).toEqual([null, null]);
});

it("is collected a day after it was put up, by one node of all", async () => {
  await put(here);
  ahead_ms = day_ms - minute_ms;
  expect(await there.artifacts.collect()).toBe(0);
  ahead_ms = day_ms + minute_ms;
  const dropped = await Promise.all([here.artifacts.collect(), there.artifacts.collect()]);
  expect(dropped[0] + dropped[1]).toBe(1);
  await expect(here.artifacts.find(caller, digest)).rejects.toMatchObject({ code: 404 });
  expect(await here.bytes.size(digest)).toBeNull();
});

it("is kept by every node while a reference to it is on its way through one", async () => {
  await put(here);
  ahead_ms = day_ms + minute_ms;
  await here.artifacts.checkReferences(caller, [reference]);
  expect(await there.artifacts.collect()).toBe(0);
  expect((await read(there, 0, 9)).equals(large.subarray(0, 10))).toBe(true);
});

it("is there when it is put up again while another node collects it", async () => {
  for (let round = 0; round < 5; round += 1) {
    await put(here);
    ahead_ms += day_ms + minute_ms;
    await Promise.all([put(here), there.artifacts.collect()]);
    expect(await there.artifacts.find(caller, digest)).toMatchObject({ size: large.length });
    expect((await read(there, 0, large.length - 1)).equals(large)).toBe(true);
  }
});
