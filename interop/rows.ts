/** The rows of the matrix: every file in rows/ is one. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Row } from "./cast/row.ts";

const folder = join(import.meta.dirname, "rows");

export async function loadRows(): Promise<readonly Row[]> {
  const files = readdirSync(folder).filter((file) => file.endsWith(".ts"));
  const rows = await Promise.all(
    files.toSorted().map(async (file) => rowOf(`interop/rows/${file}`, await import(join(folder, file)))),
  );
  return rows.toSorted((a, b) => Number(b.quick) - Number(a.quick));
}

/** A file that is no row; the message says which. */
export class NoRow extends Error {}

export function rowOf(file: string, { row }: { readonly row?: Row }): Row {
  if (row !== undefined) return row;
  throw new NoRow(`${file} has no row: let it \`export const row\`, as the files beside it do (interop/README.md)`);
}
