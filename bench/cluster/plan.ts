/** What is measured on one PostgreSQL server, and what it is held against. */

import { every, most, type RowPlan, row } from "../plan.ts";
import { over, p50, type RatioPlan, rate } from "../report/ratios.ts";

const ends = [1, 256];
/** Long enough for what cannot be cleaned up to gather. */
const held_times = 4;

/** Those that are compared most closely stand next to each other. */
export const fullPlan: readonly RowPlan[] = [
  row("one-node", every),
  row("one-node", most, { store: "held", times: held_times }),
  row("one-node", most, { store: "loaded" }),
  row("three-nodes", every),
  row("pg-boss", every),
  row("pg-boss-notify", ends),
  row("graphile-worker", every),
  row("three-nodes-apart", ends),
];

/** Most important first: those at the end are left out when time is short. */
export const quickPlan: readonly RowPlan[] = [
  row("three-nodes", ends),
  row("pg-boss", ends),
  row("one-node", ends),
  row("one-node", most, { store: "loaded" }),
  row("one-node", most, { store: "held", times: held_times }),
  row("graphile-worker", ends),
];

const pgBoss = [rate("pg-boss"), rate("pg-boss-notify")];
const pgBossAlone = [p50("pg-boss"), p50("pg-boss-notify")];

const definitions = {
  three_nodes_over_pg_boss_256: over(rate("three-nodes"), ...pgBoss),
  one_node_over_pg_boss_256: over(rate("one-node"), ...pgBoss),
  three_nodes_over_graphile_worker_256: over(rate("three-nodes"), rate("graphile-worker")),
  p50_unloaded_over_pg_boss: over(p50("one-node"), ...pgBossAlone),
  backlog_over_empty: over(rate("one-node+loaded"), rate("one-node")),
  held_transaction_over_free: over(rate("one-node+held"), rate("one-node")),
  three_nodes_over_one_256: over(rate("three-nodes"), rate("one-node")),
  p50_three_nodes_over_pg_boss: over(p50("three-nodes"), ...pgBossAlone),
  p50_unloaded_over_graphile_worker: over(p50("one-node"), p50("graphile-worker")),
  apart_over_together_256: over(rate("three-nodes-apart"), rate("three-nodes")),
  p50_apart_over_pg_boss: over(p50("three-nodes-apart"), ...pgBossAlone),
} as const;

export const onPostgres: RatioPlan = {
  definitions,
  promised: Object.keys(definitions).slice(0, 6),
  goals: {
    three_nodes_over_pg_boss_256: { at: "least", value: 2 },
    p50_unloaded_over_pg_boss: { at: "most", value: 0.7 },
    backlog_over_empty: { at: "least", value: 0.8 },
    held_transaction_over_free: { at: "least", value: 0.7 },
  },
};
