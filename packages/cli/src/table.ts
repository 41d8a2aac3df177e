/** Rows in columns as wide as their widest cell; the last column is cut at the terminal's edge. */

import type { Style } from "./style.ts";
import { cut, width } from "./text.ts";

const gap = "  ";
/** A last column narrower than this tells nothing: then the whole line is cut. */
const cell_least = 8;

/** `edge` is the terminal's width; null: nothing is cut (files, pipes). */
export function table(rows: readonly (readonly string[])[], edge: number | null = null): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, index) => {
      widths[index] = Math.max(widths[index] ?? 0, width(cell));
    });
  }
  return rows.map((row) => {
    const before = row.slice(0, -1).map((cell, index) => cell + " ".repeat((widths[index] ?? 0) - width(cell)) + gap);
    const start = before.join("");
    const last = row.at(-1) ?? "";
    const left = edge === null ? null : edge - width(start);
    if (left !== null && left < cell_least) return cut(`${start}${last}`.trimEnd(), edge ?? 0);
    return `${start}${left === null ? last : cut(last, left)}`.trimEnd();
  });
}

export interface TableLook {
  readonly style: (style: Style, text: string) => string;
  readonly edge: number | null;
}

/** The same with a line of titles above. */
export function titled(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  { style, edge }: TableLook,
): readonly string[] {
  return table([titles.map((title) => style("dim", title)), ...rows], edge);
}
