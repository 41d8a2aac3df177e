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

/** One part whose rows are counted: fewer than these, and everything fails with `stale_guess`. */
export interface Counted extends Statement {
  readonly count: number;
}

const texts = new Map<string, string>();

/** Parts that have no order among them; `counted` returns a row for each that it wrote. */
export function combine(parts: readonly Statement[], counted: Counted | null): readonly Statement[] {
  if (parts.length === 0 && counted === null) return [];
  const all = counted === null ? parts : [counted, ...parts];
  const parameters = all.flatMap(({ parameters }) => parameters);
  const sql = textOf(all, counted !== null);
  if (sql === null) return [...(counted === null ? [] : combine([], counted)), ...parts];
  return [{ sql, parameters: counted === null ? parameters : [...parameters, counted.count] }];
}

/** Null: there are too many already. */
function textOf(parts: readonly Statement[], is_counted: boolean): string | null {
  const name = `${is_counted} ${parts.map(({ sql }) => sql).join(";")}`;
  const known = texts.get(name);
  if (known !== undefined) return known;
  if (parts.length > 1 && texts.size >= most_combinations) return null;
  const made = combinedText(parts, is_counted);
  texts.set(name, made);
  return made;
}

function combinedText(parts: readonly Statement[], is_counted: boolean): string {
  let before = 0;
  const members = parts.map(({ sql, parameters }, nth) => {
    const shifted = sql.replaceAll(/\$(\d+)/g, (_, place: string) => `$${Number(place) + before}`);
    before += parameters.length;
    return `part_${nth} AS (${shifted})`;
  });
  const check = is_counted
    ? `1 / (CASE WHEN (SELECT count(*) FROM part_0) = $${before + 1}::bigint THEN 1 ELSE 0 END)`
    : "1";
  return `WITH ${members.join(",\n")}\nSELECT ${check} AS done`;
}
