/**
 * What transactions of others have posted, taken some at a time. A row is locked until it is known what became of it; when a node
 * dies, its lock goes with its connection, and another node takes the row. So a row may be taken twice, and whoever takes it must
 * answer the second time as the first: its id is the handoff's.
 */

import type { WritingConnection } from "./connection.ts";
import { explain } from "./errors.ts";
import { inTime } from "./in-time.ts";
import { type Place, placeOf } from "./place.ts";
import { connectToPrimary } from "./primary.ts";
import { number, type Row, text, textOrNull, truth } from "./rows.ts";
import { beginTaking, dropPosted, findPassing, isAnyPosted, leaveAlone, putOff, takePosted } from "./sql/outbox.ts";

/** One handoff as it was posted. */
export interface Posted {
  readonly namespace: string;
  readonly id: string;
  /** Whom the role that posted it speaks for. */
  readonly agent: string;
  /** Null: an agent is named in the options. */
  readonly capability: string | null;
  /** JSON. */
  readonly input: string;
  /** JSON of an object. */
  readonly options: string;
  /** Of the options: those of one agent that have the same are handed over in order. */
  readonly ordering_key: string | null;
  /** How often it was put off. */
  readonly tries: number;
  readonly waited_ms: number;
}

/** What became of one: it is a handoff by now; it is left as it was; it is to be looked at again later; nothing can be made of it. */
export type Fate =
  | { readonly kind: "done" }
  | { readonly kind: "left" }
  | { readonly kind: "later"; readonly in_ms: number }
  | { readonly kind: "trouble"; readonly why: string };

export class PostgresOutbox {
  readonly #place: Place;
  #connection: WritingConnection | null = null;

  constructor(url: string) {
    this.#place = placeOf(url);
  }

  /** Takes at most `limit`, in the order they were posted, and answers how many there were. One call at a time. */
  async take(limit: number, judge: (posted: readonly Posted[]) => Promise<readonly Fate[]>): Promise<number> {
    try {
      this.#connection ??= (await connectToPrimary(this.#place, 0)).writer;
      return await this.#take(this.#connection, limit, judge);
    } catch (error) {
      await this.close();
      throw explain(error, this.#place.shown);
    }
  }

  async #take(
    connection: WritingConnection,
    limit: number,
    judge: (posted: readonly Posted[]) => Promise<readonly Fate[]>,
  ): Promise<number> {
    const ask = (sql: string, ...parameters: readonly (string | number)[]) =>
      inTime(connection.ask(sql, ...parameters));
    const [look] = await ask(isAnyPosted);
    if (!truth(look, "any")) return 0;
    await ask(beginTaking);
    const taken = await ask(takePosted, limit);
    const rows = taken.some((row) => textOrNull(row, "ordering_key") !== null)
      ? without(taken, await ask(findPassing, list(taken.map(numOf))))
      : taken;
    const fates = rows.length === 0 ? [] : await judge(rows.map(postedOf));
    const done: number[] = [];
    for (const [index, row] of rows.entries()) {
      const num = numOf(row);
      const fate = fates[index];
      if (fate?.kind === "done") done.push(num);
      else if (fate?.kind === "later") await ask(putOff, num, fate.in_ms);
      else if (fate?.kind === "trouble") await ask(leaveAlone, num, fate.why);
    }
    if (done.length > 0) await ask(dropPosted, list(done));
    await ask("COMMIT");
    // Where all of them have passed others, whoever has those is not asked again and again.
    return rows.length === 0 ? 0 : taken.length;
  }

  /** What was being taken is left as it was. */
  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = null;
    await connection?.cut();
  }
}

function without(rows: readonly Row[], others: readonly Row[]): readonly Row[] {
  const nums = new Set(others.map(numOf));
  return rows.filter((row) => !nums.has(numOf(row)));
}

function numOf(row: Row): number {
  return number(row, "num");
}

function list(nums: readonly number[]): string {
  return `{${nums.join(",")}}`;
}

function postedOf(row: Row): Posted {
  return {
    namespace: text(row, "namespace"),
    id: text(row, "id"),
    agent: text(row, "agent"),
    capability: textOrNull(row, "capability"),
    input: text(row, "input"),
    options: text(row, "options"),
    ordering_key: textOrNull(row, "ordering_key"),
    tries: number(row, "tries"),
    waited_ms: number(row, "waited_ms"),
  };
}
