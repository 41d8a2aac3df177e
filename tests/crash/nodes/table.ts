/** A report of several nodes as a person reads it. */

import { renderRows } from "../table.ts";
import type { NodesReport } from "./run.ts";

export function renderNodesReport({ done, met, figures, violations, took_ms }: NodesReport): string {
  const rows = [
    ...Object.entries(done),
    ["handoffs under way when a fault came, in all", met.handoffs],
    ["faults that met none under way", met.idle],
    ...Object.entries(figures),
    ["seconds", Math.round(took_ms / 1_000)],
    ["violations", violations.length],
  ] as const;
  return renderRows(rows, violations, []);
}
