/** `npm run bench`: plans, compares, and tells what came of it, for people or for machines. */

import { writeFileSync } from "node:fs";
import type { Settings } from "./command-line.ts";
import { compare } from "./compare.ts";
import type { Amounts } from "./fill/fill-store.ts";
import { filledStore, keptStore } from "./fill/filled-store.ts";
import { type Idle, idleLines, measureIdle } from "./idle/idle.ts";
import { obtainRedis } from "./obtain/debian-redis.ts";
import { obtainNatsServer } from "./obtain/nats-server.ts";
import { installPackages } from "./obtain/npm-packages.ts";
import { obtainPostgres } from "./obtain/postgres.ts";
import type { Say } from "./obtain/say.ts";
import { reasonOf, Unavailable } from "./obtain/unavailable.ts";
import { fullPlan, onlyThese, quickPlan } from "./plan.ts";
import { measureRecovery, type Recovery, recoveryLines } from "./recovery/recovery.ts";
import { chart } from "./report/chart.ts";
import { type Conditions, observeConditions } from "./report/conditions.ts";
import { embedded, type Ratios, takeRatios } from "./report/ratios.ts";
import { ratioTable, steadyTable, table } from "./report/table.ts";
import type { Row } from "./row.ts";
import type { LoadedStore } from "./run-row.ts";
import { openWorkspace } from "./workspace.ts";

export interface Comparison extends Ratios {
  readonly conditions: Conditions;
  readonly goals: typeof embedded.goals;
  readonly rows: readonly Row[];
  readonly idle: Idle | null;
  readonly recovery: Recovery | null;
}

/** Warm-ups are long: JavaScript is slow until it has been optimised, and a relay runs for days (seven seconds brought twice the rate). */
const full = { seconds: 5, rounds: 3, warm_up_seconds: 8, steady_seconds: 10, fill: 1_000_000 };
const quick_fill = 10_000;
const quick = { seconds: 0.8, rounds: 1, warm_up_seconds: 2.5, steady_seconds: 1 };
/** With `--quick` no row is begun after the first of these, and one that still runs is ended at the second. */
const quick_until = { begin_ms: 46_000, end_ms: 56_000 };
const no_end = { begin_ms: Number.POSITIVE_INFINITY, end_ms: null };

export async function runComparison(settings: Settings, say: Say): Promise<Comparison> {
  const defaults = settings.quick ? quick : full;
  const seconds = settings.seconds ?? defaults.seconds;
  const rounds = settings.rounds ?? defaults.rounds;
  const whole = settings.quick ? quickPlan : fullPlan;
  const plan = settings.only === null ? whole : onlyThese(whole, settings.only);
  const workspace = openWorkspace(settings.directory);
  try {
    // Filling takes minutes, which must not lie between two rows that are compared.
    const fills = !settings.quick && plan.some(({ store }) => store === "loaded");
    if (fills) await orNull("the loaded store", say, () => loadedStore(settings, say));
    const observed = observeConditions(workspace, rounds, seconds);
    const rows = await compare(plan, {
      rounds,
      seconds,
      warm_up_seconds: defaults.warm_up_seconds,
      steady_seconds: defaults.steady_seconds,
      workspace,
      loaded: () => loadedStore(settings, say),
      until: settings.quick ? quick_until : no_end,
      say,
    });
    const besides = !settings.quick && settings.only === null;
    const idle = besides ? await orNull("idle", say, () => measureIdle({ workspace, say })) : null;
    const recovery = besides ? await orNull("recovery", say, () => measureRecovery({ workspace, say })) : null;
    const conditions = observed();
    const comparison = { conditions, ...takeRatios(rows), goals: embedded.goals, rows, idle, recovery };
    if (settings.chart !== null) writeFileSync(settings.chart, chart(rows, captionOf(conditions)));
    return comparison;
  } finally {
    workspace.close();
  }
}

/** With `--quick` nothing is filled: the largest store that an earlier run has kept is taken. */
async function loadedStore(settings: Settings, say: Say): Promise<LoadedStore> {
  const fill = settings.fill ?? full.fill;
  if (fill === 0) throw new Unavailable("no loaded store was asked for (--fill 0)");
  if (!settings.quick) return { directory: await filledStore(amountsOf(fill), say), handoffs: fill };
  for (const handoffs of [fill, quick_fill]) {
    const directory = keptStore(amountsOf(handoffs));
    if (directory !== null) return { directory, handoffs };
  }
  throw new Unavailable("no filled store is kept yet: npm run bench -- install fills a small one");
}

function amountsOf(handoffs: number): Amounts {
  return { queued: handoffs, working: 0, finished: handoffs };
}

/** `npm run bench -- install`: everything that would otherwise be fetched, built or filled in the middle of a run. */
export async function install(say: Say): Promise<void> {
  const steps = [installPackages, obtainRedis, obtainPostgres, obtainNatsServer];
  for (const step of steps) await orNull<unknown>(step.name, say, () => step(say));
  await filledStore(amountsOf(quick_fill), say);
}

/** A figure besides must not cost those that are there. */
async function orNull<T>(what: string, say: Say, measure: () => Promise<T>): Promise<T | null> {
  try {
    return await measure();
  } catch (error) {
    say(`${what}: ${reasonOf(error)}`);
    return null;
  }
}

export function captionOf({ date, node, cores, rounds, fdatasync }: Conditions): string {
  return `${date}, Node ${node}, ${cores} cores, fdatasync ${fdatasync.p50_ms} ms (p50), ${rounds === 1 ? "one round" : `medians of ${rounds} rounds`}`;
}

export function comparisonText({ conditions, rows, idle, recovery, ...ratios }: Comparison): string {
  const { load_average, cpu, notes, on_disk } = conditions;
  const parts = [
    on_disk ? "" : "NOT ON A DISK: syncs cost nothing in memory, and these figures say nothing. Use --directory.",
    `${captionOf(conditions)}; ${cpu}; load average ${load_average.before} before, ${load_average.after} after`,
    table(rows),
    steadyTable(rows),
    ratioTable(ratios),
    idle === null ? "" : idleLines(idle),
    recovery === null ? "" : recoveryLines(recovery),
    notes.map((note) => `- ${note}`).join("\n"),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}
