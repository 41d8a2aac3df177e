/** The harness with real servers: it can measure at all, and says why where it cannot. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { compare } from "./compare.ts";
import { Unavailable } from "./obtain/unavailable.ts";
import type { RowPlan } from "./plan.ts";
import { ServerProcess } from "./servers/server-process.ts";
import type { SystemName } from "./systems.ts";
import { openWorkspace } from "./workspace.ts";

describe("with real servers", () => {
  const parent = mkdtempSync(join(tmpdir(), "handfast-bench-test-"));
  const workspace = openWorkspace(parent);
  afterAll(() => {
    workspace.close();
    rmSync(parent, { recursive: true, force: true });
  });
  const settings = {
    rounds: 1,
    seconds: 1,
    warm_up_seconds: 0.2,
    steady_seconds: 0.5,
    workspace,
    loaded: () => Promise.reject(new Unavailable("no loaded store in this test")),
    until: { begin_ms: Number.POSITIVE_INFINITY, end_ms: null },
    say: () => {},
  };
  const plan = (system: SystemName, rest: Partial<RowPlan> = {}): RowPlan => ({
    system,
    disk: "as it is",
    store: "empty",
    concurrencies: [8],
    steady_rate: null,
    ...rest,
  });

  test("ours runs for a second, beside the bare store, and a row that cannot is told with its reason", async () => {
    const rows = await compare(
      [plan("ws-unsigned", { steady_rate: 20 }), plan("bare-store"), plan("ws-unsigned", { store: "loaded" })],
      settings,
    );
    const [ours, bare, loaded] = rows;
    expect(ours?.reason).toBeNull();
    expect(ours?.figures[0]?.per_second).toBeGreaterThan(0);
    expect(ours?.figures[0]?.server_cpu_us).toBeGreaterThan(0);
    expect(ours?.steady?.handoffs).toBe(10);
    expect(bare?.figures[0]?.per_second).toBeGreaterThan(0);
    expect(loaded).toMatchObject({ figures: [], reason: "no loaded store in this test" });
  });

  test("a server that does not start is told with what it said", async () => {
    const args = ["-e", "console.error('no such port'); process.exit(3)"];
    const start = ServerProcess.start({ program: process.execPath, args }, { isReady: async () => false });
    await expect(start).rejects.toThrow(/ended with 3: no such port/);
  });
});
