import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { accept, sampleBody, sampleHandoff, unit } from "../../engine/src/store.samples.ts";
import { openSqliteStore } from "./mod.ts";

const mountPoint = mkdtempSync(join(tmpdir(), "handfast-full-"));
const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=8m", "none", mountPoint]).status === 0;

afterAll(() => {
  if (mounted) execFileSync("umount", ["--lazy", mountPoint]);
  rmdirSync(mountPoint);
});

test.skipIf(!mounted)(
  "a full disk rejects the commit; with room again nothing acknowledged is lost (needs mount)",
  async () => {
    const ballast = join(mountPoint, "ballast");
    writeFileSync(ballast, Buffer.alloc(4 * 1024 * 1024));
    const store = await openSqliteStore({ directory: join(mountPoint, "store") });
    const payload = new Uint8Array(100_000);
    const acknowledged: string[] = [];
    const submit = async (id: string) => {
      await store.commit([unit(accept(sampleHandoff(id), { bodies: [{ ...sampleBody("handoff", 0), payload }] }))]);
      acknowledged.push(id);
    };
    const fill = async () => {
      for (let n = 0; n < 1_000; n += 1) await submit(`n-${n}`);
    };
    await expect(fill()).rejects.toMatchObject({ fault: "unknown", message: expect.stringMatching(/full|disk/i) });
    expect(acknowledged.length).toBeGreaterThan(0);
    await expect(store.load("default", acknowledged)).rejects.toMatchObject({ fault: "unknown" });

    // What the log holds has to fit into the database first.
    await expect(store.recover()).rejects.toThrow(/full/);
    rmSync(ballast);
    await store.recover();
    const found = await store.load("default", acknowledged);
    expect(found.map((handoff) => handoff?.accepted.id)).toEqual(acknowledged);
    await submit("after");
    expect((await store.space()).free_bytes).toBeLessThan(8 * 1024 * 1024);
    await store.close();
  },
);
