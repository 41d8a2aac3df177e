/**
 * Handoffs with @handfast/client as its users use it, over a WebSocket: a real relay in its own process, a sender and a
 * worker here; `send`, `result` (which takes) and `serve`, 1 KB in and 1 KB out. Signed: each with a key; else tokens.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@handfast/client";
import { Caller } from "../tests/support/caller.ts";
import { RelayProcess } from "../tests/support/relay-process.ts";

const text = "A".repeat(1_000);

export async function openClient(identity: "keys" | "tokens") {
  const relay = await RelayProcess.start(["--log-level", "warn"]);
  const home = await mkdtemp(join(tmpdir(), "handfast-bench-"));
  const open = async (agent: string) =>
    connect({
      url: relay.url,
      agent,
      home,
      ...(identity === "keys" ? {} : { token: (await Caller.named(relay.url, agent)).token }),
    });
  const sender = await open("sender");
  const worker = await open("worker");
  const server = await worker.serve({ work: () => ({ text }) }, { concurrency: 256, signals: false });
  return {
    handoff: async () => {
      const handle = await sender.send("work", { text }, { timeout: "60s" });
      await handle.result();
    },
    close: async () => {
      await server.stop();
      await sender.close();
      await worker.close();
      await relay.dispose();
      await rm(home, { recursive: true, force: true });
    },
  };
}
