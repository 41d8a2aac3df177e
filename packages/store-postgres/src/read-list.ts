/**
 * Lists of handoffs. The narrowest index that the query allows gives numbers in order; all of the query's conditions are then
 * checked on the rows, a bounded number at a time. The choice is written out, as in the SQLite store: the planner
 * would have to guess how rare a value is.
 */

import type { ListQuery, Page } from "@handfast/engine";
import type { Parameter, Reads } from "./connection.ts";
import { clock_slack_ms, scan_rows } from "./limits.ts";
import { handoffOf } from "./read-one.ts";
import { number, numberOrNull, type Row, truth } from "./rows.ts";
import { type FacetKind, labelOf } from "./standing.ts";

export async function readList(reads: Reads, query: ListQuery): Promise<Page> {
  if (query.question_to?.length === 0) return { handoffs: [], after: null };
  const rows = await scan(reads, query, query.limit + 1);
  const page = rows.slice(0, query.limit);
  const last = page.at(-1);
  return {
    handoffs: page.map(handoffOf),
    after: rows.length > query.limit && last !== undefined ? String(number(last, "num")) : null,
  };
}

async function scan(reads: Reads, query: ListQuery, limit: number): Promise<readonly Row[]> {
  const newest = query.order === "newest";
  const bounds = await boundsOf(reads, query);
  const found: Row[] = [];
  let after = startOf(query, bounds);
  for (let rows = limit; ; rows = Math.min(rows * 4, Math.max(scan_rows, limit))) {
    const parameters: Parameter[] = [];
    const range = { after, end: newest ? bounds.low : bounds.high, rows };
    const looked = await reads.askOnce(listSql(query, range, parameters), ...parameters);
    for (const row of looked) {
      if (truth(row, "fits")) found.push(row);
      if (found.length === limit) return found;
    }
    if (looked.length < rows) return found;
    after = number(looked.at(-1), "num");
  }
}

interface Bounds {
  readonly low: number;
  readonly high: number;
}

/** Exclusive bounds on the number. Numbers follow times but for what clocks differ. */
async function boundsOf(reads: Reads, { accepted_from, accepted_until }: ListQuery): Promise<Bounds> {
  const none = { low: 0, high: Number.MAX_SAFE_INTEGER };
  if (accepted_from === undefined && accepted_until === undefined) return none;
  const [row] = await reads.ask(
    `SELECT
       (SELECT num FROM handfast.accepted WHERE accepted_at >= $1 ORDER BY accepted_at LIMIT 1) AS low,
       (SELECT num FROM handfast.accepted WHERE accepted_at <= $2 ORDER BY accepted_at DESC LIMIT 1) AS high`,
    (accepted_from ?? 0) - clock_slack_ms,
    (accepted_until ?? Number.MAX_SAFE_INTEGER - clock_slack_ms) + clock_slack_ms,
  );
  const low = row === undefined ? null : numberOrNull(row, "low");
  const high = row === undefined ? null : numberOrNull(row, "high");
  return {
    low: accepted_from === undefined || low === null ? none.low : low - 1,
    high: accepted_until === undefined || high === null ? none.high : high + 1,
  };
}

function startOf({ after, order }: ListQuery, { low, high }: Bounds): number {
  const newest = order === "newest";
  if (after === undefined) return newest ? high : low;
  const cursor = Number(after);
  if (!Number.isSafeInteger(cursor)) throw new RangeError(`not a cursor of this list: ${after}`);
  return newest ? Math.min(cursor, high) : Math.max(cursor, low);
}

type Put = (value: Parameter) => string;

function listSql(
  query: ListQuery,
  range: { readonly after: number; readonly end: number; readonly rows: number },
  parameters: Parameter[],
): string {
  const put: Put = (value) => `$${parameters.push(value)}`;
  const newest = query.order === "newest";
  const [after, end, rows] = [`${put(range.after)}::bigint`, `${put(range.end)}::bigint`, put(range.rows)];
  const within = newest ? `num < ${after} AND num > ${end}` : `num > ${after} AND num < ${end}`;
  const order = newest ? "ORDER BY num DESC" : "ORDER BY num";
  const sources = sourcesOf(query, put).map((from) => `(SELECT num FROM ${from} AND ${within} ${order} LIMIT ${rows})`);
  const fits = conditionsOf(query, put).join(" AND ");
  return `
    WITH picked (num) AS (SELECT num FROM (${sources.join(" UNION ")}) AS merged ${order} LIMIT ${rows})
    SELECT num, ${fits} AS fits, handoff.json, accepted.json AS accepted
    FROM picked JOIN handfast.accepted USING (num) JOIN handfast.handoff USING (num) ${order}`;
}

const openStates: ReadonlySet<string> = new Set(["queued", "delivered", "working", "waiting"]);

/** As its index spells it (schema 8). */
const sender = "(sender || '')";

/** Where to look, narrowest first. Several sources are merged in order, each number once. */
function sourcesOf(query: ListQuery, put: Put): readonly string[] {
  const namespace = put(query.namespace);
  const facet = (kind: FacetKind, value: string) =>
    `handfast.facet WHERE namespace = ${namespace} AND kind = '${kind}' AND value = ${put(value)}`;
  const by = (column: string, value: string) =>
    `handfast.accepted WHERE namespace = ${namespace} AND ${column} = ${put(value)}`;
  const { question_to, dead_letter, label, state } = query;
  if (question_to !== undefined) return question_to.map((to) => facet("question_to", to));
  if (query.untaken !== undefined && query.from !== undefined) return [facet("untaken", query.from)];
  if (dead_letter === "any") {
    return ["open", "redriven", "discarded"].map((status) => facet("dead_letter", status));
  }
  if (dead_letter !== undefined) return [facet("dead_letter", dead_letter)];
  if (label !== undefined) return [facet("label", labelOf(label.key, label.value))];
  if (query.causation_id !== undefined) return [by("causation_id", query.causation_id)];
  if (query.correlation_id !== undefined) {
    return [by("correlation_id", query.correlation_id), by("id", query.correlation_id)];
  }
  if (query.conversation_id !== undefined) return [by("conversation_id", query.conversation_id)];
  if (query.code !== undefined && query.code !== 200) return [facet("code", String(query.code))];
  if (state !== undefined && openStates.has(state)) return [facet("open", "")];
  if (state !== undefined && state !== "completed") return [facet("state", state)];
  if (query.to !== undefined) return [by("addressee", query.to)];
  if (query.party !== undefined) {
    return [by(sender, query.party), by("addressee", query.party), facet("party", query.party)];
  }
  if (query.capability !== undefined) return [by("capability", query.capability)];
  if (query.from !== undefined) return [by(sender, query.from)];
  // Few rows of the default namespace lie between others; of another one many may.
  return query.namespace === "default"
    ? [`handfast.accepted WHERE ${namespace} = 'default'`]
    : [`handfast.accepted WHERE namespace = ${namespace} AND namespace <> 'default'`];
}

/** Everything the query asks of a row. */
function conditionsOf(query: ListQuery, put: Put): readonly string[] {
  const conditions = [`accepted.namespace = ${put(query.namespace)}`];
  const ask = (asked: string | number | undefined, condition: (value: string) => string) => {
    if (asked !== undefined) conditions.push(condition(put(asked)));
  };
  ask(query.from, (value) => `sender = ${value}`);
  ask(query.party, (value) => `${value} IN (sender, coalesce(addressee, ''), coalesce(last_agent, ''))`);
  ask(query.state, (value) => `state = ${value}`);
  ask(query.capability, (value) => `coalesce(capability = ${value}, false)`);
  ask(query.to, (value) => `coalesce(addressee = ${value}, false)`);
  ask(query.correlation_id, (value) => `coalesce(correlation_id, id) = ${value}`);
  ask(query.causation_id, (value) => `coalesce(causation_id = ${value}, false)`);
  ask(query.conversation_id, (value) => `coalesce(conversation_id = ${value}, false)`);
  if (query.untaken !== undefined) conditions.push("untaken");
  if (query.dead_letter === "any") conditions.push("dead_letter IS NOT NULL");
  else ask(query.dead_letter, (value) => `coalesce(dead_letter = ${value}, false)`);
  if (query.question_to !== undefined) {
    conditions.push(`coalesce(question_to IN (${query.question_to.map(put).join(", ")}), false)`);
  }
  if (query.label !== undefined) {
    const value = put(labelOf(query.label.key, query.label.value));
    conditions.push(`EXISTS (SELECT 1 FROM handfast.facet WHERE facet.namespace = accepted.namespace
      AND kind = 'label' AND value = ${value} AND facet.num = accepted.num)`);
  }
  ask(query.accepted_from, (value) => `accepted_at >= ${value}`);
  ask(query.accepted_until, (value) => `accepted_at <= ${value}`);
  ask(query.code, (value) => `coalesce(code = ${value}, false)`);
  return conditions;
}
