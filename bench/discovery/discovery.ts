/**
 * `npm run bench -- discovery`: 10,000 manifests with 50,000 capabilities in a relay, and needs put to it in every way, while
 * it has nothing else to do and beside handoffs at half and at a quarter of its top rate; what the manifests take of its memory, and how soon
 * it is back after a kill.
 */

import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { type Client, connect } from "@handfast/client";
import { plainDisk } from "../disk/disk.ts";
import { DriverProcess } from "../drive/driver-process.ts";
import { inTurn } from "../drive/in-turn.ts";
import { type Figure, measureSteadily, type SteadyFigure } from "../measure.ts";
import type { Say } from "../obtain/say.ts";
import { columns, count } from "../report/table.ts";
import { usageOf } from "../servers/process-tree.ts";
import { type RelayServer, startRelay } from "../servers/relay.ts";
import type { Workspace } from "../workspace.ts";
import { capabilities_each, capabilitiesOf } from "./manifests.ts";
import { allWays, needs, type Way } from "./needs.ts";

export interface DiscoverySettings {
  readonly workspace: Workspace;
  readonly say: Say;
  readonly manifests?: number;
  /** For each way, unloaded and again beside load. */
  readonly seconds?: number;
}

interface WayFigures {
  readonly way: Way;
  readonly unloaded: Figure;
  /** As `loads`. */
  readonly loaded: readonly Figure[];
  /** On the average, of those that were looked for unloaded: hits, and the relay's processor time. */
  readonly hits: number;
  readonly relay_ms: number;
}

/** Handoffs beside which needs were put. */
interface LoadFigures {
  readonly share_of_top: number;
  /** While nobody looks for anybody. */
  readonly alone: SteadyFigure;
  readonly beside: SteadyFigure;
  /** Of one core each, while the needs were put; what is idle, of the whole machine. */
  readonly busy: { readonly relay: number; readonly driver: number; readonly idle: number };
}

export interface DiscoveryFigures {
  readonly manifests: number;
  readonly capabilities: number;
  readonly registered_per_second: number;
  readonly rss_before_mb: number;
  readonly rss_mb: number;
  readonly top_rate: number;
  readonly cores: number;
  readonly loads: readonly LoadFigures[];
  readonly ways: readonly WayFigures[];
  readonly empty_ready_ms: number;
  readonly ready_ms: number;
  readonly first_find_ms: number;
  readonly goal_p99_ms: number;
}

const goal_p99_ms = 20;
/**
 * Of the top rate. That is reached with many at once, of which one commit takes many; a steady half comes in small batches and
 * takes more than half of the relay's thread, so what it takes is told, and a quarter is measured too.
 */
const shares_of_top = [0.5, 0.25] as const;
const asked_per_second = 25;
/** A thousand needs: of fewer, one full collection more or less in a way's time decides its slowest hundredth. */
const way_seconds = 40;
const warm_up_seconds = 5;
const top_seconds = 5;
const at_once = 256;
/** Until what registering left behind is written and collected. */
const settle_ms = 5_000;
const load = { name: "handfast", transport: "websocket", identity: "keys", pairs: 1 } as const;

export async function measureDiscovery(settings: DiscoverySettings): Promise<DiscoveryFigures> {
  const { workspace, say, manifests = 10_000, seconds = way_seconds } = settings;
  const [directory, temporary] = [workspace.folder("discovery"), workspace.folder("discovery-tmp")];
  let relay = await startRelay({ directory, disk: plainDisk, say });
  const opened: { driver?: DriverProcess; asker?: Client } = {};
  try {
    const [empty_ready_ms, rss_before_mb] = [relay.ready_after_ms, rssOf(relay)];
    say(
      `discovery: registering ${count(manifests)} manifests with ${count(manifests * capabilities_each)} capabilities …`,
    );
    const token = readFileSync(join(directory, "operator-token"), "utf8").trim();
    const registered_per_second = await register(relay.url, token, manifests);
    await pause(settle_ms);
    const rss_mb = rssOf(relay);
    const asker = await connect({ url: relay.url, agent: "asker", home: temporary });
    opened.asker = asker;
    const unloaded = await askEachWay(asker, relay, seconds, say);
    const driver = await DriverProcess.open(load, relay.address, { disk: plainDisk, temporary });
    opened.driver = driver;
    await driver.atOnce(at_once, warm_up_seconds);
    const { per_second: top_rate } = await driver.atOnce(at_once, top_seconds);
    const loads: LoadFigures[] = [];
    const loaded: (readonly Asked[])[] = [];
    for (const share_of_top of shares_of_top) {
      const rate = Math.floor(top_rate * share_of_top);
      say(`discovery: beside ${rate} handoffs/s, ${share_of_top} of ${top_rate} …`);
      const alone = await driver.steadily(rate, seconds);
      const steady = driver.steadily(rate, allWays.length * seconds);
      const began = processorTimes(relay, driver);
      loaded.push(await askEachWay(asker, relay, seconds, say));
      const busy = sharesSince(began, processorTimes(relay, driver));
      loads.push({ share_of_top, alone, beside: await steady, busy });
    }
    const ways = unloaded.map(({ figure, ...about }, nth) => ({
      ...about,
      unloaded: figure,
      loaded: loaded.flatMap((asked) => asked[nth]?.figure ?? []),
    }));
    await asker.close();
    driver.kill();
    await relay.kill();
    relay = await startRelay({ directory, disk: plainDisk, say });
    const again = await connect({ url: relay.url, agent: "asker", home: temporary });
    opened.asker = again;
    const began = performance.now();
    await again.find(needs("by words", manifests)());
    const first_find_ms = performance.now() - began;
    return {
      manifests,
      capabilities: manifests * capabilities_each,
      registered_per_second,
      rss_before_mb,
      rss_mb,
      top_rate,
      cores: cpus().length,
      loads,
      ways,
      empty_ready_ms: Math.round(empty_ready_ms),
      ready_ms: Math.round(relay.ready_after_ms),
      first_find_ms: Math.round(first_find_ms),
      goal_p99_ms,
    };
  } finally {
    opened.driver?.kill();
    await opened.asker?.close();
    await relay.kill();
    for (const path of [directory, temporary]) workspace.remove(path);
  }
}

/** By the operator, since strangers register only so many a second. */
async function register(url: string, token: string, manifests: number): Promise<number> {
  const began = performance.now();
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  await inTurn(manifests, async (nth) => {
    const body = JSON.stringify({ agent: `provider-${nth}`, capabilities: capabilitiesOf(nth) });
    const response = await fetch(`${url}/v1/tokens`, { method: "POST", headers, body });
    const answer = await response.text();
    if (!response.ok) throw new Error(`provider-${nth} was not registered: ${response.status} ${answer}`);
  });
  return Math.round(manifests / ((performance.now() - began) / 1_000));
}

interface Asked extends Pick<WayFigures, "way" | "hits" | "relay_ms"> {
  readonly figure: Figure;
}

/** So many a second, whatever comes, so that a stall shows in all that it holds up. */
async function askEachWay(asker: Client, relay: RelayServer, seconds: number, say: Say): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  for (const [nth, way] of allWays.entries()) {
    const next = needs(way, nth + 1);
    let [hits, finds] = [0, 0];
    const find = async () => {
      hits += (await asker.find(next())).hits.length;
      finds += 1;
    };
    const before_ms = relay.usage()?.cpu_ms ?? 0;
    const figure = await measureSteadily(find, asked_per_second, seconds);
    const spent_ms = (relay.usage()?.cpu_ms ?? 0) - before_ms;
    const each = (sum: number) => Number((sum / Math.max(1, finds)).toFixed(1));
    say(`discovery: ${way}: p50 ${figure.p50_ms} ms, p99 ${figure.p99_ms} ms`);
    asked.push({ way, figure, hits: each(hits), relay_ms: each(spent_ms) });
  }
  return asked;
}

export function discoveryText(figures: DiscoveryFigures): string {
  const { manifests, capabilities, rss_before_mb, rss_mb, top_rate, cores, loads, ways } = figures;
  const both = ({ p50_ms, p99_ms }: Figure) => [`${p50_ms}`, `${p99_ms}`];
  const rows = ways.map(({ way, unloaded, loaded, hits, relay_ms }) => [
    way,
    ...[unloaded, ...loaded].flatMap(both),
    `${hits}`,
    `${relay_ms}`,
  ]);
  const beside = loads.flatMap(({ beside }) => [`beside ${beside.wanted_per_second}/s`, ""]);
  const head = ["p50 and p99 in ms", "unloaded", "", ...beside, "hits", "relay's CPU, ms"];
  const handoffs = ({ per_second, p50_ms, p99_ms }: SteadyFigure) => `${per_second}/s, p50 ${p50_ms}, p99 ${p99_ms} ms`;
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  const load = ({ share_of_top, alone, beside, busy }: LoadFigures) =>
    `  load: ${percent(share_of_top)} of ${top_rate} handoffs/s; alone ${handoffs(alone)}; beside the needs ${handoffs(beside)}; ` +
    `of a core, the relay took ${percent(busy.relay)} and who sends and works ${percent(busy.driver)}; ` +
    `of ${cores} cores ${percent(busy.idle)} idle`;
  return [
    `${count(manifests)} manifests with ${count(capabilities)} capabilities, ${asked_per_second} needs a second:`,
    columns([head, ...rows]),
    `  goal: p99 under ${goal_p99_ms} ms beside load`,
    ...loads.map(load),
    `  registered ${figures.registered_per_second} a second; relay's memory (RSS) ${rss_mb} MB, before ${rss_before_mb} MB`,
    `  after a kill ready in ${figures.ready_ms} ms (empty store: ${figures.empty_ready_ms}), the first need answered ${figures.first_find_ms} ms later`,
    "",
  ].join("\n");
}

interface ProcessorTimes {
  readonly at_ms: number;
  readonly relay_ms: number;
  readonly driver_ms: number;
  /** Of all cores. */
  readonly idle_ms: number;
}

function processorTimes(relay: RelayServer, { pid }: DriverProcess): ProcessorTimes {
  return {
    at_ms: performance.now(),
    relay_ms: relay.usage()?.cpu_ms ?? 0,
    driver_ms: usageOf(pid)?.cpu_ms ?? 0,
    idle_ms: cpus().reduce((sum, { times }) => sum + times.idle, 0),
  };
}

function sharesSince(began: ProcessorTimes, ended: ProcessorTimes): LoadFigures["busy"] {
  const took_ms = ended.at_ms - began.at_ms;
  return {
    relay: (ended.relay_ms - began.relay_ms) / took_ms,
    driver: (ended.driver_ms - began.driver_ms) / took_ms,
    idle: (ended.idle_ms - began.idle_ms) / (took_ms * cpus().length),
  };
}

function rssOf(relay: RelayServer): number {
  const usage = relay.usage();
  if (usage === null) throw new Error("this system does not tell what a process uses (there is no /proc)");
  return Math.round(usage.rss_bytes / 1e6);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
