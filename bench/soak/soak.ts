/**
 * `npm run bench -- soak`: a relay at half of its top rate for half an hour. Memory must stay flat, its event loop free,
 * its write-ahead log short, and nothing may be left behind. Handoffs are dropped soon after they were taken, so that
 * retention works as hard as everything else.
 */

import { statSync } from "node:fs";
import { join } from "node:path";
import { plainDisk } from "../disk/disk.ts";
import { DriverProcess } from "../drive/driver-process.ts";
import { Inspector, inspectable } from "../inspector.ts";
import type { SteadyFigure } from "../measure.ts";
import type { Say } from "../obtain/say.ts";
import { columns } from "../report/table.ts";
import { type RelayServer, startRelay } from "../servers/relay.ts";
import type { Workspace } from "../workspace.ts";
import { readMetrics } from "./metrics.ts";
import { type RelayState, relayState, type Watched } from "./relay-state.ts";
import { watchStolen } from "./stolen.ts";
import { type Bound, judge, type Sample, type Soaked } from "./verdict.ts";

export interface SoakSettings {
  readonly workspace: Workspace;
  readonly say: Say;
  readonly minutes?: number;
  /** Default: half of what is measured first. */
  readonly rate?: number;
}

export interface Soak extends Soaked {
  readonly top_rate: number | null;
  readonly bounds: readonly Bound[];
}

const kind = { name: "handfast", transport: "websocket", identity: "keys", pairs: 1 } as const;
const warm_up_seconds = 5;
const top_seconds = 10;
const at_once = 256;
const keep_taken = "30s";
/** After the load: what was taken last is dropped after `keep_taken`, at the pace of retention. */
const drain_within_ms = 300_000;
const look_every_ms = 1_000;
const sample_seconds = { least: 5, most: 60 };
const samples_wanted = 30;
/** One slow sample is counted and the soak goes on; after so many it is of no use. */
const behind_in_a_row = 3;

const startWatch = `globalThis.soakDelay = process.getBuiltinModule("node:perf_hooks").monitorEventLoopDelay({ resolution: 10 });
globalThis.soakDelay.enable();`;
const readWatch = "globalThis.soakDelay.percentile(99) / 1e6";

export async function soak({ workspace, say, minutes = 30, rate: asked }: SoakSettings): Promise<Soak> {
  const [directory, temporary] = [workspace.folder("soak"), workspace.folder("soak-tmp")];
  const { port, node_args } = await inspectable();
  const more = ["--keep-taken", keep_taken, "--keep-events", keep_taken];
  const relay = await startRelay({ directory, disk: plainDisk, say, node_args, more });
  const inspector = await Inspector.attach(port);
  const watched = { url: relay.url, pid: relay.pid, inspector, rssBytes: () => rssOf(relay) };
  const connected = async <T>(act: (driver: DriverProcess) => Promise<T>): Promise<T> => {
    const driver = await DriverProcess.open(kind, relay.address, { disk: plainDisk, temporary });
    try {
      return await act(driver);
    } finally {
      await driver.close();
    }
  };
  try {
    const top_rate = await connected((driver) => topRate(driver, asked !== undefined));
    const rate = asked ?? Math.floor((top_rate ?? 0) / 2);
    const before = await whenDrained(watched, say);
    say(`soak: ${rate}/s${top_rate === null ? "" : `, half of ${top_rate}/s`}, for ${minutes} min …`);
    await inspector.evaluate(startWatch);
    const holding = { rate, seconds: minutes * 60, say };
    const { samples, behind } = await connected((driver) => hold(driver, watched, directory, holding));
    const loop_p99_ms = Number(await inspector.evaluate(readWatch));
    await inspector.evaluate("globalThis.soakDelay.disable()");
    const after = await whenDrained(watched, say);
    const seconds = samples.at(-1)?.at_s ?? 0;
    const soaked = { rate, seconds, samples, loop_p99_ms, behind, before, after };
    return { ...soaked, top_rate, bounds: judge(soaked) };
  } finally {
    inspector.close();
    await relay.stop();
    for (const path of [directory, temporary]) workspace.remove(path);
  }
}

/** Null where only the warming up was wanted. */
async function topRate(driver: DriverProcess, is_known: boolean): Promise<number | null> {
  await driver.atOnce(at_once, warm_up_seconds);
  return is_known ? null : (await driver.atOnce(at_once, top_seconds)).per_second;
}

interface Holding {
  readonly rate: number;
  readonly seconds: number;
  readonly say: Say;
}

async function hold(driver: DriverProcess, watched: Watched, directory: string, { rate, seconds, say }: Holding) {
  const every_s = Math.min(sample_seconds.most, Math.max(sample_seconds.least, Math.round(seconds / samples_wanted)));
  const samples: Sample[] = [];
  const began = performance.now();
  let [behind, in_a_row] = [0, 0];
  for (let at_s = 0; at_s < seconds && in_a_row < behind_in_a_row; at_s = elapsed(began)) {
    const [wal, stolen] = [watchWal(directory), watchStolen()];
    const figure = await driver.steadily(rate, Math.min(every_s, Math.max(1, seconds - at_s)));
    if (figure.fell_behind) behind += 1;
    in_a_row = figure.fell_behind ? in_a_row + 1 : 0;
    const machine = { at_s: elapsed(began), wal_mb: wal(), stolen_percent: stolen() };
    samples.push({ ...machine, ...(await sample(watched, figure)) });
    tell(say, samples.at(-1), Math.round(seconds));
  }
  return { samples, behind };
}

async function sample(watched: Watched, figure: SteadyFigure) {
  // Before the collection, which stops the event loop itself.
  const metrics = await readMetrics(watched.url);
  const loop_p99_ms = Number((metrics.sum("nodejs_eventloop_lag_p99_seconds") * 1_000).toFixed(1));
  const { heap_mb, rss_mb, kept_handoffs } = await relayState(watched);
  const { per_second, p50_ms, p99_ms } = figure;
  return { per_second, p50_ms, p99_ms, heap_mb, rss_mb, loop_p99_ms, kept_handoffs };
}

function tell(say: Say, last: Sample | undefined, of_s: number): void {
  if (last === undefined) return;
  const { at_s, per_second, p50_ms, p99_ms, heap_mb, rss_mb, loop_p99_ms, wal_mb, stolen_percent } = last;
  const speed = `${per_second}/s, p50 ${p50_ms}, p99 ${p99_ms} ms`;
  const memory = `heap ${heap_mb}, RSS ${rss_mb}, WAL ${wal_mb} MB`;
  say(`soak: ${at_s} of ${of_s} s: ${speed}; ${memory}; loop p99 ${loop_p99_ms} ms; stolen ${stolen_percent} %`);
}

/** Answers the longest it has been when asked. */
function watchWal(directory: string): () => number {
  let longest = 0;
  const look = () => {
    longest = Math.max(longest, sizeOf(join(directory, "handfast.db-wal")));
  };
  const timer = setInterval(look, look_every_ms);
  return () => {
    clearInterval(timer);
    look();
    return Number((longest / 1e6).toFixed(1));
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** The relay's state once retention has dropped what was taken, or once that took too long. */
async function whenDrained(watched: Watched, say: Say): Promise<RelayState> {
  const until = performance.now() + drain_within_ms;
  let told = false;
  for (;;) {
    const metrics = await readMetrics(watched.url);
    const left = metrics.sum("handfast_handoffs");
    if (left === 0 || performance.now() > until) return relayState(watched);
    if (!told) say(`soak: waiting until retention has dropped ${left} handoffs …`);
    told = true;
    await new Promise((resolve) => setTimeout(resolve, look_every_ms));
  }
}

function rssOf(relay: RelayServer): number {
  const usage = relay.usage();
  if (usage === null) throw new Error("this system does not tell what a process uses (there is no /proc)");
  return usage.rss_bytes;
}

function elapsed(began: number): number {
  return Math.round((performance.now() - began) / 1_000);
}

export function soakText({ rate, seconds, top_rate, samples, bounds }: Soak): string {
  const half = top_rate === null ? "" : ` (the top rate was ${top_rate}/s)`;
  const handoffs = samples.reduce((sum, { per_second }) => sum + per_second, 0) / Math.max(1, samples.length);
  const head = `${rate}/s for ${(seconds / 60).toFixed(1)} min${half}; reached ${handoffs.toFixed(0)}/s`;
  const lines = bounds.map(({ name, found, bound, holds }) => [name, found, bound, holds ? "holds" : "BROKEN"]);
  return `${head}\n\n${columns([["", "found", "bound", ""], ...lines])}\n`;
}
