/**
 * Several writes as one statement: what the server and the client do around each of them costs more than the write. Each is a part of
 * a `WITH`; all see the tables as they were before, so parts of one statement never depend on each other. What must come after them is
 * the call of a function in the `SELECT`, which has to know their counts first.
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

/** Where the statement that comes last says what must be done before it. */
export const done_here = ":done";

const texts = new Map<string, string>();

/** Parts that have no order among them, and what comes after all of them: a call whose first argument they are done by. */
export function combine(parts: readonly Part[], last: Statement | null): readonly Statement[] {
  if (parts.length === 0 && last === null) return [];
  const sql = textOf(parts, last);
  if (sql === null) return [...parts.flatMap((part) => combine([part], null)), ...combine([], last)];
  const counts = parts.flatMap(({ count }) => count ?? []);
  const given = parts.flatMap(({ parameters }) => parameters);
  return [{ sql, parameters: [...given, ...counts, ...(last?.parameters ?? [])] }];
}

/** Null: there are too many already. */
function textOf(parts: readonly Part[], last: Statement | null): string | null {
  const name = parts.map(({ sql, count }) => `${count !== undefined} ${sql}`).join(";") + (last?.sql ?? "");
  const known = texts.get(name);
  if (known !== undefined) return known;
  if (parts.length > 1 && texts.size >= most_combinations) return null;
  const made = combinedText(parts, last);
  texts.set(name, made);
  return made;
}

function combinedText(parts: readonly Part[], last: Statement | null): string {
  let before = 0;
  const after = (sql: string, parameters: number) => {
    const shifted = sql.replaceAll(/\$(\d+)/g, (_, place: string) => `$${Number(place) + before}`);
    before += parameters;
    return shifted;
  };
  const members = parts.map(({ sql, parameters, count }, nth) => {
    const written = count === undefined ? `${sql} RETURNING 1` : sql;
    return `part_${nth} AS (${after(written, parameters.length)})`;
  });
  // What is counted has been done: the server leaves parts that nobody asks for to the end.
  const are_done = parts.map(({ count }, nth) => {
    const rows = `(SELECT count(*) FROM part_${nth})`;
    return count === undefined ? `${rows} >= 0` : `${rows} = ${after("$1", 1)}::bigint`;
  });
  const done = parts.length === 0 ? "1" : `1 / (CASE WHEN ${are_done.join(" AND ")} THEN 1 ELSE 0 END)`;
  const told = last === null ? done : after(last.sql, last.parameters.length).replace(done_here, done);
  return `${members.length === 0 ? "" : `WITH ${members.join(",\n")}\n`}SELECT ${told} AS told`;
}
