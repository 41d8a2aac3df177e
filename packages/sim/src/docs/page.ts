/** The parts of docs/simulation.md that are made: each stands between two comments that name it. */

import { join } from "node:path";

export const page_path = join(import.meta.dirname, "../../../../docs/simulation.md");

export type Part = "faults" | "promises" | "unreachable" | "mistakes";

const mark = (part: Part) => ({ begin: `<!-- made: ${part} -->`, end: `<!-- end: ${part} -->` });

/** What stands there now, line by line. */
export function readPart(page: string, part: Part): readonly string[] {
  const { begin, end } = mark(part);
  const [from, until] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || until < from) throw new Error(`docs/simulation.md has no part ${part}`);
  return page
    .slice(from + begin.length, until)
    .trim()
    .split("\n");
}

export function writePart(page: string, part: Part, lines: readonly string[]): string {
  const { begin, end } = mark(part);
  const [from, until] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || until < from) throw new Error(`docs/simulation.md has no part ${part}`);
  return `${page.slice(0, from + begin.length)}\n\n${lines.join("\n")}\n\n${page.slice(until)}`;
}
