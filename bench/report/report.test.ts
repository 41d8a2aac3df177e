/** What the benchmark prints follows from what it measured. */

import { describe, expect, test } from "vitest";
import { type FigureAt, type RoundFigure, type Row, summarize } from "../row.ts";
import type { SystemName } from "../systems.ts";
import { chart } from "./chart.ts";
import { definitions, takeRatios } from "./ratios.ts";
import { ratioTable, table } from "./table.ts";

const round = (per_second: number, p50_ms = 1): RoundFigure => ({
  per_second,
  p50_ms,
  p99_ms: p50_ms * 2,
  driver_cpu_us: 10,
  server_cpu_us: 20,
  database_cpu_us: null,
  syncs_per_handoff: null,
});

function figure(concurrency: number, rounds: readonly (RoundFigure | null)[]): readonly FigureAt[] {
  const found = summarize(rounds, concurrency);
  return found === null ? [] : [found];
}

function row(system: SystemName, figures: readonly FigureAt[], rest: Partial<Row> = {}): Row {
  const name = rest.store === "loaded" ? `${system}+loaded` : system;
  const base = { name, system, disk: "as it is", store: "empty", title: `title of ${system}` } as const;
  return { ...base, conditions: "", about: null, figures, steady: null, reason: null, ...rest };
}

describe("ratios", () => {
  test("are taken within each round, and their median is told", () => {
    const rows = [
      row("ws-unsigned", figure(256, [round(100), round(900), round(300)])),
      row("bullmq", figure(256, [round(50), round(300), round(300)])),
    ];
    expect(takeRatios(rows).ratios["vs_bullmq_256"]).toBe(2);
  });

  test("go by the faster of a peer's rows", () => {
    const rows = [
      row("ws-unsigned", figure(256, [round(100)])),
      row("pg-boss", figure(256, [round(20)])),
      row("pg-boss-notify", figure(256, [round(50)])),
    ];
    expect(takeRatios(rows).ratios["vs_pg_boss_256"]).toBe(2);
  });

  test("leave out a round in which one side failed", () => {
    const rows = [
      row("ws-unsigned", figure(1, [round(1, 8), round(1, 3)])),
      row("bullmq", figure(1, [null, round(1, 6)])),
    ];
    expect(takeRatios(rows).ratios["p50_unloaded_over_bullmq"]).toBe(0.5);
  });

  test("are null with their reason for a peer that could not be started", () => {
    const rows = [row("ws-unsigned", figure(256, [round(100)])), row("restate", [], { reason: "npm has none here" })];
    const { ratios, reasons } = takeRatios(rows);
    expect(ratios["vs_restate_256"]).toBeNull();
    expect(reasons["vs_restate_256"]).toContain("npm has none here");
    expect(ratios["vs_bullmq_256"]).toBeNull();
    expect(reasons["vs_bullmq_256"]).toBe("bullmq was not measured in this run");
  });

  test("compare the loaded store with the empty one", () => {
    const rows = [
      row("ws-unsigned", figure(256, [round(100)])),
      row("ws-unsigned", figure(256, [round(90)]), { store: "loaded" }),
    ];
    expect(takeRatios(rows).ratios["loaded_over_empty"]).toBe(0.9);
  });

  test("are those that were promised, each a number or null", () => {
    const { ratios } = takeRatios([]);
    const promised = [
      "vs_pg_boss_256",
      "vs_bullmq_256",
      "vs_restate_256",
      "vs_jetstream_sync_256",
      "loaded_over_empty",
    ];
    const more = ["signed_over_unsigned_256", "p50_unloaded_over_bullmq", "over_bare_store_256"];
    expect(Object.keys(ratios)).toEqual(expect.arrayContaining([...promised, ...more]));
    expect(Object.keys(ratios)).toEqual(Object.keys(definitions));
  });
});

describe("what is shown to people", () => {
  const rows = [
    row("ws-unsigned", [...figure(1, [round(500, 2)]), ...figure(256, [round(4_000, 60)])], {
      title: "Handfast <ours>",
    }),
    row("bare-store", figure(256, [round(20_000, 12)])),
    row("restate", [], { reason: "npm has none here" }),
  ];

  test("the table has a line for every row, and the reason where there are no figures", () => {
    const lines = table(rows).split("\n");
    expect(lines).toHaveLength(4);
    expect(lines[1]).toMatch(/^Handfast <ours> +500\/s +2\.00 +4\.00 +4,000\/s +60\.0 +120 +30$/);
    expect(lines[3]).toContain("– npm has none here");
  });

  test("the ratios' table names each goal and whether it was met", () => {
    const text = ratioTable({ ratios: { vs_bullmq_256: 4.2, vs_pg_boss_256: 2.4 }, reasons: {} });
    expect(text).toMatch(/vs_bullmq_256 +4\.20 +goal: at least 4, met/);
    expect(text).toMatch(/vs_pg_boss_256 +2\.40 +goal: at least 2\.5, missed/);
  });

  test("the chart is an SVG with a bar for every figure, for light and dark", () => {
    const svg = chart(rows, "a caption & more");
    expect(svg).toMatch(/^<svg /);
    expect(svg).toContain("prefers-color-scheme: dark");
    expect(svg).toContain("Handfast &lt;ours&gt;");
    expect(svg.match(/<rect class="(ours|peer|bound)"/g)).toHaveLength(3);
    expect(svg).not.toMatch(/NaN|undefined|<ours>/);
  });
});
