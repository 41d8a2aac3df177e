/** Every kind of driver by its name: what the process that measures is told to open. */

import type { Address } from "../servers/server.ts";
import { openBareStore } from "./bare-store.ts";
import { openBullMq } from "./bullmq.ts";
import type { Driver } from "./driver.ts";
import { openEngine } from "./engine.ts";
import { openGraphileWorker } from "./graphile-worker.ts";
import { type HandfastOptions, openHandfast } from "./handfast.ts";
import { type IdleOptions, openIdleWorkers } from "./idle-workers.ts";
import { openJetStream } from "./jetstream.ts";
import { openPgBoss, openPgBossNotify } from "./pg-boss.ts";
import { openRestate } from "./restate.ts";

const plain = {
  "bare-store": openBareStore,
  engine: openEngine,
  bullmq: openBullMq,
  "pg-boss": openPgBoss,
  "pg-boss-notify": openPgBossNotify,
  "graphile-worker": openGraphileWorker,
  jetstream: openJetStream,
  restate: openRestate,
} as const;

export type DriverKind =
  | { readonly name: keyof typeof plain }
  | ({ readonly name: "handfast" } & HandfastOptions)
  | ({ readonly name: "idle" } & IdleOptions);

export function openDriver(kind: DriverKind, address: Address): Promise<Driver> {
  if (kind.name === "handfast") return openHandfast(address, kind);
  if (kind.name === "idle") return openIdleWorkers(address, kind);
  return plain[kind.name](address);
}
