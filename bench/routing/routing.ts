/**
 * `npm run bench -- routing`: what it costs that the relay chooses. The same handoffs to one agent by its name and by what it
 * offers; and to ten agents, each named in turn, and by what all of them offer.
 */

import { compare } from "../compare.ts";
import type { Say } from "../obtain/say.ts";
import type { RowPlan } from "../plan.ts";
import { columns, count } from "../report/table.ts";
import { median, type RoundFigure, type Row } from "../row.ts";
import type { SystemName } from "../systems.ts";
import type { Workspace } from "../workspace.ts";

export interface RoutingSettings {
  readonly workspace: Workspace;
  readonly say: Say;
  readonly rounds?: number;
  readonly seconds?: number;
  readonly warm_up_seconds?: number;
}

export interface Routing {
  readonly rows: readonly Row[];
  /** What choosing adds, of one and of ten: 0.05 is five hundredths more. Medians of the rounds. */
  readonly added: readonly Added[];
  readonly goal: number;
}

interface Added {
  readonly providers: 1 | 10;
  /** To the time that a handoff takes of all that run at once. */
  readonly time: number;
  /** To the relay's own processor time. */
  readonly relay_cpu: number;
}

const goal = 0.05;
const at_once = 256;
const pairs = [
  { providers: 1, named: "ws-to-agent", chosen: "ws-unsigned" },
  { providers: 10, named: "ws-to-ten-agents", chosen: "ws-ten-providers" },
] as const;

export async function measureRouting(settings: RoutingSettings): Promise<Routing> {
  const { workspace, say, rounds = 5, seconds = 5, warm_up_seconds = 8 } = settings;
  const row = (system: SystemName): RowPlan => ({
    system,
    disk: "as it is",
    store: "empty",
    concurrencies: [at_once],
    steady_rate: null,
  });
  const plan = pairs.flatMap(({ named, chosen }) => [row(named), row(chosen)]);
  const rows = await compare(plan, {
    rounds,
    seconds,
    warm_up_seconds,
    steady_seconds: 0,
    workspace,
    loaded: () => Promise.reject(new Error("no row of these is of a loaded store")),
    until: { begin_ms: Number.POSITIVE_INFINITY, end_ms: null },
    say,
  });
  const roundsOf = (system: SystemName) => rows.find((each) => each.system === system)?.figures[0]?.rounds ?? [];
  return {
    rows,
    added: pairs.map(({ providers, named, chosen }) => addedOf(providers, roundsOf(named), roundsOf(chosen))),
    goal,
  };
}

type Rounds = readonly (RoundFigure | null)[];

/** Each round by itself: whatever else the machine did then hit both alike. */
function addedOf(providers: Added["providers"], named: Rounds, chosen: Rounds): Added {
  const both = named.flatMap((one, nth) => {
    const other = chosen[nth];
    return one === null || other === null || other === undefined ? [] : [{ one, other }];
  });
  const time = median(both.map(({ one, other }) => one.per_second / other.per_second - 1));
  const relay_cpu = median(both.map(({ one, other }) => (other.server_cpu_us ?? 0) / (one.server_cpu_us ?? 1) - 1));
  return { providers, time: rounded(time), relay_cpu: rounded(relay_cpu) };
}

function rounded(share: number): number {
  return Number(share.toFixed(3));
}

export function routingText({ rows, added }: Routing): string {
  const lines = rows.flatMap(({ title, figures, reason }) => {
    const [figure] = figures;
    if (figure === undefined) return [[title, reason ?? "no figures"]];
    const { per_second, p50_ms, p99_ms, server_cpu_us } = figure;
    return [
      [title, `${count(per_second)}/s`, p50_ms.toFixed(1), p99_ms.toFixed(1), server_cpu_us?.toFixed(0) ?? "unknown"],
    ];
  });
  const sentences = added.map(
    ({ providers, time, relay_cpu }) =>
      `  choosing among ${providers}: ${percent(time)} to a handoff's time, ${percent(relay_cpu)} to the relay's processor time`,
  );
  return [
    columns([[`at ${at_once}`, "handoffs", "p50 ms", "p99 ms", "relay µs"], ...lines]),
    ...sentences,
    `  goal: under ${percent(goal)}`,
    "",
  ].join("\n");
}

function percent(share: number): string {
  return `${share > 0 ? "+" : ""}${(share * 100).toFixed(1)} %`;
}
