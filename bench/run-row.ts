/** One round of one row: a fresh server and a fresh driver, warmed up, measured at each concurrency, and thrown away. */

import { type Disk, plainDisk } from "./disk/disk.ts";
import { openSlowDisk, slow_sync_ms } from "./disk/slow-disk.ts";
import { DriverProcess } from "./drive/driver-process.ts";
import { installPackages, packageVersion } from "./obtain/npm-packages.ts";
import type { Say } from "./obtain/say.ts";
import { Unavailable } from "./obtain/unavailable.ts";
import type { RowPlan } from "./plan.ts";
import type { RoundFigure, RowRound } from "./row.ts";
import type { Usage } from "./servers/process-tree.ts";
import type { Database, Server } from "./servers/server.ts";
import { type System, systems } from "./systems.ts";
import type { Workspace } from "./workspace.ts";

/** What the warming up left to do behind the answers is not for the first figure to pay. */
const settle_ms = 300;

export interface RowSettings {
  readonly seconds: number;
  readonly warm_up_seconds: number;
  readonly steady_seconds: number;
  readonly workspace: Workspace;
  /** The store that `loaded` rows run on. */
  readonly loaded: () => Promise<LoadedStore>;
  /** Lends every row a database of a server that all of them share; absent: each has a server of its own. */
  readonly lend?: (plan: RowPlan) => Promise<Lent>;
  readonly say: Say;
}

export interface LoadedStore {
  readonly directory: string;
  /** So many queued, and so many finished. */
  readonly handoffs: number;
}

export interface Lent {
  readonly database: Database;
  close(): Promise<void>;
}

export async function runRow(plan: RowPlan, settings: RowSettings): Promise<RowRound> {
  const { workspace, say } = settings;
  const system: System = systems[plan.system];
  const directory = workspace.folder(plan.system);
  const [data, besides] = [workspace.folder(`${plan.system}-data`), workspace.folder(`${plan.system}-tmp`)];
  let server: Server | null = null;
  let driver: DriverProcess | null = null;
  let lent: Lent | null = null;
  try {
    if (system.packages !== undefined) await installPackages(say);
    const disk = plan.disk === "slow" ? await openSlowDisk(directory) : plainDisk;
    lent = (await settings.lend?.(plan)) ?? null;
    const loaded = plan.store === "loaded" && lent === null ? await settings.loaded() : null;
    const place = loaded?.directory ?? data;
    const database = lent === null ? {} : { database: lent.database };
    server = (await system.start?.({ directory: place, disk, say, ...database })) ?? null;
    driver = await DriverProcess.open(system.driver, server?.address ?? { directory: place }, {
      disk: server === null ? disk : plainDisk,
      temporary: besides,
    });
    await driver.atOnce(Math.max(...plan.concurrencies), settings.warm_up_seconds);
    await new Promise((resolve) => setTimeout(resolve, settle_ms));
    const figures = new Map<number, RoundFigure>();
    for (const concurrency of plan.concurrencies) {
      const seconds = settings.seconds * (plan.times ?? 1);
      const measured = { driver, server, disk, database: lent?.database ?? null };
      figures.set(concurrency, await measure(measured, concurrency, seconds));
    }
    const { steady_rate } = plan;
    const steady = steady_rate === null ? null : await driver.steadily(steady_rate, settings.steady_seconds);
    return { about: aboutOf(system, server, loaded), figures, steady };
  } finally {
    // Its figures are in, and what it connected to goes too.
    driver?.kill();
    await server?.stop();
    await lent?.close();
    for (const path of [directory, data, besides]) workspace.remove(path);
  }
}

function aboutOf({ packages = [] }: System, server: Server | null, loaded: LoadedStore | null): string | null {
  const many = loaded?.handoffs.toLocaleString("en");
  const held = loaded === null ? [] : [`its store held ${many} queued and ${many} finished handoffs`];
  const parts = [...packages.map(packageVersion), ...(server === null ? [] : [server.about]), ...held];
  return parts.length === 0 ? null : parts.join("; ");
}

interface Measured {
  readonly driver: DriverProcess;
  readonly server: Server | null;
  readonly disk: Disk;
  readonly database: Database | null;
}

async function measure(
  { driver, server, disk, database }: Measured,
  concurrency: number,
  seconds: number,
): Promise<RoundFigure> {
  const [before, syncs_before] = [[server?.usage(), database?.usage()], disk.syncs()];
  const { handoffs, per_second, p50_ms, p99_ms, cpu_us } = await driver.atOnce(concurrency, seconds);
  const [after, syncs_after] = [[server?.usage(), database?.usage()], disk.syncs()];
  const syncs = syncs_before === null || syncs_after === null ? null : syncs_after - syncs_before;
  if (syncs === 0) throw new Unavailable(`the ${slow_sync_ms} ms did not take hold: it made no sync while measured`);
  const [server_cpu_us = null, database_cpu_us = null] = after.map((usage, nth) =>
    cpuOfEach(before[nth], usage, handoffs),
  );
  return {
    per_second,
    p50_ms,
    p99_ms,
    driver_cpu_us: cpu_us,
    server_cpu_us,
    database_cpu_us,
    syncs_per_handoff: syncs === null ? null : Number((syncs / handoffs).toFixed(3)),
  };
}

function cpuOfEach(before: Usage | null | undefined, after: Usage | null | undefined, handoffs: number): number | null {
  if (before == null || after == null) return null;
  return Math.round(((after.cpu_ms - before.cpu_ms) * 1_000) / handoffs);
}
