/** The comparison as a table for people. */

import type { FigureAt, Row } from "../row.ts";
import { embedded, type RatioPlan, type Ratios } from "./ratios.ts";

export function table(rows: readonly Row[]): string {
  const concurrencies = [...new Set(rows.flatMap(({ figures }) => figures.map(({ concurrency }) => concurrency)))];
  const head = ["", ...concurrencies.flatMap((concurrency) => [`at ${concurrency}`, "p50", "p99 ms"]), "µs CPU"];
  const body = rows.map((row) => cells(row, concurrencies));
  return columns([head, ...body]);
}

function cells(row: Row, concurrencies: readonly number[]): readonly string[] {
  const title = titleOf(row);
  if (row.figures.length === 0) return [title, `– ${row.reason ?? ""}`];
  const at = concurrencies.flatMap((concurrency) => {
    const figure = row.figures.find((one) => one.concurrency === concurrency);
    if (figure === undefined) return ["", "", ""];
    return [`${count(figure.per_second)}/s`, milliseconds(figure.p50_ms), milliseconds(figure.p99_ms)];
  });
  return [title, ...at, cpu(row.figures.at(-1))];
}

const stores = { empty: "", loaded: ", loaded store", held: ", a transaction held open" } as const;

export function titleOf({ title, disk, store }: Row): string {
  return `${title}${disk === "slow" ? ", slow disk" : ""}${stores[store]}`;
}

/** Of both sides, at the highest concurrency: what the system takes, whatever else runs on the machine. */
function cpu(figure: FigureAt | undefined): string {
  return figure === undefined ? "" : count(figure.driver_cpu_us + (figure.server_cpu_us ?? 0));
}

export function steadyTable(rows: readonly Row[]): string {
  const steady = rows.flatMap(({ steady: figure, ...row }) => (figure === null ? [] : [{ figure, row }]));
  if (steady.length === 0) return "";
  const [first] = steady;
  const head = [`steadily ${count(first?.figure.wanted_per_second ?? 0)}/s`, "p50", "p99 ms", "reached"];
  const body = steady.map(({ figure: { p50_ms, p99_ms, per_second, fell_behind }, row }) => [
    titleOf({ ...row, steady: null }),
    milliseconds(p50_ms),
    milliseconds(p99_ms),
    `${count(per_second)}/s${fell_behind ? ", fell behind" : ""}`,
  ]);
  return columns([head, ...body]);
}

export function ratioTable(
  { ratios, reasons }: Ratios,
  { definitions, promised, goals }: RatioPlan = embedded,
): string {
  const lines = Object.keys(definitions)
    .filter((name) => promised.includes(name) || ratios[name] != null)
    .map((name) => {
      const value = ratios[name] ?? null;
      const words = [verdict(goals[name], value), reasons[name] ?? ""].filter((text) => text !== "");
      return [name, value === null ? "null" : value.toFixed(2), words.join("; ")];
    });
  return columns(lines);
}

function verdict(goal: RatioPlan["goals"][string] | undefined, value: number | null): string {
  if (goal === undefined) return "";
  return `goal: at ${goal.at} ${goal.value}${value === null ? "" : isMet(goal, value) ? ", met" : ", missed"}`;
}

export function isMet({ at, value: bound }: RatioPlan["goals"][string], value: number): boolean {
  return at === "least" ? value >= bound : value <= bound;
}

/** The first column to the left, the others to the right. Words at the end of a line keep no column wide. */
export function columns(lines: readonly (readonly string[])[]): string {
  const isWords = (line: readonly string[], nth: number) =>
    nth === line.length - 1 && /[a-z]{3} /.test(line[nth] ?? "");
  const width = (nth: number) =>
    Math.max(0, ...lines.map((line) => (isWords(line, nth) && nth > 0 ? 0 : (line[nth]?.length ?? 0))));
  const widths = Array.from({ length: Math.max(0, ...lines.map((line) => line.length)) }, (_, nth) => width(nth));
  const pad = (line: readonly string[]) => (cell: string, nth: number) => {
    if (nth === 0) return cell.padEnd(widths[0] ?? 0);
    return isWords(line, nth) ? cell : cell.padStart(widths[nth] ?? 0);
  };
  return lines.map((line) => line.map(pad(line)).join("  ").trimEnd()).join("\n");
}

export function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}

export function milliseconds(value: number): string {
  return value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : count(value);
}
