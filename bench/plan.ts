/** Which rows a run measures, most important first: those at the end are left out first when time is short. */

import type { System, SystemName } from "./systems.ts";
import { systems } from "./systems.ts";

export interface RowPlan {
  readonly system: SystemName;
  readonly disk: "as it is" | "slow";
  /** `loaded`: already holds very many handoffs. `held`: somebody keeps a transaction open in it all the time. */
  readonly store: "empty" | "loaded" | "held";
  readonly concurrencies: readonly number[];
  /** So many handoffs a second, besides; null: not. */
  readonly steady_rate: number | null;
  /** Measured for so many times as long as others. */
  readonly times?: number;
}

export const every = [1, 64, 256];
export const most = [256];
const steady_rate = 1_000;

export const row = (system: SystemName, concurrencies: readonly number[], rest: Partial<RowPlan> = {}): RowPlan => ({
  system,
  disk: "as it is",
  store: "empty",
  concurrencies,
  steady_rate: null,
  ...rest,
});
const slow = (system: SystemName) => row(system, every, { disk: "slow" });

/** Those that are compared most closely stand next to each other. */
export const fullPlan: readonly RowPlan[] = [
  row("ws-signed", every, { steady_rate }),
  row("ws-unsigned", every, { steady_rate }),
  row("ws-unsigned", most, { store: "loaded" }),
  row("bullmq", every, { steady_rate }),
  row("pg-boss", every, { steady_rate }),
  row("pg-boss-notify", every),
  row("jetstream-sync", every, { steady_rate }),
  row("jetstream", every, { steady_rate }),
  row("restate", every, { steady_rate }),
  row("bare-store", every),
  row("engine", every),
  row("http-unsigned", every),
  row("http-signed", every),
  row("crowd-unsigned", every),
  row("crowd-signed", every),
  slow("ws-unsigned"),
  slow("bullmq"),
  slow("pg-boss"),
  slow("ws-signed"),
  slow("jetstream-sync"),
  slow("restate"),
  slow("bare-store"),
];

const ends = [1, 256];

export const quickPlan: readonly RowPlan[] = [
  row("ws-unsigned", ends),
  row("bullmq", ends),
  row("pg-boss", ends),
  row("ws-signed", ends),
  row("bare-store", ends),
  row("restate", ends),
  row("jetstream-sync", ends),
  row("ws-unsigned", most, { store: "loaded" }),
  row("http-unsigned", most),
  row("ws-unsigned", most, { disk: "slow" }),
  row("pg-boss", most, { disk: "slow" }),
  row("http-signed", most),
];

/** `--only`: by name of a system or of its group. */
export function onlyThese(plan: readonly RowPlan[], names: readonly string[]): readonly RowPlan[] {
  const groupOf = ({ system }: RowPlan): System["group"] => systems[system].group;
  return plan.filter((one) => names.includes(one.system) || names.includes(groupOf(one)));
}

export function rowName({ system, disk, store }: Pick<RowPlan, "system" | "disk" | "store">): string {
  return [system, ...(disk === "slow" ? ["slow-disk"] : []), ...(store === "empty" ? [] : [store])].join("+");
}
