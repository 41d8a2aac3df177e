/** Rows in columns as wide as their widest cell; the last column is cut at the terminal's edge. */

import { cut, width } from "./text.ts";

const gap = "  ";

/** The first row is the head. `columns` is the terminal's width; null: nothing is cut (files, pipes). */
export function table(rows: readonly (readonly string[])[], columns: number | null = null): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, index) => {
      widths[index] = Math.max(widths[index] ?? 0, width(cell));
    });
  }
  return rows.map((row) => {
    const line = row
      .map((cell, index) => (index === row.length - 1 ? cell : cell + " ".repeat((widths[index] ?? 0) - width(cell))))
      .join(gap)
      .trimEnd();
    return columns === null ? line : cut(line, columns);
  });
}
