/** A crash run's report as a person reads it. */

import type { CrashReport } from "./run.ts";

const shown_violations = 40;

export function renderReport({ kills, figures, violations, took_ms, directory }: CrashReport): string {
  const rows: readonly (readonly [string, string | number])[] = [
    ["SIGKILLs in all", kills.relay + kills.worker + kills.sender],
    ["of the relay", kills.relay],
    ["of workers", kills.worker],
    ["of senders", kills.sender],
    ["of those, on a process that was still starting", kills.starting],
    ...Object.entries(figures),
    ["seconds", Math.round(took_ms / 1_000)],
    ["violations", violations.length],
  ];
  return renderRows(rows, violations, directory === null ? [] : [`everything is kept in ${directory}`]);
}

/** What was counted, what was violated, and what else there is to say. */
export function renderRows(
  rows: readonly (readonly [string, string | number])[],
  violations: readonly string[],
  more_lines: readonly string[],
): string {
  const widest = Math.max(...rows.map(([what]) => what.length));
  const lines = rows.map(([what, count]) => `${what.padEnd(widest)}  ${String(count).padStart(8)}`);
  const more = violations.length - shown_violations;
  return [
    ...lines,
    ...violations.slice(0, shown_violations),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...more_lines,
    "",
  ].join("\n");
}
