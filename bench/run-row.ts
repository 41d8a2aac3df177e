/** One round of one row: a fresh server and a fresh driver, warmed up, measured at each concurrency, and thrown away. */

import { type Disk, plainDisk } from "./disk/disk.ts";
import { openSlowDisk, slow_sync_ms } from "./disk/slow-disk.ts";
import { DriverProcess } from "./drive/driver-process.ts";
import { installPackages, packageVersion } from "./obtain/npm-packages.ts";
import type { Say } from "./obtain/say.ts";
import { Unavailable } from "./obtain/unavailable.ts";
import type { RowPlan } from "./plan.ts";
import type { RoundFigure, RowRound } from "./row.ts";
import type { Server } from "./servers/server.ts";
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
  readonly say: Say;
}

export interface LoadedStore {
  readonly directory: string;
  /** So many queued, and so many finished. */
  readonly handoffs: number;
}

export async function runRow(plan: RowPlan, settings: RowSettings): Promise<RowRound> {
  const { workspace, say } = settings;
  const system: System = systems[plan.system];
  const directory = workspace.folder(plan.system);
  const [data, besides] = [workspace.folder(`${plan.system}-data`), workspace.folder(`${plan.system}-tmp`)];
  let server: Server | null = null;
  let driver: DriverProcess | null = null;
  try {
    if (system.packages !== undefined) await installPackages(say);
    const disk = plan.disk === "slow" ? await openSlowDisk(directory) : plainDisk;
    const loaded = plan.store === "loaded" ? await settings.loaded() : null;
    const place = loaded?.directory ?? data;
    server = (await system.start?.({ directory: place, disk, say })) ?? null;
    driver = await DriverProcess.open(system.driver, server?.address ?? { directory: place }, {
      disk: server === null ? disk : plainDisk,
      temporary: besides,
    });
    await driver.atOnce(Math.max(...plan.concurrencies), settings.warm_up_seconds);
    await new Promise((resolve) => setTimeout(resolve, settle_ms));
    const figures = new Map<number, RoundFigure>();
    for (const concurrency of plan.concurrencies) {
      figures.set(concurrency, await measure(driver, server, disk, concurrency, settings.seconds));
    }
    const { steady_rate } = plan;
    const steady = steady_rate === null ? null : await driver.steadily(steady_rate, settings.steady_seconds);
    return { about: aboutOf(system, server, loaded), figures, steady };
  } finally {
    // Its figures are in, and what it connected to goes too.
    driver?.kill();
    await server?.stop();
    for (const path of [directory, data, besides]) workspace.remove(path);
  }
}

function aboutOf({ packages = [] }: System, server: Server | null, loaded: LoadedStore | null): string | null {
  const many = loaded?.handoffs.toLocaleString("en");
  const held = loaded === null ? [] : [`its store held ${many} queued and ${many} finished handoffs`];
  const parts = [...packages.map(packageVersion), ...(server === null ? [] : [server.about]), ...held];
  return parts.length === 0 ? null : parts.join("; ");
}

async function measure(
  driver: DriverProcess,
  server: Server | null,
  disk: Disk,
  concurrency: number,
  seconds: number,
): Promise<RoundFigure> {
  const [cpu_before, syncs_before] = [server?.usage()?.cpu_ms, disk.syncs()];
  const { handoffs, per_second, p50_ms, p99_ms, cpu_us } = await driver.atOnce(concurrency, seconds);
  const [cpu_after, syncs_after] = [server?.usage()?.cpu_ms, disk.syncs()];
  const syncs = syncs_before === null || syncs_after === null ? null : syncs_after - syncs_before;
  if (syncs === 0) throw new Unavailable(`the ${slow_sync_ms} ms did not take hold: it made no sync while measured`);
  return {
    per_second,
    p50_ms,
    p99_ms,
    driver_cpu_us: cpu_us,
    server_cpu_us:
      cpu_before === undefined || cpu_after === undefined
        ? null
        : Math.round(((cpu_after - cpu_before) * 1_000) / handoffs),
    syncs_per_handoff: syncs === null ? null : Number((syncs / handoffs).toFixed(3)),
  };
}
