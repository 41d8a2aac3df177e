/** The comparison: rounds of every system in turn, so that whatever else the machine does hits all of them alike. */

import { DriverProcess } from "./drive/driver-process.ts";
import type { Say } from "./obtain/say.ts";
import { reasonOf } from "./obtain/unavailable.ts";
import { type RowPlan, rowName } from "./plan.ts";
import { type Row, type RowRound, summarize } from "./row.ts";
import { type RowSettings, runRow } from "./run-row.ts";
import { ServerProcess } from "./servers/server-process.ts";
import { type System, systems } from "./systems.ts";

export interface CompareSettings extends RowSettings {
  readonly rounds: number;
  /** No row is begun after the first of these (as of `performance.now()`), and none goes on after the second. */
  readonly until: { readonly begin_ms: number; readonly end_ms: number | null };
}

const out_of_time = "left out: this run was short of time";

export async function compare(plan: readonly RowPlan[], settings: CompareSettings): Promise<readonly Row[]> {
  const rounds: ReadonlyMap<RowPlan, RowRound | string>[] = [];
  for (let round = 1; round <= settings.rounds; round += 1) rounds.push(await runRound(plan, round, settings));
  return plan.map((one) =>
    gather(
      one,
      rounds.map((round) => round.get(one) ?? "it was not begun"),
    ),
  );
}

/** What each row brought, or why it brought nothing. */
async function runRound(
  plan: readonly RowPlan[],
  round: number,
  settings: CompareSettings,
): Promise<ReadonlyMap<RowPlan, RowRound | string>> {
  const brought = new Map<RowPlan, RowRound | string>();
  for (const [nth, one] of plan.entries()) {
    const of = settings.rounds === 1 ? "" : `round ${round} of ${settings.rounds}, `;
    const name = `${of}${nth + 1} of ${plan.length}: ${rowName(one)}`;
    brought.set(one, await tryRow(one, name, settings));
  }
  return brought;
}

async function tryRow(one: RowPlan, name: string, settings: CompareSettings): Promise<RowRound | string> {
  const { begin_ms, end_ms } = settings.until;
  if (performance.now() > begin_ms) return out_of_time;
  let is_late = false;
  const endNow = () => {
    is_late = true;
    DriverProcess.killAll();
    ServerProcess.killAll();
  };
  const timer = end_ms === null ? undefined : setTimeout(endNow, end_ms - performance.now());
  try {
    const round = await runRow(one, settings);
    tell(settings.say, name, round);
    return round;
  } catch (error) {
    const reason = is_late ? out_of_time : reasonOf(error);
    settings.say(`${name}: ${reason}`);
    return reason;
  } finally {
    clearTimeout(timer);
  }
}

function tell(say: Say, name: string, { figures, steady }: RowRound): void {
  const at = [...figures].map(([concurrency, { per_second }]) => `${Math.round(per_second)}/s at ${concurrency}`);
  const steadily = steady === null ? [] : [`p50 ${steady.p50_ms} ms at ${steady.wanted_per_second}/s`];
  say(`${name}: ${[...at, ...steadily].join(", ")}`);
}

function gather(plan: RowPlan, rounds: readonly (RowRound | string)[]): Row {
  const system: System = systems[plan.system];
  const brought = rounds.filter((round) => typeof round !== "string");
  const figures = plan.concurrencies.flatMap((concurrency) => {
    const each = rounds.map((round) => (typeof round === "string" ? null : (round.figures.get(concurrency) ?? null)));
    return summarize(each, concurrency) ?? [];
  });
  const steady = brought.flatMap((round) => round.steady ?? []).toSorted((a, b) => a.p50_ms - b.p50_ms);
  return {
    name: rowName(plan),
    system: plan.system,
    disk: plan.disk,
    store: plan.store,
    title: system.title,
    conditions: system.conditions,
    about: brought[0]?.about ?? null,
    figures,
    steady: steady[Math.floor((steady.length - 1) / 2)] ?? null,
    reason: brought.length > 0 ? null : (rounds.find((round) => typeof round === "string") ?? null),
  };
}
