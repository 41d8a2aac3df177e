/** Very many workers that are connected, wait for work and get none: what a relay holds open all night. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@handfast/client";
import type { Address } from "../servers/server.ts";
import type { Driver } from "./driver.ts";
import { at, inTurn } from "./in-turn.ts";
import { checkAnswer, makeKilobyte } from "./kilobyte.ts";

export interface IdleOptions {
  readonly workers: number;
  /** Workers share the keys of so many agents. */
  readonly agents: number;
}

export async function openIdleWorkers({ url = "" }: Address, { workers, agents }: IdleOptions): Promise<Driver> {
  const home = await mkdtemp(join(tmpdir(), "handfast-bench-"));
  const open = (agent: string) =>
    connect({ url, agent, home, transport: "websocket", heartbeats: "here", patience: "60s" });
  const output = makeKilobyte();
  // The first of each agent makes its key and registers it; the others come with it.
  const order = Array.from({ length: workers }, (_, nth) => `worker-${nth % agents}`);
  const clients = await inTurn(workers, (nth) => open(at(order, nth)));
  const servers = await inTurn(workers, (nth) =>
    at(clients, nth).serve({ work: () => output }, { concurrency: 1, signals: false, worker: `w-${nth}` }),
  );
  const sender = await open("sender");
  return {
    /** Shows that they are alive. */
    handoff: async () => {
      const handle = await sender.send("work", makeKilobyte(), { timeout: "60s" });
      checkAnswer(await handle.result(), output);
    },
    close: async () => {
      await Promise.all(servers.map((server) => server.stop()));
      await Promise.all([sender, ...clients].map((client) => client.close()));
      await rm(home, { recursive: true, force: true });
    },
  };
}
