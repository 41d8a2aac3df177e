/** What was moved, in numbers that can be held against each other: of the export, and of the import. */

import { table } from "../table.ts";

interface Moved {
  readonly counts: Readonly<Record<string, number>>;
  readonly sha256: Readonly<Record<string, string>>;
}

/** As people say it. */
const names: Readonly<Record<string, string>> = {
  record: "records",
  handoff: "handoffs",
  body: "other bodies",
  key: "kept keys",
  event: "events",
};

export function summaryLines({ counts, sha256 }: Moved): readonly string[] {
  const rows = Object.entries(names).map(([kind, name]) => [
    name,
    String(counts[kind] ?? 0),
    `sha256 ${(sha256[kind] ?? "").slice(0, 16)}`,
  ]);
  return table(rows);
}
