/** Bad disks: one that is full, and one whose fsync fails. Nothing that was confirmed is lost, and ends still get through. */

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { Caller } from "./support/caller.ts";
import { Load } from "./support/load.ts";
import { RelayProcess } from "./support/relay-process.ts";

const generous = ["--requests-per-second", "100000", "--request-burst", "100000"];

function mountSmallDisk(megabytes: number): { readonly directory: string; unmount(): void } | null {
  const directory = mkdtempSync(join(tmpdir(), "handfast-disk-"));
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", directory]);
  if (status !== 0) {
    rmSync(directory, { recursive: true });
    return null;
  }
  return {
    directory,
    unmount: () => {
      execFileSync("umount", [directory]);
      rmSync(directory, { recursive: true });
    },
  };
}

test("a disk that fills up: submits get 507 early, and everything that was accepted still ends", async ({ skip }) => {
  const disk = mountSmallDisk(96);
  if (disk === null) return skip("this system allows no tmpfs to be mounted");
  let relay: RelayProcess | null = null;
  try {
    relay = await RelayProcess.start(["--reserve", "40MB", ...generous], join(disk.directory, "data"));
    const sender = await Caller.named(relay.url, "sender");
    const agent = await Caller.named(relay.url, "agent", [{ name: "work" }]);
    const accepted: string[] = [];
    let status = 202;
    while (status === 202 && accepted.length < 1_000) {
      const reply = await sender.post("/v1/handoffs", {
        capability: "work",
        text: "x".repeat(400_000),
        idempotency_key: `${accepted.length}`,
      });
      status = reply.status;
      if (status === 202) accepted.push(String(reply.body["id"]));
    }
    expect(status).toBe(507);
    expect(accepted.length).toBeGreaterThan(10);

    const statuses = new Set<number>();
    for (let open = accepted.length; open > 0; ) {
      const { body } = await agent.post("/v1/claims", { worker: "w", slots: 10, request_id: `claim-${open}` }, 1);
      const leases = body["leases"];
      if (!Array.isArray(leases)) throw new Error(JSON.stringify(body));
      for (const { id, fence } of leases) {
        // Outcomes may be as large as they like while there is room; a small one always fits.
        const complete = (text: string) => agent.post(`/v1/handoffs/${id}/complete`, { fence, worker: "w", text });
        const large = await complete("y".repeat(900_000));
        statuses.add(large.status);
        if (large.status === 507) expect((await complete("done")).status).toBe(200);
        open -= 1;
      }
    }
    expect(statuses).toEqual(new Set([200, 507]));
    for (const id of accepted) {
      const { body } = await sender.get(`/v1/handoffs/${id}`);
      expect(body["state"]).toBe("completed");
    }
    // The disk is as full as it gets; the relay still starts on it.
    await relay.end("SIGKILL");
    await relay.start();
  } finally {
    await relay?.end("SIGKILL");
    disk.unmount();
  }
});

test("an fsync that fails: nobody is told that anything is safe, and nothing confirmed is lost", {
  timeout: 180_000,
}, async ({ skip }) => {
  if (spawnSync("strace", ["-V"]).status !== 0) return skip("strace is not installed");
  const relay = await RelayProcess.start(generous);
  try {
    const load = await Load.start(relay.url);
    for (let round = 0; round < 3; round += 1) {
      await sleep(500);
      const before = load.told.accepted.size;
      const fault = "inject=fsync,fdatasync:error=EIO";
      const tracer = spawn("strace", [
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-p",
        `${relay.pid}`,
        "-e",
        "trace=fsync,fdatasync",
        "-e",
        fault,
      ]);
      const attached = await Promise.race([
        sleep(1_500, true),
        new Promise<false>((resolve) => tracer.once("exit", () => resolve(false))),
      ]);
      if (!attached && relay.isAlive && round === 0) return skip("strace may not attach to a process here");
      const during = load.told.accepted.size;
      await sleep(500);
      // Between the fault taking hold and its end nothing at all was confirmed.
      expect(load.told.accepted.size).toBe(during);
      tracer.kill("SIGTERM");
      if (!relay.isAlive) await relay.start();
      expect(during).toBeGreaterThanOrEqual(before);
    }
    await load.drain();
    await load.check();
    expect(load.told.accepted.size).toBeGreaterThan(20);
  } finally {
    await relay.dispose();
  }
});
