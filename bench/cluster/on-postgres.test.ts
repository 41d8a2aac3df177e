/** What a run on PostgreSQL is held against, and what it leaves in the pages. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { rowName } from "../plan.ts";
import { takeRatios } from "../report/ratios.ts";
import { type RoundFigure, type Row, summarize } from "../row.ts";
import { systems } from "../systems.ts";
import type { OnPostgres } from "./on-postgres.ts";
import { between, figures, sizing } from "./pages.ts";
import { fullPlan, onPostgres, quickPlan } from "./plan.ts";

const round = (per_second: number, p50_ms: number): RoundFigure => ({
  per_second,
  p50_ms,
  p99_ms: p50_ms * 3,
  driver_cpu_us: 100,
  server_cpu_us: 700,
  database_cpu_us: 400,
  syncs_per_handoff: null,
});

/** Each row with figures of its own; one peer could not be started. */
const rows: readonly Row[] = fullPlan.map((plan, nth) => {
  const is_there = plan.system !== "graphile-worker";
  const made = plan.concurrencies.map((concurrency) => summarize([round(100 * (nth + 1), nth + 1)], concurrency));
  return {
    ...plan,
    name: rowName(plan),
    title: systems[plan.system].title,
    conditions: "",
    about: null,
    figures: is_there ? made.filter((figure) => figure !== null) : [],
    steady: null,
    reason: is_there ? null : "npm has none here",
  };
});

const found: OnPostgres = {
  ...takeRatios(rows, onPostgres),
  conditions: {
    date: "2026-01-01 00:00 UTC",
    node: "v24",
    kernel: "6",
    cores: 2,
    cpu: "some",
    memory_gb: 8,
    load_average: { before: 0.5, after: 1.5 },
    fdatasync: { p50_ms: 0.2, p99_ms: 0.4 },
    on_disk: true,
    rounds: 1,
    seconds_each: 4,
    notes: [],
  },
  goals: onPostgres.goals,
  server: "PostgreSQL of some version",
  backlog: 1_000_000,
  rows,
};

describe("ratios on PostgreSQL", () => {
  test("are those that were promised, each from rows that a full run measures", () => {
    const promised = [
      "three_nodes_over_pg_boss_256",
      "one_node_over_pg_boss_256",
      "three_nodes_over_graphile_worker_256",
      "p50_unloaded_over_pg_boss",
      "backlog_over_empty",
      "held_transaction_over_free",
    ];
    expect(onPostgres.promised).toEqual(promised);
    const missing = Object.entries(found.ratios).filter(([, value]) => value === null);
    expect(missing.map(([name]) => name)).toEqual([
      "three_nodes_over_graphile_worker_256",
      "p50_unloaded_over_graphile_worker",
    ]);
    expect(found.reasons["three_nodes_over_graphile_worker_256"]).toContain("npm has none here");
  });

  test("go by the better of pg-boss's two rows, in rate and in time", () => {
    const names = rows.map(({ name }) => name);
    const nth = (name: string) => names.indexOf(name) + 1;
    expect(found.ratios["three_nodes_over_pg_boss_256"]).toBe(
      Number((nth("three-nodes") / nth("pg-boss-notify")).toFixed(3)),
    );
    expect(found.ratios["p50_unloaded_over_pg_boss"]).toBe(Number((nth("one-node") / nth("pg-boss")).toFixed(3)));
  });

  test("a quick run measures what every promised ratio needs", () => {
    const names = quickPlan.map(rowName);
    for (const name of onPostgres.promised) {
      const { above, below } = onPostgres.definitions[name] ?? { above: { row: "" }, below: [] };
      expect(names).toContain(above.row);
      expect(below.some(({ row }) => names.includes(row))).toBe(true);
    }
  });
});

describe("the pages", () => {
  test("have a place for the figures, and keep what stands around it", () => {
    for (const page of ["performance.md", "cluster.md"]) {
      const text = readFileSync(join(import.meta.dirname, "../../docs", page), "utf8");
      const filled = between(text, "the figures", page);
      expect(filled).toContain("\nthe figures\n");
      expect(between(filled, "others", page)).toBe(between(text, "others", page));
    }
    expect(() => between("nothing", "figures", "x.md")).toThrow("x.md has no place for figures");
  });

  test("tell every row, every promised ratio with its goal, and why a peer has no figures", () => {
    const text = figures(found);
    for (const { title } of rows) expect(text).toContain(`| ${title}`);
    expect(text).toContain("| Handfast, one node | 100/s, 1.00 / 3.00 |");
    expect(text).toContain("not measured: npm has none here");
    expect(text).toMatch(/`three_nodes_over_pg_boss_256` \| 0\.67 \| at least 2 \| missed/);
    expect(text).toMatch(/`three_nodes_over_graphile_worker_256` \| not measured \|/);
  });

  test("tell what one handoff takes of the nodes and of the database", () => {
    expect(sizing(found)).toContain("| Handfast, three nodes | 400/s | 300 | 400 |");
  });
});
