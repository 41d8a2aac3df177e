/** The rows of the matrix: every file in rows/ is one. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Row } from "./cast/row.ts";

const folder = join(import.meta.dirname, "rows");

export async function loadRows(): Promise<readonly Row[]> {
  const files = readdirSync(folder).filter((file) => file.endsWith(".ts"));
  const rows = await Promise.all(
    files.toSorted().map(async (file): Promise<Row> => (await import(join(folder, file))).row),
  );
  return rows.toSorted((a, b) => Number(b.quick) - Number(a.quick));
}
