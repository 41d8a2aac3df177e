/** 5,000 idle connected workers: what the relay's process holds in memory and burns for them. */

import { plainDisk } from "../disk/disk.ts";
import { DriverProcess } from "../drive/driver-process.ts";
import type { Say } from "../obtain/say.ts";
import { median } from "../row.ts";
import { startRelay } from "../servers/relay.ts";
import type { Workspace } from "../workspace.ts";

export interface Idle {
  readonly workers: number;
  readonly agents: number;
  readonly seconds: number;
  readonly rss_before_mb: number;
  /** Over the time watched. */
  readonly rss_mb: number;
  readonly rss_most_mb: number;
  /** Of one core. */
  readonly cpu_percent: number;
  /** One handoff to one of them, afterwards. */
  readonly handoff_ms: number;
  readonly goals: { readonly rss_mb: number; readonly cpu_percent: number };
}

export interface IdleSettings {
  readonly workspace: Workspace;
  readonly say: Say;
  readonly workers?: number;
  readonly seconds?: number;
}

const goals = { rss_mb: 400, cpu_percent: 3 };
/** Workers share an agent's key; an agent may have at most 1,000 connections. */
const workers_per_agent = 50;
const connect_within_ms = 600_000;
/** What connecting left to do, garbage above all, is not what idling costs. */
const settle_ms = 15_000;

export async function measureIdle({ workspace, say, workers = 5_000, seconds = 60 }: IdleSettings): Promise<Idle> {
  const [directory, temporary] = [workspace.folder("idle"), workspace.folder("idle-tmp")];
  const relay = await startRelay({ directory, disk: plainDisk, say });
  const agents = Math.ceil(workers / workers_per_agent);
  let driver: DriverProcess | null = null;
  try {
    const rss_before_mb = megabytes(usage(relay).rss_bytes);
    say(`idle: connecting ${workers} workers of ${agents} agents …`);
    const kind = { name: "idle", workers, agents } as const;
    driver = await DriverProcess.open(kind, relay.address, {
      disk: plainDisk,
      temporary,
      open_within_ms: connect_within_ms,
    });
    await pause(settle_ms);
    say(`idle: watching the relay for ${seconds} s …`);
    const before = usage(relay);
    const began = performance.now();
    const rss: number[] = [];
    while (performance.now() - began < seconds * 1_000) {
      await pause(1_000);
      rss.push(megabytes(usage(relay).rss_bytes));
    }
    const elapsed_ms = performance.now() - began;
    const cpu_percent = round(((usage(relay).cpu_ms - before.cpu_ms) / elapsed_ms) * 100);
    const { p50_ms: handoff_ms } = await driver.atOnce(1, 0.01);
    const rss_most_mb = Math.max(...rss);
    return {
      workers,
      agents,
      seconds,
      rss_before_mb,
      rss_mb: median(rss),
      rss_most_mb,
      cpu_percent,
      handoff_ms,
      goals,
    };
  } finally {
    driver?.kill();
    await relay.stop();
    for (const path of [directory, temporary]) workspace.remove(path);
  }
}

export function idleLines(idle: Idle): string {
  const { workers, agents, seconds, rss_before_mb, rss_mb, rss_most_mb, cpu_percent, handoff_ms } = idle;
  return [
    `${workers} idle connected workers of ${agents} agents, watched for ${seconds} s:`,
    `  relay's memory (RSS) ${rss_mb} MB, at most ${rss_most_mb} MB, before ${rss_before_mb} MB (goal: under ${goals.rss_mb} MB)`,
    `  relay's CPU ${cpu_percent} % of a core (goal: under ${goals.cpu_percent} %)`,
    `  a handoff to one of them afterwards: ${handoff_ms} ms`,
  ].join("\n");
}

function usage(relay: Awaited<ReturnType<typeof startRelay>>): { readonly rss_bytes: number; readonly cpu_ms: number } {
  const found = relay.usage();
  if (found === null) throw new Error("this system does not tell what a process uses (there is no /proc)");
  return found;
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}

function round(value: number): number {
  return Number(value.toFixed(2));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
