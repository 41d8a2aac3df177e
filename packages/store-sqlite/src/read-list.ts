/**
 * Lists of handoffs. The narrowest index that the query allows gives positions in order; all of the query's conditions
 * are then checked on the rows. The choice is written out, not left to SQLite's planner, which has no statistics here.
 */

import type { ListQuery } from "@handfast/engine";
import type { Connection } from "./connection.ts";
import { number } from "./connection.ts";
import { type HandoffText, handoffText } from "./row.ts";
import { type Parameters, positionAt, type Steps, scan } from "./scan.ts";
import { readHead } from "./sql/event.ts";

export interface TextPage {
  readonly handoffs: readonly HandoffText[];
  readonly after: string | null;
}

const acceptedAtOrAfter = "SELECT accepted_at AS at FROM handoffs WHERE pos >= ? ORDER BY pos LIMIT 1";

export function* readList(connection: Connection, query: ListQuery): Steps<TextPage> {
  if (query.question_to?.length === 0) return { handoffs: [], after: null };
  const newest = query.order === "newest";
  const bounds = boundsOf(connection, query);
  const after = query.after === undefined ? (newest ? bounds.high : bounds.low) : cursor(query.after);
  const rows = yield* scan(connection, {
    sql: listSql(query),
    parameters: parametersOf(query),
    after: newest ? Math.min(after, bounds.high) : Math.max(after, bounds.low),
    end: newest ? bounds.low : bounds.high,
    limit: query.limit + 1,
  });
  const page = rows.slice(0, query.limit);
  const last = page.at(-1);
  return {
    handoffs: page.map(handoffText),
    after: rows.length > query.limit && last !== undefined ? String(number(last, "pos")) : null,
  };
}

/** Exclusive bounds on the position. */
function boundsOf(connection: Connection, query: ListQuery): { low: number; high: number } {
  const head = number(connection.get(readHead), "head");
  const at = (time: number) => positionAt(connection, acceptedAtOrAfter, time, head);
  return {
    low: query.accepted_from === undefined ? 0 : at(query.accepted_from) - 1,
    high: query.accepted_until === undefined ? head + 1 : at(query.accepted_until + 1),
  };
}

function cursor(after: string): number {
  const position = Number(after);
  if (!Number.isSafeInteger(position)) throw new RangeError(`not a cursor of this list: ${after}`);
  return position;
}

export function listSql(query: ListQuery): string {
  const newest = query.order === "newest";
  const range = newest ? "pos < :after AND pos > :end" : "pos > :after AND pos < :end";
  const order = newest ? "ORDER BY pos DESC" : "ORDER BY pos";
  const sources = sourcesOf(query).map((source) => `SELECT pos FROM ${source} AND ${range}`);
  const matches = conditionsOf(query).join(" AND ");
  return `
    WITH picked (pos) AS (${sources.join(" UNION ")} ${order} LIMIT :rows)
    SELECT pos,
      CASE WHEN ${matches} THEN json END AS json,
      CASE WHEN ${matches} THEN (SELECT accepted.json FROM accepted WHERE accepted.handoff = pos) END AS accepted
    FROM picked JOIN handoffs USING (pos) ${order}`;
}

const endedBadly = "state IN ('failed', 'rejected', 'canceled', 'expired')";
const openStates: ReadonlySet<string> = new Set(["queued", "delivered", "working", "waiting"]);

/** Where to look, narrowest first. Several sources are merged in order, each position once. */
function sourcesOf(query: ListQuery): readonly string[] {
  const by = (index: string, condition: string) =>
    `handoffs INDEXED BY handoffs_${index} WHERE namespace = :namespace AND ${condition}`;
  const { question_to, dead_letter, label, state } = query;
  if (question_to !== undefined) return question_to.map((_, nth) => by("question", `question_to = :question_${nth}`));
  if (query.untaken !== undefined && query.from !== undefined) return [by("untaken", "sender = :from AND untaken = 1")];
  if (dead_letter === "any") {
    return ["open", "redriven", "discarded"].map((status) => by("dead_letter", `dead_letter = '${status}'`));
  }
  if (dead_letter !== undefined) return [by("dead_letter", "dead_letter = :dead_letter")];
  if (label !== undefined) {
    return [
      "(SELECT namespace, key, value, handoff AS pos FROM labels) WHERE namespace = :namespace AND key = :label_key AND value = :label_value",
    ];
  }
  if (query.causation_id !== undefined) return [by("causation", "causation_id = :causation_id")];
  if (query.correlation_id !== undefined) {
    return [by("correlation", "correlation_id = :correlation_id"), by("id", "id = :correlation_id")];
  }
  if (query.conversation_id !== undefined) return [by("conversation", "conversation_id = :conversation_id")];
  if (query.code !== undefined && query.code !== 200) return [by("code", "code = :code AND code <> 200")];
  if (state !== undefined && openStates.has(state)) return [by("open", "open = 1")];
  if (state !== undefined && state !== "completed") return [by("ended_badly", `state = :state AND ${endedBadly}`)];
  if (query.to !== undefined) return [by("addressee", "addressee = :to")];
  if (query.party !== undefined) {
    return [
      by("sender", "sender = :party"),
      by("addressee", "addressee = :party"),
      by("last_agent", "last_agent = :party"),
    ];
  }
  if (query.capability !== undefined) return [by("capability", "capability = :capability")];
  if (query.from !== undefined) return [by("sender", "sender = :from")];
  // Few rows of the default namespace lie between others; of another one many may.
  return query.namespace === "default"
    ? ["handoffs NOT INDEXED WHERE true"]
    : [by("elsewhere", "namespace <> 'default'")];
}

/** Everything the query asks of a row. */
function conditionsOf(query: ListQuery): readonly string[] {
  const conditions = ["namespace = :namespace"];
  const ask = (asked: unknown, condition: string) => {
    if (asked !== undefined) conditions.push(condition);
  };
  ask(query.from, "sender = :from");
  ask(query.party, "(sender = :party OR addressee IS :party OR last_agent IS :party)");
  ask(query.state, "state = :state");
  ask(query.capability, "capability IS :capability");
  ask(query.to, "addressee IS :to");
  ask(query.correlation_id, "coalesce(correlation_id, id) = :correlation_id");
  ask(query.causation_id, "causation_id IS :causation_id");
  ask(query.conversation_id, "conversation_id IS :conversation_id");
  ask(
    query.label,
    "EXISTS (SELECT 1 FROM labels WHERE labels.namespace = :namespace AND key = :label_key AND value = :label_value AND labels.handoff = pos)",
  );
  ask(query.untaken, "untaken = 1");
  ask(query.dead_letter, query.dead_letter === "any" ? "dead_letter IS NOT NULL" : "dead_letter IS :dead_letter");
  ask(query.question_to, `question_to IN (${query.question_to?.map((_, nth) => `:question_${nth}`).join(", ")})`);
  ask(query.accepted_from, "accepted_at >= :accepted_from");
  ask(query.accepted_until, "accepted_at <= :accepted_until");
  ask(query.code, "code IS :code");
  return conditions;
}

function parametersOf(query: ListQuery): Parameters {
  const parameters: Parameters = { namespace: query.namespace };
  const { label, question_to, dead_letter } = query;
  const named = [
    "from",
    "party",
    "state",
    "capability",
    "to",
    "correlation_id",
    "causation_id",
    "conversation_id",
  ] as const;
  for (const name of named) {
    const value = query[name];
    if (value !== undefined) parameters[name] = value;
  }
  for (const name of ["accepted_from", "accepted_until", "code"] as const) {
    const value = query[name];
    if (value !== undefined) parameters[name] = value;
  }
  if (dead_letter !== undefined && dead_letter !== "any") Object.assign(parameters, { dead_letter });
  if (label !== undefined) Object.assign(parameters, { label_key: label.key, label_value: label.value });
  for (const [nth, to] of (question_to ?? []).entries()) parameters[`question_${nth}`] = to;
  return parameters;
}
