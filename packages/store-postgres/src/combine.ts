/**
 * Several writes as one statement: what the server and the client do around each of them costs more than the write. Each is a part of
 * a `WITH`; all see the tables as they were before, so parts of one statement never depend on each other.
 *
 * Which parts a commit has differs, so each combination is a statement of its own. In practice there are a few dozen; of more than
 * `most_combinations` the rest go one by one, since the server keeps what it has prepared.
 */

import { most_combinations } from "./limits.ts";

export interface Statement {
  readonly sql: string;
  readonly parameters: readonly (string | number)[];
}

/** What the division says where rows were not as they were taken to be. */
const division_by_zero = "22012";
export const stale_guess = division_by_zero;

/** A part that returns a row for each that it wrote: fewer than these, and everything fails with `stale_guess`. */
export interface Part extends Statement {
  readonly count?: number;
}

const texts = new Map<string, string>();

/** Parts that have no order among them. */
export function combine(parts: readonly Part[]): readonly Statement[] {
  if (parts.length === 0) return [];
  const sql = textOf(parts);
  if (sql === null) return parts.flatMap((part) => combine([part]));
  const counts = parts.flatMap(({ count }) => count ?? []);
  return [{ sql, parameters: [...parts.flatMap(({ parameters }) => parameters), ...counts] }];
}

/** Null: there are too many already. */
function textOf(parts: readonly Part[]): string | null {
  const name = parts.map(({ sql, count }) => `${count !== undefined} ${sql}`).join(";");
  const known = texts.get(name);
  if (known !== undefined) return known;
  if (parts.length > 1 && texts.size >= most_combinations) return null;
  const made = combinedText(parts);
  texts.set(name, made);
  return made;
}

function combinedText(parts: readonly Part[]): string {
  let before = 0;
  const members = parts.map(({ sql, parameters }, nth) => {
    const shifted = sql.replaceAll(/\$(\d+)/g, (_, place: string) => `$${Number(place) + before}`);
    before += parameters.length;
    return `part_${nth} AS (${shifted})`;
  });
  const counted = parts.flatMap(({ count }, nth) => (count === undefined ? [] : nth));
  const are_all = counted.map((nth, index) => `(SELECT count(*) FROM part_${nth}) = $${before + index + 1}::bigint`);
  const check = counted.length === 0 ? "1" : `1 / (CASE WHEN ${are_all.join(" AND ")} THEN 1 ELSE 0 END)`;
  return `WITH ${members.join(",\n")}\nSELECT ${check} AS done`;
}
