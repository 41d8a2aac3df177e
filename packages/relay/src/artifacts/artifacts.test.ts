import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Engine, realSurroundings, type Store } from "@handfast/engine";
import { openSqliteStore } from "@handfast/store-sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { limits } from "../limits.ts";
import { Artifacts } from "./artifacts.ts";
import { ArtifactFiles } from "./files.ts";

let directory: string;
let store: Store;
let engine: Engine;
let ahead_ms = 0;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "handfast-artifacts-"));
  store = await openSqliteStore({ memory: true });
  const surroundings = realSurroundings();
  ahead_ms = 0;
  engine = new Engine({
    store,
    surroundings: { ...surroundings, now: () => surroundings.now() + ahead_ms },
    others: () => 0,
  });
  await engine.start();
});
afterEach(async () => {
  await engine.stop();
  await store.close();
  await rm(directory, { recursive: true });
});

const caller = { namespace: "default", name: "sender", role: "agent", key: null } as const;
const bytes = Buffer.from("some bytes");
const digest = createHash("sha256").update(bytes).digest("hex");
async function* pieces() {
  yield bytes.subarray(0, 4);
  yield bytes.subarray(4);
}

const open = (reserve_bytes = 0) =>
  Artifacts.open({ namespace: "default", bytes: new ArtifactFiles(directory), engine, store, reserve_bytes });

describe("artifacts that nobody refers to", () => {
  it("are dropped a day after they were put up, not before", async () => {
    const artifacts = await open();
    await artifacts.put(caller, digest, "text/plain", null, pieces());
    ahead_ms = limits.unreferenced_artifact_life_ms - 60_000;
    expect(await artifacts.collect()).toBe(0);
    ahead_ms = limits.unreferenced_artifact_life_ms + 60_000;
    expect(await artifacts.collect()).toBe(1);
    await expect(artifacts.find(caller, digest)).rejects.toMatchObject({ code: 404 });
  });

  it("are kept while a reference to them is on its way", async () => {
    const artifacts = await open();
    await artifacts.put(caller, digest, "text/plain", null, pieces());
    ahead_ms = limits.unreferenced_artifact_life_ms + 60_000;
    await artifacts.checkReferences(caller, [{ sha256: digest, size: bytes.length, media_type: "text/plain" }]);
    expect(await artifacts.collect()).toBe(0);
  });

  it("are not taken when the disk is nearly full", async () => {
    const artifacts = await open(Number.MAX_SAFE_INTEGER);
    const put = artifacts.put(caller, digest, "text/plain", null, pieces());
    await expect(put).rejects.toMatchObject({ code: 507, reason: "out_of_space" });
  });

  it("are not taken above the limit", async () => {
    const artifacts = await open();
    const put = artifacts.put(caller, digest, "text/plain", limits.artifact_bytes + 1, pieces());
    await expect(put).rejects.toMatchObject({ code: 413 });
  });
});
