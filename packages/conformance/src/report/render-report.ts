/** The report for a person: by page and section of the specification, with what was sent and what came where it broke. */

import { pageOf } from "../check.ts";
import { type ConformanceReport, outcomeOf, type Tried, type Verdict } from "../run/verdict.ts";
import { countsOf } from "./counts.ts";

export interface ReportStyle {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly dim: (text: string) => string;
}

const indent = " ".repeat(15);

export const plainStyle: ReportStyle = { good: (text) => text, bad: (text) => text, dim: (text) => text };

/** Everything: a line for each promise. `failures_only` leaves out what was kept. */
export function renderReport(
  report: ConformanceReport,
  style: ReportStyle = plainStyle,
  { failures_only = false }: { readonly failures_only?: boolean } = {},
): readonly string[] {
  const lines: string[] = [];
  for (const [section, ofSection] of Map.groupBy(report.tried, ({ check }) => check.section)) {
    const told = [...Map.groupBy(ofSection, ({ check }) => check.id).values()].flatMap((tried) =>
      failures_only && outcomeOf(tried.map(({ verdict }) => verdict)) !== "broken" ? [] : linesOf(tried, style),
    );
    if (told.length > 0) lines.push("", heading(section, ofSection), ...told);
  }
  return [...lines.slice(1), "", ...closing(report, style)];
}

function heading(section: string, [first]: readonly Tried[]): string {
  const page = first === undefined ? section : pageOf(first.check);
  return `spec/${page} › ${section.slice(section.indexOf("#") + 1).replaceAll("-", " ")}`;
}

function linesOf(tried: readonly Tried[], style: ReportStyle): readonly string[] {
  const [first] = tried;
  if (first === undefined) return [];
  const outcome = outcomeOf(tried.map(({ verdict }) => verdict));
  const { id, promise } = first.check;
  const marks: Readonly<Record<Verdict["outcome"], string>> = {
    kept: style.good("✓"),
    broken: style.bad("✗"),
    skipped: style.dim("–"),
    not_tried: style.dim("–"),
  };
  const over = tried.flatMap(({ transport, verdict }) => (verdict.outcome === "kept" ? [transport] : []));
  const line = `  ${marks[outcome]} ${id.padEnd(10)} ${promise} ${style.dim(over.join(", "))}`.trimEnd();
  return [line, ...tried.flatMap((one) => explain(one, style))];
}

function explain({ transport, verdict }: Tried, style: ReportStyle): readonly string[] {
  switch (verdict.outcome) {
    case "kept": {
      const { tries } = verdict;
      return tries === 1
        ? []
        : [style.dim(`${indent}${transport} kept at try ${tries}: the relay stood still during those before`)];
    }
    case "skipped":
      return [style.dim(`${indent}${transport} skipped: ${verdict.reason}`)];
    case "not_tried":
      return indented(`${transport} not tried: ${verdict.reason}`).map((line) => style.dim(line));
    case "broken": {
      const { expected, got, exchanges } = verdict.failure;
      const said = exchanges.flatMap(({ who, sent, came }) => [
        style.dim(`${indent}  ${who} → ${sent}`),
        style.dim(`${indent}  ${" ".repeat(who.length)} ← ${came}`),
      ]);
      return [
        `${indent}${style.bad(`over ${transport}`)}`,
        `${indent}expected  ${expected}`,
        `${indent}got       ${got.replaceAll("\n", `\n${indent}          `)}`,
        ...said,
      ];
    }
  }
}

/** What a command said may be of several lines. */
function indented(text: string): readonly string[] {
  return text.split("\n").map((line) => `${indent}${line}`);
}

function closing(report: ConformanceReport, style: ReportStyle): readonly string[] {
  const { kept, broken, skipped, not_tried } = countsOf(report);
  const seconds = (report.took_ms / 1_000).toFixed(1);
  const { software, mode } = report.about;
  const runs = report.tried.filter(({ verdict: { outcome } }) => outcome === "kept" || outcome === "broken").length;
  const words = [
    style.good(`${kept} kept`),
    broken === 0 ? "0 broken" : style.bad(`${broken} broken`),
    ...(skipped === 0 ? [] : [`${skipped} skipped`]),
    ...(not_tried === 0 ? [] : [`${not_tried} not tried`]),
  ];
  return [
    `${words.join(", ")} of ${kept + broken + skipped + not_tried} promises, in ${runs} runs and ${seconds} s`,
    `${report.url}: ${software.name} ${software.version}, ${mode} mode`,
    ...(report.cut_short === null ? [] : [style.bad(`cut short: ${report.cut_short}`)]),
  ];
}
