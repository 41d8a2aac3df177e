/** Writes what a run on PostgreSQL found into the pages that tell of it, between marks that stand there. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { count, isMet, milliseconds, titleOf } from "../report/table.ts";
import type { FigureAt, Row } from "../row.ts";
import type { OnPostgres } from "./on-postgres.ts";
import { onPostgres } from "./plan.ts";

export function writePages(folder: string, found: OnPostgres): void {
  fill(join(folder, "performance.md"), figures(found));
  fill(join(folder, "cluster.md"), sizing(found));
}

function fill(file: string, text: string): void {
  writeFileSync(file, between(readFileSync(file, "utf8"), text, file));
}

const marks = ["<!-- bench:postgres -->", "<!-- /bench:postgres -->"] as const;

export function between(page: string, text: string, file: string): string {
  const [begin, end] = marks.map((mark) => page.indexOf(mark));
  if (begin === undefined || end === undefined || begin < 0 || end < begin)
    throw new Error(`${file} has no place for figures: it lies between ${marks.join(" and ")}`);
  return `${page.slice(0, begin)}${marks[0]}\n${text}\n${page.slice(end)}`;
}

export function figures({ conditions, server, rows, ratios, backlog }: OnPostgres): string {
  const { date, node, cores, rounds, seconds_each, fdatasync, load_average } = conditions;
  const how = `${rounds === 1 ? "One round" : `Medians of ${rounds} rounds`} of ${seconds_each} s a figure, ${date}, Node ${node}, ${cores} cores, fdatasync ${fdatasync.p50_ms} ms (p50), load average ${load_average.before} before and ${load_average.after} after; ${server}; a backlog of ${count(backlog)}.`;
  return [how, figureTable(rows), ratioTable(ratios)].join("\n\n");
}

const concurrencies = [1, 64, 256];

function figureTable(rows: readonly Row[]): string {
  const head = [
    "handoffs/s, p50 / p99 ms",
    ...concurrencies.map((many) => `at ${many}`),
    "µs CPU",
    "of it the database",
  ];
  const body = rows.map((row) => {
    if (row.figures.length === 0) return [titleOf(row), `not measured: ${row.reason ?? ""}`, "", "", "", ""];
    const last = row.figures.at(-1);
    return [
      titleOf(row),
      ...concurrencies.map((many) => cell(row.figures.find(({ concurrency }) => concurrency === many))),
      last === undefined ? "" : count(last.driver_cpu_us + (last.server_cpu_us ?? 0)),
      last?.database_cpu_us == null ? "" : count(last.database_cpu_us),
    ];
  });
  return markdown([head, ...body]);
}

function cell(figure: FigureAt | undefined): string {
  if (figure === undefined) return "";
  return `${count(figure.per_second)}/s, ${milliseconds(figure.p50_ms)} / ${milliseconds(figure.p99_ms)}`;
}

function ratioTable(ratios: OnPostgres["ratios"]): string {
  const { definitions, goals, promised } = onPostgres;
  const names = Object.keys(definitions).filter((name) => promised.includes(name) || ratios[name] != null);
  const lines = names.map((name) => {
    const [value, goal] = [ratios[name] ?? null, goals[name]];
    const verdict = goal === undefined || value === null ? "" : isMet(goal, value) ? "met" : "missed";
    const wanted = goal === undefined ? "" : `at ${goal.at} ${goal.value}`;
    return [`\`${name}\``, value === null ? "not measured" : value.toFixed(2), wanted, verdict];
  });
  return markdown([["ratio", "measured", "goal", ""], ...lines]);
}

const sized = ["one-node", "three-nodes", "three-nodes-apart"];

export function sizing({ conditions, rows }: OnPostgres): string {
  const { date, cores } = conditions;
  const lines = rows
    .filter(({ name }) => sized.includes(name))
    .flatMap(({ title, figures: measured }) => {
      const most = measured.at(-1);
      if (most?.server_cpu_us == null || most.database_cpu_us === null) return [];
      const ofNodes = most.server_cpu_us - most.database_cpu_us;
      return [[title, `${count(most.per_second)}/s`, count(ofNodes), count(most.database_cpu_us)]];
    });
  const head = ["256 at once", "handoffs", "µs of the nodes' processors for one", "µs of the database's"];
  return [
    `Measured ${date} by \`npm run bench -- --store postgres\`, everything on ${cores} cores:`,
    markdown([head, ...lines]),
  ].join("\n\n");
}

function markdown([head = [], ...body]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...body.map(line)].join("\n");
}
